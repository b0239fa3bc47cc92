//! Errors of a simulation.

use crate::gpu::GpuError;
use crate::statistics::AnalysisError;
use crate::time::Ticks;

use super::checkpoint_error::CheckpointError;
use super::event::{Event, Payload};

/// An error of the `pdes` module.
///
/// A [`Fault`] ends the run for good: the events of the failed window are lost, and every later
/// call returns the same error. After a device error within a run, create a new simulation. The
/// other errors are reported before a run starts.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum SimulationError {
    /// The device failed, or WGSL did not link.
    #[error(transparent)]
    Gpu(#[from] GpuError),
    /// A model without LPs.
    #[error("the model has no LPs: it needs at least 1")]
    NoLps,
    /// A model with more LPs than 32-bit numbers.
    #[error("the model has {lps} LPs, and at most {max} can be numbered: choose fewer LPs")]
    TooManyLps {
        /// The number of LPs.
        lps: u32,
        /// The maximum.
        max: u32,
    },
    /// The LPs do not fit the host's memory, in the sequential engine.
    #[error(
        "{lps} LPs need {bytes} bytes in the sequential engine before they schedule anything, and this machine cannot allocate them: choose fewer LPs, or fewer rows of LP memory"
    )]
    HostMemory {
        /// LPs.
        lps: u32,
        /// Bytes of their states, memory and counts.
        bytes: u64,
    },
    /// A watcher stopped an experiment before a run of each point was complete.
    #[error(
        "it was stopped before a run was complete (of each point, if there are several), so there are no results. Let it run longer"
    )]
    Stopped,
    /// A calendar queue for a model without a lookahead, or with windows other than YAWNS.
    #[error(
        "a calendar queue is impossible here: its buckets are as long as the lookahead, so it needs a lookahead of at least 1 tick and `Sync::Yawns`. Choose \
         another queue design, or keep the default"
    )]
    Calendar,
    /// A synchronisation that needs the senders of each LP, such as
    /// [`Sync::Neighbours`](crate::pdes::Sync::Neighbours), for a model that does not support it.
    #[error(
        "the synchronisation `{sync}` {problem}. Meet this (see `pdes::Model`), or keep the default `Sync::Auto`"
    )]
    Senders {
        /// The chosen synchronisation.
        sync: super::sync::Sync,
        /// The requirement that is not met.
        problem: &'static str,
    },
    /// A run that cannot be split over devices this way.
    #[error("a run over several devices {problem}")]
    Parts {
        /// The requirement that is not met.
        problem: &'static str,
    },
    /// LPs that send each other events without end at one time: [`FaultKind::Cycle`].
    #[error(
        "{kind}: at {time}, {count} LPs hold events: {}{}. The run cannot continue",
        lps.iter().map(u32::to_string).collect::<Vec<_>>().join(", "),
        if *count > lps.len() { " and more" } else { "" },
        kind = fault.kind
    )]
    Cycle {
        /// The fault, at the first of the LPs.
        fault: Fault,
        /// The time that never advances.
        time: Ticks,
        /// The number of LPs that hold events at that time.
        count: usize,
        /// The first of those LPs.
        lps: Vec<u32>,
    },
    /// An experiment that cannot run, or results that cannot be analysed.
    #[error(transparent)]
    Analysis(#[from] AnalysisError),
    /// A point of a design for which no model could be built.
    #[error("{place}: {reason}")]
    Point {
        /// The point.
        place: String,
        /// The reason.
        reason: String,
    },
    /// Models of one experiment that are too different to run together.
    #[error("the points of an experiment have models with different {what}: run one experiment for each")]
    Points {
        /// The difference.
        what: &'static str,
    },
    /// Antithetic pairs of runs.
    #[error(
        "runs of simulation models cannot be paired antithetically: leave `Experiment::pairing` at `Independent`"
    )]
    Antithetic,
    /// An event-limited run that is mapped to threads.
    #[error(
        "`Mapping::Thread` has no windows, which an event-limited run needs to stop: choose `Mapping::Team`, or set a stop time"
    )]
    ThreadEvents,
    /// A mapping that a single run does not support.
    #[error(
        "`Mapping::{mapping:?}` is impossible for this run: {problem}. Keep the default, or choose `Mapping::Grid`"
    )]
    NoMapping {
        /// The chosen mapping.
        mapping: super::mapping::Mapping,
        /// What it lacks.
        problem: &'static str,
    },
    /// A queue design that a team does not support.
    #[error(
        "`Mapping::Team` has one invocation for each LP, so it supports no calendar and no queue served by several invocations: choose another design, or keep the default"
    )]
    TeamQueue,
    /// A synchronisation that a team does not support.
    #[error(
        "teams do not support the synchronisation `{sync}` here: they support the event horizon only for models with a lookahead whose pending events fit workgroup memory, \
         in runs with a stop time, the default queue and capacities that may grow, and per-LP bounds never. Choose `Sync::Yawns`, or keep the default"
    )]
    TeamSync {
        /// The chosen synchronisation.
        sync: super::sync::Sync,
    },
    /// Results of runs without a stop time.
    #[error(
        "results are computed at the stop time of a run, and these runs have none: set one (`Until::time`)"
    )]
    NoEnd,
    /// A single run is larger than the device can hold.
    #[error(
        "a run of {lps} LPs needs {needed} bytes of a buffer, and this device binds at most {limit} at once: use `Mapping::Grid`, or fewer LPs"
    )]
    ReplicaTooLarge {
        /// LPs.
        lps: u32,
        /// Bytes needed.
        needed: u64,
        /// Bytes that the device can bind.
        limit: u64,
    },
    /// A workgroup size that no kernel supports.
    #[error(
        "a workgroup of {group_size} invocations is impossible: it must be a power of two, and at most {max} on this device"
    )]
    GroupSize {
        /// The requested number of invocations.
        group_size: u32,
        /// The maximum on the device.
        max: u32,
    },
    /// A capacity of zero.
    #[error("the model's {what} capacity is 0: it must hold at least 1 event")]
    NoCapacity {
        /// `queue` or `mailbox`.
        what: &'static str,
    },
    /// The events do not fit the device.
    #[error(
        "{what} of {capacity} {} for each of {lps} LPs take {needed} bytes, and this device binds at most {limit} \
         at once: at most {largest} per LP fit. Choose fewer pending events (`Model::capacity`) or rows \
         (`Model::memory_rows`), fewer LPs, or an adapter with larger limits",
        if *what == MEMORY { "rows" } else { "events" }
    )]
    TooLarge {
        /// `queues`, `mailboxes` or `LP memory`.
        what: &'static str,
        /// Events, or rows of memory, for each LP.
        capacity: u32,
        /// LPs.
        lps: u32,
        /// Bytes needed.
        needed: u64,
        /// Bytes that the device can bind.
        limit: u64,
        /// The largest capacity that fits.
        largest: u64,
    },
    /// A model's WGSL lacks a declaration that the engine needs, or declares it differently.
    #[error("{file} {problem} (see `pdes::Model`)")]
    Contract {
        /// The model's WGSL file.
        file: String,
        /// What is missing or different.
        problem: String,
    },
    /// A struct with different layouts in Rust and WGSL.
    #[error("{file}: `struct {name}` {problem}")]
    Layout {
        /// The model's WGSL file.
        file: String,
        /// The struct's name.
        name: &'static str,
        /// The problem, and what to do.
        problem: String,
    },
    /// A variable in the model's WGSL that the engine does not bind.
    #[error(
        "{file}: the variable `{variable}` cannot be bound: a model may declare `@group(1) @binding(0) var<uniform> \
         params` and `@group(1) @binding(1) var<storage, read> data`"
    )]
    Variable {
        /// The model's WGSL file.
        file: String,
        /// The variable.
        variable: String,
    },
    /// `data` in the WGSL and `Model::data` do not match.
    #[error("{file}: {problem}")]
    Data {
        /// The model's WGSL file.
        file: String,
        /// The problem, and what to do.
        problem: String,
    },
    /// Results for [`Ticks::NEVER`], or for a time before the end of the run.
    #[error(
        "there are no results for the time {at}: {}",
        if *at == Ticks::NEVER {
            "averages would have no end. If a run ended because nothing is pending, give the time at which they end".to_owned()
        } else {
            format!("the run has reached {done}. Request results for {done} or later")
        }
    )]
    ResultTime {
        /// The requested time.
        at: Ticks,
        /// The time that the run has reached.
        done: Ticks,
    },
    /// The run failed.
    #[error(transparent)]
    Fault(#[from] Fault),
    /// Results of a model without an output.
    #[error(
        "{model} has no results: its `Model::Output` is `()`. Declare a struct there, and in the WGSL `struct Output` and `fn output`"
    )]
    NoOutput {
        /// The model's name.
        model: String,
    },
    /// The functions in Rust of a model that is loaded at run time, whose types Rust does not know.
    #[error(
        "{model} has a state, parameters or results of `Word`s, which functions in Rust cannot use. Run its WGSL: `CpuSimulation::new`"
    )]
    NoReference {
        /// The model's name.
        model: String,
    },
    /// A field of `struct Output` that cannot be a column.
    #[error(
        "{file}: the field `{field}` of `struct Output` cannot be a column: use u32, i32, f32, vec2<u32> or vec4<u32> for the words of \
         a number of 64 or 128 bits (low word first), and structs and arrays of these"
    )]
    OutputField {
        /// The model's WGSL file.
        file: String,
        /// The field.
        field: String,
    },
    /// The model's `output` failed at an LP. The run itself is unaffected and can continue.
    #[error("LP {lp} has no result: {kind}. The run itself is unaffected and can continue")]
    Output {
        /// What happened: [`FaultKind::MemoryFull`] or [`FaultKind::LoopsCut`].
        kind: FaultKind,
        /// The first LP at which it happened.
        lp: u32,
    },
    /// No column has this name.
    #[error("there is no result column `{name}`; the columns are: {known}")]
    NoColumn {
        /// The requested name.
        name: String,
        /// The names that exist, separated by commas.
        known: String,
    },
    /// A column that cannot hold the class of an LP.
    #[error("the column `{column}` cannot be the class of an LP: it is not a u32")]
    Classes {
        /// The column.
        column: String,
    },
    /// More classes than totals support.
    #[error("the column `{column}` has more than {most} classes: number kinds of LPs, not LPs")]
    TooManyClasses {
        /// The column.
        column: String,
        /// The maximum.
        most: usize,
    },
    /// A sum of 2^128 or more.
    #[error(
        "the sum of the column `{column}` is 2^128 or more: choose a coarser unit, or sum over fewer LPs"
    )]
    SumOverflow {
        /// The column.
        column: String,
    },
    /// The sum of a column of f32.
    #[error(
        "the column `{column}` is of f32, which has no exact sum: it would depend on the order. Let the model output an integer in a \
         fixed unit"
    )]
    NoSum {
        /// The column.
        column: String,
    },
    /// A checkpoint that cannot be read, written or resumed.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// Results could not be written.
    #[error("the results could not be written: {0}")]
    Write(#[source] std::io::Error),
}

