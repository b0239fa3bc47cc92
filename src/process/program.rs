//! The lower form of a process model: numbered steps, draws, lines and sums. The printer makes WGSL
//! of it, the interpreter executes it, and both leave the same bits in state and LP memory after
//! each event. [`machine`] says how; `layout.rs` has what lies where.
//!
//! A number is an index into the vector of [`Program`] that its type belongs to.

mod faults;
mod layout;
mod steps;
mod values;
#[doc = include_str!("program/machine.md")]
pub mod machine {}

use std::ops::Range;

use crate::statistics::quantiles::{BIN_ROWS, LENGTHS};
use crate::time::Resolution;

use super::ir;
pub use super::ir::{Kind, Order};
pub use faults::FaultCode;
pub use layout::{
    Control, DRAWN_HASH, EntityLayout, EntityWord, FIRST_COUNT, GlobalWord, HEADER, INSTANT, LIVE, LinkWord,
    MOST_ENTITIES, MOST_EVENTS_AT_ONCE, MOST_STEPS, MOST_TICKS, ParamWord, SOURCE_EVENT, Size, Status,
    StepId,
};
pub use steps::{Act, Op, Patience, Step, Time, Wait};
pub use values::{Expr, Node, Slot, Unary};

/// A compiled process model, for all points of an experiment.
#[derive(Debug, Clone, PartialEq)]
pub struct Program {
    /// The model's name.
    pub name: String,
    /// Ticks in the unit of time.
    pub resolution: Resolution,
    /// State and output.
    pub size: Size,
    /// Rows that all entities share.
    pub global_rows: u32,
    /// Rows of an entity.
    pub entity: EntityLayout,
    /// What entities do.
    pub steps: Vec<Step>,
    /// Types of entities.
    pub processes: Vec<Process>,
    /// Where they enter, in the order of the description.
    pub sources: Vec<Source>,
    /// What is drawn.
    pub draws: Vec<Draw>,
    /// Distributions: 8 words of `Params` each.
    pub laws: Vec<Law>,
    /// Lines of waiting entities.
    pub lines: Vec<Line>,
    /// Resources.
    pub resources: Vec<Resource>,
    /// Containers.
    pub containers: Vec<Container>,
    /// Stores.
    pub stores: Vec<Store>,
    /// Signals: the line of each.
    pub signals: Vec<u32>,
    /// What entities wait for with `wait_until`, in the order of the statements.
    pub conditions: Vec<Condition>,
    /// Tallies, counters and levels of variables.
    pub sums: Vec<Sum>,
    /// Costs of resources.
    pub costs: Vec<Cost>,
    /// Global variables.
    pub variables: Vec<Variable>,
    /// Constants in `Params` besides distributions.
    pub constants: Vec<Constant>,
    /// Rows of 16 bytes of `Params`.
    pub param_rows: u32,
    /// Read-only rows: periods of rates, times of traces.
    pub data: Vec<[u32; 4]>,
    /// Rows that `output` copies, in this order.
    pub output_rows: Vec<u32>,
    /// The factors of the model, by name, in the order of points.
    pub parameters: Vec<String>,
    /// The row of the first fault: entity, detail, time (2).
    pub fault_row: u32,
    /// The rows of histograms, in LP memory. Those of sums follow each other in their order. Runs
    /// without the general engine return them behind `output_rows`.
    pub histograms: Range<u32>,
    /// What notes say.
    pub noted: Vec<Noted>,
    /// The rows of notes, in LP memory, if they are kept: (their number, 0, 0, 0), then for each
    /// the integer, the number of the entity, and the time (47 bits) with the number of the note
    /// above it.
    pub notes: Range<u32>,
}

/// What a note says.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Noted {
    /// The text.
    pub name: String,
    /// The type of the entity.
    pub process: u32,
}

impl Program {
    /// The row of LP memory where the entity table begins.
    pub fn entities(&self) -> u32 {
        self.global_rows.saturating_sub(self.size.state_rows()).next_multiple_of(2)
    }

    /// The row 0 of a slot, from 0, in LP memory.
    pub fn entity_row(&self, slot: u32) -> u32 {
        self.entities() + slot * self.entity.stride
    }

    /// Rows of LP memory for this number of entities.
    pub fn memory_rows(&self, room: u32) -> u32 {
        self.entity_row(room.min(MOST_ENTITIES))
    }
}

/// A draw of an entity. Its stream is the substream named (visit, hash) with the entity's number;
/// `visit` is 0 outside loops.
#[derive(Debug, Clone, PartialEq)]
pub struct Draw {
    /// The distribution; `None` for a word.
    pub law: Option<u32>,
    /// Differs between the draws of a program.
    pub hash: u32,
    /// The word that counts the rounds of the innermost loop.
    pub visit: Option<EntityWord>,
    /// The text that was hashed: `patient/use doctor/1`.
    pub name: String,
}

