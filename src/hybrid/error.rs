//! Errors of the host engine.

use serde::{Deserialize, Serialize};

use crate::ErrorKind;
use crate::gpu::GpuError;
use crate::pdes::SimulationError;
use crate::text::cut;
use crate::time::Ticks;

/// A violation by an entity. It does not depend on threads and ranks: of the faults of a window, a
/// run ends with the fault of the entity with the smallest name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Fault {
    /// The entity's name.
    pub entity: u32,
    /// The time of the event that it handled.
    pub time: Ticks,
    /// The violated rule.
    pub kind: FaultKind,
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "entity {}, at time {}: {}", self.entity, self.time, self.kind)
    }
}

/// The rule that an entity violated.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, thiserror::Error)]
#[non_exhaustive]
pub enum FaultKind {
    /// It sent itself a message for the past.
    #[error(
        "it sent itself a message for {at}, which is in the past. Choose the current time or a later one"
    )]
    Past {
        /// The time of the message.
        at: Ticks,
    },
    /// It sent a message that arrives before the lookahead.
    #[error(
        "it sent entity {to} a message for {at}, and with the lookahead the first possible time is {least}. Send it later, or run with a \
         shorter lookahead"
    )]
    Lookahead {
        /// The destination.
        to: u32,
        /// The time of the message.
        at: Ticks,
        /// The earliest allowed time.
        least: Ticks,
    },
    /// It sent a message to an entity that does not exist.
    #[error("it sent a message to entity {to}, and there are {entities} entities, numbered from 0")]
    Destination {
        /// The destination.
        to: u32,
        /// The number of entities.
        entities: u32,
    },
    /// It sent a message for a time beyond the last tick.
    #[error(
        "it sent entity {to} a message for a time beyond the last tick. Do not send a message that never arrives, or choose fewer ticks per unit"
    )]
    Never {
        /// The destination.
        to: u32,
    },
    /// It executed more than a million events or answers without advancing its time.
    #[error(
        "it executed {events} events of its own, or answers to its calls, and its time did not advance: it sends itself messages, or calls \
         handlers, without end"
    )]
    Stuck {
        /// The number of events or answers.
        events: u32,
    },
    /// A handler or process panicked. The state of the entity is no longer valid.
    #[error("its code panicked: {message}")]
    Panic {
        /// The panic's message.
        message: String,
    },
    /// [`Context::fail`](super::Context::fail).
    #[error("{reason}")]
    Failed {
        /// The reason.
        reason: String,
    },
    /// It spawned a process with the name of a living one.
    #[error("a process named `{name}` lives at this entity. End it first, or choose another name")]
    ProcessName {
        /// The name.
        name: String,
    },
    /// It attached a service with the name of an attached one.
    #[error("a service named `{name}` is attached to this entity. Detach it first, or choose another name")]
    ServiceName {
        /// The name.
        name: String,
    },
    /// A process awaits a future that is not the engine's, or two futures at once.
    #[error(
        "a process awaits a future that the engine does not know, and would never be woken. Await only the functions of \
         hybrid::Process, one at a time"
    )]
    Foreign,
}