crate::text::debug_is_display!(SimulationError);

impl SimulationError {
    /// The maximum number of LPs that a [`SimulationError::Cycle`] names.
    const NAMED: usize = 16;

    /// A cycle at `time`, with the LPs that have pending events then.
    pub(in crate::pdes) fn cycle<P: Payload>(
        fault: Fault,
        time: Ticks,
        pending: impl Iterator<Item = (u32, Event<P>)>,
    ) -> Self {
        let mut lps: Vec<u32> = pending.filter(|(_, event)| event.time == time).map(|(lp, _)| lp).collect();
        lps.sort_unstable();
        lps.dedup();
        let count = lps.len();
        lps.truncate(Self::NAMED);
        Self::Cycle { fault, time, count, lps }
    }
}

/// The `what` of [`SimulationError::TooLarge`] for LP memory.
pub(in crate::pdes) const MEMORY: &str = "LP memory";

/// A failure within a run: the first one, by window and then by LP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{kind}, at LP {lp} in {}{}. The run cannot continue", LpLocation(*window), NeededCapacity(*needed))]
pub struct Fault {
    /// The cause.
    pub kind: FaultKind,
    /// The LP of the failure: the receiving LP for a full queue or mailbox, else the LP that
    /// executed the event.
    pub lp: u32,
    /// The window, counted from 1; 0 is the initialisation. At its end a run drains the mailboxes
    /// of its last window. A queue that this overfills fails in that window, or, if the run ended
    /// one window later, when the run resumes.
    pub window: u64,
    /// For a full queue, mailbox or outbox, the number of events it would have had to hold: the
    /// maximum in that window. Else 0.
    pub needed: u32,
}