/// A distribution. Its kind is the same at all points.
#[derive(Debug, Clone, PartialEq)]
pub struct Law {
    /// As it is written.
    pub written: ir::Law,
    /// Its number in the library's table of distributions.
    pub kind: u32,
    /// Its 8 words: kind, number, and three times. Two whole rows.
    pub words: ParamWord,
    /// Its words with its table, if it is drawn from one: the table is the same at all points.
    pub table: Option<[u32; 8]>,
    /// Where it is written.
    pub place: ir::Place,
}

/// A type of entities.
#[derive(Debug, Clone, PartialEq)]
pub struct Process {
    /// Its name.
    pub name: String,
    /// The word that counts its entities: the number of the last one.
    pub count: GlobalWord,
    /// The word that counts the entities that an entity of this type joins.
    pub children: Option<EntityWord>,
    /// Attributes with names.
    pub attributes: Vec<Attribute>,
}

/// An attribute with a name.
#[derive(Debug, Clone, PartialEq)]
pub struct Attribute {
    /// Its name.
    pub name: String,
    /// Its kind.
    pub kind: Kind,
    /// Its first word.
    pub word: EntityWord,
}

/// Where entities enter.
#[derive(Debug, Clone, PartialEq)]
pub struct Source {
    /// Their type.
    pub process: u32,
    /// Their first step.
    pub entry: StepId,
    /// When.
    pub arrivals: Arrivals,
    /// How many enter at a time: a constant of `Params`.
    pub batch: ParamWord,
    /// How many enter at most: a constant of `Params`; all ones for no bound.
    pub most: ParamWord,
    /// The word that counts entries: the number of the next time.
    pub count: GlobalWord,
    /// Its name in errors: `patient/source 1`.
    pub name: String,
}

/// When entities enter.
#[derive(Debug, Clone, PartialEq)]
pub enum Arrivals {
    /// All at time zero.
    Start,
    /// After times of a constant of `Params`.
    Constant(ParamWord),
    /// After drawn times; the number of an entry names the stream.
    Drawn(u32),
    /// Candidates after exponential times of the highest rate. A candidate enters if a second draw
    /// is below the word of the present period.
    Rates {
        /// The time to the next candidate.
        gap: u32,
        /// One word: whether it enters.
        keep: u32,
        /// The first of the periods, one row each: end (2) from the beginning of the cycle, the
        /// [`ParamWord`] of the share in units of 2^-32, 0.
        first: u32,
        /// The number of periods, at most 1,024.
        periods: u32,
        /// The length of all periods, in ticks.
        cycle: u64,
    },
    /// At times in `data`: one row each (time (2), 0, 0), then rows of attributes.
    Trace {
        /// The row of the first time.
        first: u32,
        /// Rows of an entry.
        rows: u32,
        /// How many entries there are.
        count: u32,
        /// Words of an entry from its second row on, copied to these words of the entity.
        words: Vec<EntityWord>,
    },
}

/// A line of entities. Its row: first and last (16 bits each; the root, in a heap), length, and the
/// sum of changes of length times the time since the warm-up (2, modulo 2^64).
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// Its row.
    pub row: u32,
    /// Its order: [`Order::Fifo`] or [`Order::Priority`].
    pub order: Order,
    /// Whether the largest key of a priority line is the first.
    pub largest: bool,
    /// Whether its resource is served after an entity entered.
    pub serves: bool,
    /// The bit that a change of its length sets, for conditions; 0 if none reads it.
    pub watch: u32,
    /// Its name in results: `queue(bed)`.
    pub name: String,
}

/// A resource. Its row: units in use, units, and the sum of changes of units in use times the time
/// since the warm-up (2, modulo 2^64).
#[derive(Debug, Clone, PartialEq)]
pub struct Resource {
    /// Its row.
    pub row: u32,
    /// Its units at first.
    pub units: ParamWord,
    /// The most units that it has: a request for more is a fault. The same word as `units`, if
    /// they do not change.
    pub most: ParamWord,
    /// Its line.
    pub line: u32,
    /// The line of those that can be preempted, by the largest priority.
    pub holders: Option<u32>,
    /// Whether those are preempted when there are fewer units than are held.
    pub shift: bool,
    /// If its units change: the row of the sum of changes of units times the time since the warm-up
    /// (2, modulo 2^64), 0, 0.
    pub offered: Option<u32>,
    /// The bit that a change sets, for conditions.
    pub watch: u32,
    /// Its name.
    pub name: String,
}

/// What a resource costs.
#[derive(Debug, Clone, PartialEq)]
pub struct Cost {
    /// The resource.
    pub resource: u32,
    /// As it is written.
    pub written: ir::Cost,
    /// The counter of its uses, if each costs something.
    pub uses: Option<u32>,
}