/// An error of the `hybrid` module. After an error of a run, the simulation can be read but not
/// run.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum HybridError {
    /// No entities.
    #[error("a simulation needs at least 1 entity")]
    NoEntities,
    /// A rule that an entity violated.
    #[error("{0}")]
    Fault(Fault),
    /// Time does not advance between entities.
    #[error(
        "entities sent each other messages for the time {time} for {rounds} rounds, and time does not advance. Give some messages a delay"
    )]
    Cycle {
        /// The time.
        time: Ticks,
        /// The rounds.
        rounds: u32,
    },
    /// The host is out of memory.
    #[error("{what}: {bytes} bytes do not fit the host's memory. Use a smaller model, or more ranks")]
    HostMemory {
        /// The data that does not fit.
        what: &'static str,
        /// Its size in bytes.
        bytes: u64,
    },
    /// A map of entities to ranks names a rank that does not exist.
    #[error("the map places entity {entity} on rank {rank}, and there are {ranks} ranks, numbered from 0")]
    Map {
        /// The entity.
        entity: u32,
        /// The rank in the map.
        rank: u32,
        /// The number of ranks.
        ranks: u32,
    },
    /// The ranks do not run the same simulation.
    #[error(
        "rank {rank} runs another simulation than rank 0: they differ in {what}. Use the same on all ranks"
    )]
    Differs {
        /// The rank.
        rank: u32,
        /// The difference.
        what: &'static str,
    },
    /// An invalid number of threads.
    #[error("{threads} threads: {reason}")]
    Threads {
        /// The requested number.
        threads: usize,
        /// The reason.
        reason: String,
    },
    /// Streams or groups of calls that are invalid, or that the system refused.
    #[error("{streams} streams with groups of {calls} calls: {reason}")]
    Streams {
        /// The requested number of streams.
        streams: usize,
        /// The requested number of calls in a group.
        calls: usize,
        /// The reason.
        reason: String,
    },
    /// Another rank failed, and reported its error.
    #[error("rank {rank} failed, so all ranks end: {message}")]
    Rank {
        /// The rank.
        rank: u32,
        /// Its error.
        message: String,
    },
    /// The first rank could not write the last file of the run. The run has reached its end, and
    /// can be read and continued.
    #[error("rank 0 could not save the run: see its error. The run itself is unaffected")]
    Unsaved,
    /// Another rank is gone without a report: it ended, panicked, or was killed.
    #[error("rank {rank} is gone: it ended before the simulation did. See its output, and start again")]
    Gone {
        /// The rank.
        rank: u32,
    },
    /// Another rank does not respond.
    #[error(
        "rank {rank} did not answer within {seconds} s. It may hang, or have much more to do than the others: place the entities \
         differently, or wait longer"
    )]
    Silent {
        /// The rank.
        rank: u32,
        /// The waiting time.
        seconds: u64,
    },
    /// A message for another rank cannot be serialized.
    #[error(
        "a message for another rank cannot be serialized: its `Serialize` fails ({reason}). A derived one works with `postcard`"
    )]
    Unwritten {
        /// The reason.
        reason: String,
    },
    /// A message of another rank cannot be read.
    #[error("a message of rank {rank} cannot be read: {reason}. Run the same program on all ranks")]
    Garbled {
        /// The rank.
        rank: u32,
        /// The reason.
        reason: String,
    },
    /// A handler's WGSL does not match its Rust types, or its code failed.
    #[error("the handler {handler}: {what}")]
    Handler {
        /// The handler's name.
        handler: String,
        /// The problem.
        what: String,
    },
    /// The driver ended the loops of a handler early.
    #[error(
        "the handler {handler}: the driver ended a loop early, after about 65,535 iterations of one invocation. Make calls shorter, or run them on \
         the CPU"
    )]
    Cut {
        /// The handler's name.
        handler: String,
    },
    /// A run after one that failed.
    #[error("the simulation failed before and cannot continue: create a new one")]
    Over,
    /// An error or a fault of the GPU engine ([`GpuPart`](super::GpuPart)).
    #[error(transparent)]
    Simulation(SimulationError),
    /// The device failed or refused.
    #[error(transparent)]
    Gpu(#[from] GpuError),
}

crate::text::debug_is_display!(HybridError);

impl HybridError {
    /// What kind of error it is. What failed on another rank arrives as its words alone, and is
    /// [`ErrorKind::Fault`].
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Simulation(error) => error.kind(),
            Self::Gpu(error) => error.kind(),
            Self::Unwritten { .. } | Self::Handler { .. } => ErrorKind::Model,
            Self::NoEntities
            | Self::HostMemory { .. }
            | Self::Map { .. }
            | Self::Differs { .. }
            | Self::Threads { .. }
            | Self::Streams { .. }
            | Self::Over => ErrorKind::Usage,
            Self::Fault(_) | Self::Cycle { .. } | Self::Rank { .. } | Self::Cut { .. } => ErrorKind::Fault,
            Self::Unsaved | Self::Gone { .. } | Self::Silent { .. } | Self::Garbled { .. } => ErrorKind::Io,
        }
    }
}

impl From<SimulationError> for HybridError {
    fn from(error: SimulationError) -> Self {
        match error {
            SimulationError::Gpu(error) => Self::Gpu(error),
            other => Self::Simulation(other),
        }
    }
}

impl From<crate::gpu::LinkError> for HybridError {
    fn from(error: crate::gpu::LinkError) -> Self {
        Self::Gpu(error.into())
    }
}

/// A list that cannot grow.
#[derive(Debug, Clone, Copy)]
pub(super) struct Full {
    pub(super) bytes: u64,
}

impl From<Full> for HybridError {
    fn from(full: Full) -> Self {
        Self::HostMemory { what: "pending events", bytes: full.bytes }
    }
}

/// The message of a panic.
pub(super) fn panic_message(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    cut(text.unwrap_or("a message that is not text"), 1000)
}