struct NeededCapacity(u32);

impl std::fmt::Display for NeededCapacity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            0 => Ok(()),
            needed => write!(f, ", which needed room for {needed} events"),
        }
    }
}

struct LpLocation(u64);

impl std::fmt::Display for LpLocation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            0 => f.write_str("the initialisation"),
            window => write!(f, "window {window}"),
        }
    }
}

/// The reason why a run failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum FaultKind {
    /// An LP received more events than its queue holds.
    #[error(
        "a queue overflowed (more pending events than `Capacity::queue`; raise it: queues do not grow with `Options::fixed` or in windows that you record yourself)"
    )]
    QueueFull,
    /// An LP was sent more events in one window than its mailbox holds.
    #[error(
        "a mailbox overflowed (more events sent in one window than `Capacity::mailbox`; raise it: mailboxes do not grow with `Options::fixed` or in windows that you record yourself)"
    )]
    MailboxFull,
    /// An event was scheduled for another LP earlier than the lookahead allows.
    #[error(
        "an event was scheduled for another LP less than the lookahead after the one that scheduled it (lower \
         `Model::lookahead` or schedule later)"
    )]
    Lookahead,
    /// An event was scheduled at an LP that does not exist.
    #[error("an event was scheduled at an LP that does not exist (destinations are 0 .. lp_count() - 1)")]
    Destination,
    /// An event was scheduled beyond the last tick.
    #[error(
        "an event was scheduled beyond the last tick of 64 bits (choose a coarser resolution; do not schedule an event that \
         never happens: a draw with arguments out of order or out of range returns such a time, and so does adding an infinite \
         lookahead)"
    )]
    TimeOverflow,
    /// The driver ended a loop early. llvmpipe, Mesa's software driver, does so after 65,535
    /// iterations in all loops of an LP's window together. It runs neighbouring LPs in lockstep, so
    /// the named LP may be the first of a group (8 LPs on most CPUs) and the loop may belong to
    /// another.
    #[error(
        "the driver ended a loop early, because the LP or one of its neighbours had too much to do in one dispatch (shorten \
         loops in `handle`, draw less in one event, spread events over more LPs, use the heap instead of a circular buffer, or use another adapter)"
    )]
    LoopsCut,
    /// An event was scheduled for the LP itself before the present time.
    #[error("an event was scheduled for the LP itself before the present time (`now()` is the earliest)")]
    Past,
    /// An LP executed more than a million events in a row, counted in whole windows, without
    /// advancing its time.
    #[error(
        "the LP executed more than a million events at one time and has more (if it schedules for itself without a delay, let its \
         time advance)"
    )]
    Stuck,
    /// In a model without a lookahead, 65,536 rounds at one time were not enough.
    #[error(
        "LPs send each other events without a delay, and time does not advance after 65,536 rounds (give one of the events a delay)"
    )]
    Cycle,
    /// An event was scheduled for another LP earlier than the LP's speculative execution found or
    /// the model declared ([`Sync::Horizon`](crate::pdes::Sync::Horizon),
    /// [`Sync::Neighbours`](crate::pdes::Sync::Neighbours)). The LP is the one that scheduled the
    /// event. If the error shows only when the event arrives or is executed, it is the LP that
    /// advanced too far.
    #[error(
        "an event was scheduled for another LP earlier than a speculative execution of the same events found, or than the model's `earliest`, `answer`, `next_to`, `next_gap` or `sender` \
         declare (they must hold in every case; and `handle` must do the same for \
         the same input, which floating point does not if the driver compiles it twice; use integers, or `Sync::Yawns`)"
    )]
    Promise,
    /// An LP accessed a row of LP memory that it does not have, pushed more rows into a line than
    /// its room, or called `memory_full`.
    #[error(
        "the LP's memory is full (a row beyond `Model::memory_rows`, a line longer than the `room` passed to `line_push`, or a call of \
         `memory_full`: raise the limit that was too small)"
    )]
    MemoryFull,
    /// In a run split over devices (`hybrid::GpuPart`), the LPs of one part sent the LPs of another
    /// part more events in a window than the outbox holds.
    #[error(
        "more events were sent to LPs of another device in one window than the outbox holds (its room is twice a device's share of \
         the events that `Capacity::mailbox` allows; raise it, do not fix capacities, or split the run differently)"
    )]
    OutboxFull,
}

