//! What can go wrong in the host engine.

use serde::{Deserialize, Serialize};

use crate::ErrorKind;
use crate::gpu::GpuError;
use crate::pdes::{SimulationError, device_kind};
use crate::text::cut;
use crate::time::Ticks;

/// What entities did that they must not. Whatever the threads and ranks, a run ends with the same
/// one: of a window's faults, that of the entity with the smallest name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Fault {
    /// The entity's name.
    pub entity: u32,
    /// The time of the event that it was handling.
    pub time: Ticks,
    /// What it did.
    pub kind: FaultKind,
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "entity {}, at time {}: {}", self.entity, self.time, self.kind)
    }
}

/// The rule that an entity broke.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, thiserror::Error)]
#[non_exhaustive]
pub enum FaultKind {
    /// It sent itself a message for the past.
    #[error("it sent itself a message for {at}, which is past. Choose a time from now on")]
    Past {
        /// When it was to arrive.
        at: Ticks,
    },
    /// It sent a message that arrives before the lookahead.
    #[error(
        "it sent entity {to} a message for {at}, and with the lookahead the first possible time is {least}. Send it later, or run with a \
         shorter lookahead"
    )]
    Lookahead {
        /// To whom.
        to: u32,
        /// When it was to arrive.
        at: Ticks,
        /// When it might arrive.
        least: Ticks,
    },
    /// It sent a message to nobody.
    #[error("it sent a message to entity {to}, and there are {entities}, numbered from 0")]
    Destination {
        /// The name that there is not.
        to: u32,
        /// The entities.
        entities: u32,
    },
    /// It sent a message for a time beyond the last tick.
    #[error(
        "it sent entity {to} a message for a time beyond the last tick. Do not send what never happens, or choose fewer ticks per unit"
    )]
    Never {
        /// To whom.
        to: u32,
    },
    /// It executed more than a million events or answers and the time did not move.
    #[error(
        "it executed {events} events of its own, or answers to its calls, and the time did not move: it sends itself messages, or calls \
         handlers, without end"
    )]
    Stuck {
        /// How many.
        events: u32,
    },
    /// A handler or process panicked. What the entity holds is of no use any more.
    #[error("its code panicked: {message}")]
    Panic {
        /// What the panic said.
        message: String,
    },
    /// [`Context::fail`](super::Context::fail).
    #[error("{reason}")]
    Failed {
        /// Its reason.
        reason: String,
    },
    /// A process waits for something that is not the engine's, or for two things at once.
    #[error(
        "a process waits for what the engine does not know, and would never be woken. Await nothing but the functions of \
         hybrid::Process, one at a time"
    )]
    Foreign,
}

/// An error of the `hybrid` module. After one that a run ended with, the simulation can be read but
/// not run.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum HybridError {
    /// No entities.
    #[error("a simulation needs at least 1 entity")]
    NoEntities,
    /// A rule that an entity broke.
    #[error("{0}")]
    Fault(Fault),
    /// Time stands still between entities.
    #[error(
        "entities sent each other messages for the time {time} for {rounds} rounds: time stands still. Let some messages take longer"
    )]
    Cycle {
        /// The time.
        time: Ticks,
        /// The rounds.
        rounds: u32,
    },
    /// The host has no memory left.
    #[error("{what}: {bytes} bytes do not fit the host's memory. Simulate less, or on more ranks")]
    HostMemory {
        /// What there is no room for.
        what: &'static str,
        /// How much that is.
        bytes: u64,
    },
    /// A map of entities to ranks names one that is not there.
    #[error("the map says that entity {entity} lies on rank {rank}, and there are {ranks}, numbered from 0")]
    Map {
        /// The entity.
        entity: u32,
        /// Where the map puts it.
        rank: u32,
        /// How many ranks there are.
        ranks: u32,
    },
    /// The ranks do not run the same simulation.
    #[error("rank {rank} runs another simulation than rank 0: {what}. All ranks must be given the same")]
    Differs {
        /// The rank.
        rank: u32,
        /// In what they differ.
        what: &'static str,
    },
    /// Threads were asked for that cannot be had.
    #[error("{threads} threads: {reason}")]
    Threads {
        /// How many.
        threads: usize,
        /// Why not.
        reason: String,
    },
    /// Another rank failed, and said why.
    #[error("rank {rank} failed, and all end with it: {message}")]
    Rank {
        /// The rank.
        rank: u32,
        /// Its error.
        message: String,
    },
    /// The first rank could not write the run's last file. The run is at its end all the same, and
    /// can be read and run on.
    #[error("rank 0 could not save the run, and its error says why. The run itself is sound")]
    Unsaved,
    /// Another rank is gone without a word: it ended, panicked, or was killed.
    #[error(
        "rank {rank} is gone: it ended before the simulation did. Look for what it said, and start again"
    )]
    Gone {
        /// The rank.
        rank: u32,
    },
    /// Another rank does not answer.
    #[error(
        "rank {rank} did not answer within {seconds} s. It may hang, or have much more to do than the others: spread the entities \
         otherwise, or wait longer"
    )]
    Silent {
        /// The rank.
        rank: u32,
        /// How long was waited.
        seconds: u64,
    },
    /// A message for another rank cannot be written.
    #[error(
        "a message for another rank cannot be written: its `Serialize` fails ({reason}). A derived one writes with `postcard`"
    )]
    Unwritten {
        /// Why not.
        reason: String,
    },
    /// What another rank sent cannot be read.
    #[error("what rank {rank} sent cannot be read: {reason}. Do all ranks run the same program?")]
    Garbled {
        /// The rank.
        rank: u32,
        /// Why not.
        reason: String,
    },
    /// A handler's WGSL and its Rust types are not the same.
    #[error("the handler {handler}: {what}")]
    Handler {
        /// Its name.
        handler: String,
        /// What is wrong with it.
        what: String,
    },
    /// The driver ended the loops of a handler.
    #[error(
        "the handler {handler}: the driver ends loops before their time, after 65,535 iterations of one invocation or so. Let a call do less, or let it run on \
         the CPU"
    )]
    Cut {
        /// Its name.
        handler: String,
    },
    /// A run was asked for after one that failed.
    #[error("the simulation failed before, and cannot go on: make a new one")]
    Over,
    /// The GPU engine refused, or found a fault ([`GpuPart`](super::GpuPart)).
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
            Self::Gpu(error) => device_kind(error),
            Self::Unwritten { .. } | Self::Handler { .. } => ErrorKind::Model,
            Self::NoEntities
            | Self::HostMemory { .. }
            | Self::Map { .. }
            | Self::Differs { .. }
            | Self::Threads { .. }
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

/// What a panic said.
pub(super) fn panic_message(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    cut(text.unwrap_or("something that is no text"), 1000)
}
