//! What can go wrong in a simulation.

use crate::gpu::GpuError;
use crate::statistics::AnalysisError;
use crate::time::Ticks;

use super::checkpoint_error::CheckpointError;
use super::event::{Event, Payload};

/// An error of the `pdes` module.
///
/// [`Fault`]s end the run for good: events of the window that failed are lost, and every later call
/// returns the same error. After an error of the device within a run, make a new simulation. The
/// others refuse one before it starts.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum SimulationError {
    /// The device failed, or WGSL did not link.
    #[error(transparent)]
    Gpu(#[from] GpuError),
    /// A model without LPs.
    #[error("the model has no LPs: it needs at least 1")]
    NoLps,
    /// More LPs than can be numbered.
    #[error("the model has {lps} LPs, and at most {max} can be numbered")]
    TooManyLps {
        /// How many it has.
        lps: u32,
        /// How many there can be.
        max: u32,
    },
    /// LPs that are more than the host's memory, for the sequential engine.
    #[error(
        "{lps} LPs take {bytes} bytes in the sequential engine, before they schedule anything, and this machine does not give them: choose fewer LPs"
    )]
    HostMemory {
        /// LPs.
        lps: u32,
        /// Bytes that their states, memory and counts take.
        bytes: u64,
    },
    /// A watcher stopped an experiment before any run of all points had come to its end.
    #[error("stopped before a run of each point had come to its end: there are no results")]
    Stopped,
    /// A calendar for a model without a lookahead, or with other windows than those of YAWNS.
    #[error(
        "a calendar cannot be had here: its buckets are as long as the lookahead, so it takes one of at least 1 tick, and `Sync::Yawns`. Choose \
         another queue design, or leave it to the library"
    )]
    Calendar,
    /// Horizons of each LP's own for a model that does not support them.
    #[error("`Sync::Neighbours` {problem} (see `pdes::Model`). Or leave it to the library")]
    Neighbours {
        /// What it takes.
        problem: &'static str,
    },
    /// A run that cannot be cut over devices so.
    #[error("a run over several devices {problem}")]
    Parts {
        /// What it takes.
        problem: &'static str,
    },
    /// LPs that send each other events without end, all at one time: [`FaultKind::Cycle`].
    #[error(
        "{kind}: at {time}, {count} LPs hold events: {}{}. The run cannot go on",
        lps.iter().map(u32::to_string).collect::<Vec<_>>().join(", "),
        if *count > lps.len() { " and more" } else { "" },
        kind = fault.kind
    )]
    Cycle {
        /// At the first of the LPs.
        fault: Fault,
        /// The time that never advances.
        time: Ticks,
        /// How many LPs hold events at that time.
        count: usize,
        /// The first of them.
        lps: Vec<u32>,
    },
    /// An experiment that cannot be made, or whose results cannot be analysed.
    #[error(transparent)]
    Analysis(#[from] AnalysisError),
    /// A point of a design of which no model could be made.
    #[error("{place}: {reason}")]
    Point {
        /// Which point.
        place: String,
        /// Why not.
        reason: String,
    },
    /// Models of one experiment that are too different to be run together.
    #[error("the points of an experiment have models with different {what}: make an experiment of each")]
    Points {
        /// In what they differ.
        what: &'static str,
    },
    /// Antithetic pairs of runs.
    #[error(
        "runs of simulation models cannot be paired antithetically: leave `Experiment::pairing` at `Independent`"
    )]
    Antithetic,
    /// A number of events as the end of runs that are mapped to threads.
    #[error(
        "`Mapping::Thread` makes runs without windows, by which a run ends that ends by a number of events: choose `Mapping::Team`, or end by time"
    )]
    ThreadEvents,
    /// A queue design that a team cannot have.
    #[error(
        "`Mapping::Team` has an invocation for each LP, so no calendar and no queue that several serve: choose another design, or leave it to the library"
    )]
    TeamQueue,
    /// Windows that a team cannot have.
    #[error(
        "teams cannot have windows by `Sync::{sync:?}` here: by the event horizon they go in runs of models with a lookahead whose pending events fit workgroup memory, \
         that end by a time and have no chosen queue or fixed capacities, and by neighbours never: choose `Sync::Yawns`, or leave it to the library"
    )]
    TeamSync {
        /// What was chosen.
        sync: super::sync::Sync,
    },
    /// Results of runs that have no end in time.
    #[error("results are those at the end of a run, and these have none: end them at a time (`Until::time`)")]
    NoEnd,
    /// One run alone is more than the device can hold.
    #[error(
        "a run of {lps} LPs takes {needed} bytes of a buffer beside others, and this device binds at most {limit} at once: use `Mapping::Grid`, or fewer LPs"
    )]
    ReplicaTooLarge {
        /// LPs.
        lps: u32,
        /// Bytes needed.
        needed: u64,
        /// Bytes that the device binds.
        limit: u64,
    },
    /// A workgroup size that no kernel can have.
    #[error(
        "a workgroup of {group_size} invocations is impossible: it must be a power of two, and at most {max} on this device"
    )]
    GroupSize {
        /// The invocations asked for.
        group_size: u32,
        /// The most that the device takes.
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
         at once: at most {largest} per LP fit. Choose a smaller population, fewer LPs, or an adapter \
         with larger limits",
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
        /// Bytes that the device binds.
        limit: u64,
        /// The largest capacity that fits.
        largest: u64,
    },
    /// A model's WGSL lacks what the engine calls, or declares it otherwise.
    #[error("{file} {problem} (see `pdes::Model`)")]
    Contract {
        /// The model's WGSL file.
        file: String,
        /// What is missing or different.
        problem: String,
    },
    /// A struct that Rust and WGSL do not lay out alike.
    #[error("{file}: `struct {name}` {problem}")]
    Layout {
        /// The model's WGSL file.
        file: String,
        /// The struct.
        name: &'static str,
        /// What is wrong, and what to do.
        problem: String,
    },
    /// A variable of the model's WGSL that the engine does not bind.
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
    /// `data` in the WGSL and `Model::data` do not go together.
    #[error("{file}: {problem}")]
    Data {
        /// The model's WGSL file.
        file: String,
        /// What is wrong, and what to do.
        problem: String,
    },
    /// Results of a time that is none, or that the run has left behind.
    #[error(
        "there are no results for the time {at}: {}",
        if *at == Ticks::NEVER {
            "averages would have no end. Where a run ended because nothing is pending, say until when they last".to_owned()
        } else {
            format!("the run has gone on to {done}, and they would be those of neither. Ask for {done} or later")
        }
    )]
    ResultTime {
        /// The time that was asked for.
        at: Ticks,
        /// The time up to which the run is done.
        done: Ticks,
    },
    /// The run failed.
    #[error(transparent)]
    Fault(#[from] Fault),
    /// Results of a model that has none.
    #[error(
        "{model} has no results: its `Model::Output` is `()`. Declare a struct there, and in the WGSL `struct Output` and `fn output`"
    )]
    NoOutput {
        /// The model.
        model: String,
    },
    /// The sequential engine for a model of [`Word`](crate::gpu::Word)s.
    #[error(
        "{model} is known by its WGSL alone, and has no twin in Rust for the engine on the CPU. Run it on an adapter (a software Vulkan such as lavapipe is \
         one)"
    )]
    NoTwin {
        /// The model.
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
    /// The model's `output` failed at an LP. The run itself is sound, and can go on.
    #[error("there is no result of LP {lp}: {kind}. The run itself is sound, and can go on")]
    Output {
        /// What happened: [`FaultKind::MemoryFull`] or [`FaultKind::LoopsCut`].
        kind: FaultKind,
        /// The first LP at which it happened.
        lp: u32,
    },
    /// No column has this name.
    #[error("there is no result column `{name}`; the columns are: {known}")]
    NoColumn {
        /// The name that was asked for.
        name: String,
        /// The names that exist, separated by commas.
        known: String,
    },
    /// A column that cannot say what class an LP is of.
    #[error("the column `{column}` cannot be the class of an LP: it is not a u32")]
    Classes {
        /// The column.
        column: String,
    },
    /// More classes than totals are made for.
    #[error("the column `{column}` makes more than {most} classes: number kinds of LPs, not LPs")]
    TooManyClasses {
        /// The column.
        column: String,
        /// How many there can be: [`MAX_CLASSES`](crate::pdes::MAX_CLASSES).
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
        "the column `{column}` is of f32, which has no exact sum: it would depend on the order. Let the model give an integer in a \
         fixed unit"
    )]
    NoSum {
        /// The column.
        column: String,
    },
    /// A checkpoint that cannot be read, written, or gone on from.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// Results could not be written.
    #[error("the results could not be written: {0}")]
    Write(#[from] csv::Error),
}