impl FaultKind {
    /// The number in `shaders/pdes/engine.wgsl`. Of several failures of an LP in a window, the one
    /// with the smallest number is reported.
    pub(in crate::pdes) fn number(self) -> Option<usize> {
        Self::BY_NUMBER.iter().position(|&kind| kind == self)
    }

    /// The kinds by their number in `shaders/pdes/engine.wgsl`, from 1 on. 0 is no fault, because
    /// unwritten memory may be zero.
    const BY_NUMBER: [Self; 12] = [
        Self::LoopsCut,
        Self::MemoryFull,
        Self::QueueFull,
        Self::MailboxFull,
        Self::Lookahead,
        Self::Destination,
        Self::TimeOverflow,
        Self::Past,
        Self::Stuck,
        Self::Cycle,
        Self::Promise,
        Self::OutboxFull,
    ];
}

/// The upper bound of LP numbers: a failure is recorded as `row * 16 + kind` in one word.
pub(crate) const MAX_LPS: u32 = 1 << 28;

impl Fault {
    /// The control word that records this fault, if LP numbers count from 0.
    #[cfg(not(target_arch = "wasm32"))]
    pub(crate) fn encode(&self) -> u32 {
        let number = self.kind.number().and_then(|number| u32::try_from(number + 1).ok());
        self.lp * 16 + number.expect("every kind has one")
    }