/// A container. Its rows: (content, capacity, 0, 0), and the sum of changes times the time since
/// the warm-up (4, modulo 2^128).
#[derive(Debug, Clone, PartialEq)]
pub struct Container {
    /// Its first row.
    pub row: u32,
    /// What it holds at first.
    pub level: ParamWord,
    /// The most it holds.
    pub capacity: ParamWord,
    /// The line of those that put.
    pub putters: u32,
    /// The line of those that get.
    pub getters: u32,
    /// The bit that a change sets, for conditions.
    pub watch: u32,
    /// Its name.
    pub name: String,
}

/// A store.
#[derive(Debug, Clone, PartialEq)]
pub struct Store {
    /// How many rest there at most.
    pub capacity: ParamWord,
    /// The line of those that rest there.
    pub items: u32,
    /// The line of those that wait for room.
    pub givers: u32,
    /// The line of those that take.
    pub takers: u32,
    /// Its name.
    pub name: String,
}

/// A condition that entities wait for.
#[derive(Debug, Clone, PartialEq)]
pub struct Condition {
    /// Its line, first come first served.
    pub line: u32,
    /// The condition, for an entity of the line.
    pub holds: Expr,
    /// Bits of what it reads.
    pub watch: u32,
    /// Whether it reads attributes. If not, and it does not hold, no other entity is tried.
    pub own: bool,
}

/// A global variable.
#[derive(Debug, Clone, PartialEq)]
pub struct Variable {
    /// Its word.
    pub word: GlobalWord,
    /// Its kind.
    pub kind: Kind,
    /// Its value at first.
    pub first: ParamWord,
    /// The sum of its time average.
    pub level: Option<u32>,
    /// The bit that a change sets, for conditions.
    pub watch: u32,
    /// Its name.
    pub name: String,
}

/// A statistic with a name.
#[derive(Debug, Clone, PartialEq)]
pub struct Sum {
    /// Its name in results.
    pub name: String,
    /// What it is.
    pub kind: SumKind,
    /// Its first row.
    pub row: u32,
    /// Its histogram.
    pub histogram: Option<Histogram>,
}

/// The histogram of a tally, or of the time with each value of a level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Histogram {
    /// Counts by bin, whose unit is two to the power of a constant of `Params`.
    Observations {
        /// Its first row.
        row: u32,
        /// The constant, at most 31.
        shift: ParamWord,
    },
    /// A row: the end of the time that is in it (2), 0, 0. Then times (2) by bin.
    Times {
        /// Its first row.
        row: u32,
    },
}

impl Histogram {
    /// How many rows it has.
    pub fn rows(self) -> u32 {
        match self {
            Self::Observations { .. } => BIN_ROWS,
            Self::Times { .. } => 1 + u32::try_from(LENGTHS / 2).expect("there are few"),
        }
    }

    /// Its first row.
    pub fn row(self) -> u32 {
        match self {
            Self::Observations { row, .. } | Self::Times { row } => row,
        }
    }
}

/// Kinds of statistics.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SumKind {
    /// Three rows: sum (3 words, with a sign), count; smallest (2), largest (2), with a sign; sum
    /// of squares (4, all ones if it does not fit). Observations before the end of the warm-up do
    /// not count.
    Tally(Kind),
    /// A row: count (2), 0, 0, from the end of the warm-up.
    Counter,
    /// The same: observations of this tally up to a bound.
    Share(u32),
    /// A row: the sum of changes of an integer variable times the time since the warm-up (4, modulo
    /// 2^128).
    Level(u32),
}

impl SumKind {
    /// How many rows it has.
    pub fn rows(self) -> u32 {
        match self {
            Self::Tally(_) => 3,
            Self::Counter | Self::Share(_) | Self::Level(_) => 1,
        }
    }
}

/// A constant of `Params`.
#[derive(Debug, Clone, PartialEq)]
pub struct Constant {
    /// Its first word.
    pub word: ParamWord,
    /// How it is computed and stored.
    pub kind: ConstantKind,
    /// What it is, for errors: `the units of `bed``.
    pub what: String,
    /// Where it is written.
    pub place: ir::Place,
}

/// How constants are computed from parameters.
#[derive(Debug, Clone, PartialEq)]
pub enum ConstantKind {
    /// A value of a kind.
    Value(Kind, ir::Expression),
    /// A whole number in this range.
    Whole(ir::Expression, [u32; 2]),
    /// The sum of probabilities, in units of 2^-32; all ones if it is 1.
    Probability(Vec<ir::Expression>),
    /// The same, and the sum has to be 1.
    Certainty(Vec<ir::Expression>),
    /// The binary logarithm of a value of a kind, rounded down, at most 31.
    Bin(Kind, ir::Expression),
    /// The rate of a period over the highest of all, in units of 2^-32.
    Share(usize, Vec<ir::Expression>),
    /// No bound: all ones.
    Unbounded,
}