crate::text::debug_is_display!(SimulationError);

impl SimulationError {
    /// LPs that a [`SimulationError::Cycle`] names.
    const NAMED: usize = 16;

    /// A cycle at a time, where so much is pending.
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

/// What is too large, where it is not events.
pub(in crate::pdes) const MEMORY: &str = "LP memory";

/// A failure within a run: the first one, by window and then by LP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{kind}, at LP {lp} in {}{}. The run cannot go on", LpLocation(*window), NeededCapacity(*needed))]
pub struct Fault {
    /// What happened.
    pub kind: FaultKind,
    /// The LP at which it happened: the receiving one for a full queue or mailbox, else the one
    /// whose event it was.
    pub lp: u32,
    /// The window, counted from 1; 0 is the initialisation. (A run that ends takes in what its last
    /// window sent: a queue that is too full for that fails in the last window, or, where the end
    /// came later by one, when the run goes on.)
    pub window: u64,
    /// For a full queue, mailbox or outbox, the events that it would have had to hold: the most of
    /// all in that window. Else 0.
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

/// What ended a run before its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum FaultKind {
    /// An LP got more events than its queue holds.
    #[error("a queue overflowed (more pending events than `Capacity::queue`; raise it)")]
    QueueFull,
    /// An LP was sent more events in one window than its mailbox holds.
    #[error("a mailbox overflowed (more events sent in one window than `Capacity::mailbox`; raise it)")]
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
        "an event was scheduled beyond the last tick of 64 bits (choose a coarser resolution; do not schedule what \
         never happens: a draw whose arguments are out of order or out of range gives such a time, and so does adding a lookahead \
         without end)"
    )]
    TimeOverflow,
    /// The driver ended a loop early: llvmpipe, Mesa's software driver, does so after 65,535
    /// iterations in all loops of an LP's window together. It runs neighbouring LPs in step, so the
    /// LP that is named may be the first of those (8 on most processors) and the loop another
    /// one's.
    #[error(
        "the driver ended a loop early, because the LP or one of the few beside it had too much to do in one dispatch (a long \
         loop in `handle`; or spread events over more LPs, draw less in one event, use the heap instead of a circular buffer, or use another adapter)"
    )]
    LoopsCut,
    /// An event was scheduled for the LP itself before the present time.
    #[error("an event was scheduled for the LP itself before the present time (`now()` is the earliest)")]
    Past,
    /// An LP executed more than a million events in a row, counted in whole windows, and its time
    /// did not advance.
    #[error(
        "the LP executed more than a million events at one time and is not done (if it schedules for itself without a delay, let its \
         time advance)"
    )]
    Stuck,
    /// In a model without a lookahead, 65,536 rounds at one time were not enough.
    #[error(
        "LPs send each other events without a delay, and time does not advance after 65,536 rounds (let one of them take some time)"
    )]
    Cycle,
    /// An event was scheduled for another LP before the time that the LP's dry run had found, or
    /// that the model had promised ([`Sync::Horizon`](crate::pdes::Sync::Horizon),
    /// [`Sync::Neighbours`](crate::pdes::Sync::Neighbours)): the two were not alike. The LP is the
    /// one that scheduled it; or, where that shows only when it arrives or is to be executed, the
    /// one that has gone on without it.
    #[error(
        "an event was scheduled for another LP earlier than a dry run of the same events found, or than the model's `earliest`, `answer`, `next_to`, `next_gap` or `sender` \
         say (they must be right whatever happens; and `handle` must do the same whenever it is given \
         the same: floating point that the driver compiles in two ways does not; use integers, or `Sync::Yawns`)"
    )]
    Promise,
    /// An LP asked for a row of LP memory that it does not have, put more into a line than its
    /// room, or said itself that it is full.
    #[error(
        "the LP's memory is full (a row beyond `Model::memory_rows`, a line of more than the `room` that `line_push` is given, or a call of \
         `memory_full`: raise what was too small)"
    )]
    MemoryFull,
    /// Of a run that is cut over devices (`hybrid::GpuPart`): LPs of one part sent those of another
    /// one more events in a window than there is room for on their way.
    #[error(
        "more events were sent to LPs of another device in one window than there is room for on their way (the room is twice the share of a device in \
         what `Capacity::mailbox` expects; raise that, do not fix capacities, or cut the run otherwise)"
    )]
    OutboxFull,
}

impl FaultKind {
    /// The number in `shaders/pdes/engine.wgsl`: of several failures of an LP in a window, the
    /// smallest is told.
    pub(in crate::pdes) fn number(self) -> Option<usize> {
        Self::BY_NUMBER.iter().position(|&kind| kind == self)
    }

    /// The kinds by their number in `shaders/pdes/engine.wgsl`, from 1 on: memory that nobody wrote
    /// is no fault.
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

/// LPs are numbered below this: a failure is recorded as `row * 16 + kind` in one word.
pub(crate) const MAX_LPS: u32 = 1 << 28;

impl Fault {
    /// The word of control that tells of it, where names count from 0.
    #[cfg(not(target_arch = "wasm32"))]
    pub(crate) fn encode(&self) -> u32 {
        let number = self.kind.number().and_then(|number| u32::try_from(number + 1).ok());
        self.lp * 16 + number.expect("every kind has one")
    }

    /// The failure that a word of control tells of, if any. `needed` is the room that queues,
    /// mailboxes and outboxes would have needed.
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
                message: "its control block was not written: see the errors that the device reported".into(),
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