    /// The failure that a control word records, if any. `needed` is the room that queues, mailboxes
    /// and outboxes would have needed.
    pub(crate) fn decode(
        word: u32,
        needed: [u32; 3],
        first_lp: u32,
        window: u64,
    ) -> Result<(), SimulationError> {
        if word == u32::MAX {
            return Ok(());
        }
        let kind = (word as usize % 16).checked_sub(1).and_then(|number| FaultKind::BY_NUMBER.get(number));
        match kind {
            Some(&kind) => {
                let needed = match kind {
                    FaultKind::QueueFull => needed[0],
                    FaultKind::MailboxFull => needed[1],
                    FaultKind::OutboxFull => needed[2],
                    _ => 0,
                };
                Err(Self { kind, lp: first_lp + word / 16, window, needed }.into())
            }
            None => Err(SimulationError::Gpu(GpuError::Refused {
                context: "a simulation".into(),
                message: "its control block was not written: see the errors reported by the device".into(),
            })),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::FaultKind;
    use crate::shaders;
    use crate::shared::constant;

    #[test]
    fn kinds_have_the_numbers_of_the_kernels() {
        let names = [
            "LOOPS_CUT",
            "MEMORY_FULL",
            "QUEUE_FULL",
            "MAILBOX_FULL",
            "LOOKAHEAD",
            "DESTINATION",
            "TIME_OVERFLOW",
            "PAST",
            "STUCK",
            "CYCLE",
            "PROMISE",
            "OUTBOX_FULL",
        ];
        let engine = shaders::file("pdes/engine.wgsl");
        for ((name, kind), number) in names.into_iter().zip(FaultKind::BY_NUMBER).zip(1..) {
            assert_eq!(constant(engine.text(), name), number, "{kind:?}");
            assert_eq!(format!("{kind:?}").to_uppercase(), name.replace('_', ""));
        }
    }
}
