//! The lower form of a process model: numbered steps, draws, lines and sums. The printer makes WGSL
//! of it, the interpreter executes it, and both leave the same bits in state and LP memory after
//! each event. [`machine`] says how; `layout.rs` has what lies where.
//!
//! A number is an index into the vector of [`Program`] that its type belongs to.

mod layout;
#[doc = include_str!("program/machine.md")]
pub mod machine {}

use crate::time::Resolution;

use super::ir;
pub use super::ir::{Kind, Order};
pub use layout::{
    Control, DRAWN_HASH, EntityLayout, EntityWord, FIRST_COUNT, HEADER, INSTANT, LIVE, LinkWord,
    MOST_ENTITIES, MOST_EVENTS_AT_ONCE, MOST_STEPS, MOST_TICKS, SOURCE_EVENT, Size, Status,
};

/// A step: the program counter of entities that are at it.
pub type StepId = u16;

/// A word of the rows that all entities share: row `word / 4`, component `word % 4`. A value of two
/// words begins at an even one. The first [`Size::state_rows`] rows are the state, the others the
/// first rows of LP memory.
pub type GlobalWord = u32;

/// A word of `Params`.
pub type ParamWord = u32;

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

/// Instructions that an entity executes without a pause: first `ops`, then what `act` reads, then
/// at most one draw, then `act`.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// What needs no other entity.
    pub ops: Vec<Op>,
    /// How it ends.
    pub act: Act,
    /// Where an entity continues that is interrupted while it waits here, if it can be.
    pub interrupted: Option<StepId>,
    /// The entity's type.
    pub process: u32,
    /// The statement, for faults: `use doctor`.
    pub statement: String,
    /// Where it is written.
    pub place: ir::Place,
}

/// A value and its kind.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Expr {
    /// Its kind.
    pub kind: Kind,
    /// How it is computed.
    pub node: Node,
}

/// How a value is computed. Operands have the kinds that the comment says; conversions are
/// explicit.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Node {
    /// A literal: an integer, ticks, or steps of 2^-24; 0 or 1 for a condition.
    Literal(i64),
    /// A constant of `Params`.
    Param(ParamWord),
    /// An attribute of the entity.
    Attribute(EntityWord),
    /// A variable.
    Global(GlobalWord),
    /// The time.
    Now,
    /// Now less `since` of the entity.
    Waited,
    /// Units of a resource in use.
    InUse(u32),
    /// Units of a resource.
    Units(u32),
    /// The length of a line.
    Length(u32),
    /// What a container holds.
    Content(u32),
    /// Of one operand.
    Unary(Unary, Box<Expr>),
    /// Of two operands.
    Binary(ir::Binary, Box<[Expr; 2]>),
    /// The second if the first holds, else the third. All are computed.
    Select(Box<[Expr; 3]>),
}

/// Operations with one operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Unary {
    /// Of an integer or a real.
    Minus,
    /// Of a condition.
    Not,
    /// A real of an integer: exact.
    RealOfInteger,
    /// An integer of a real, rounded down; [`FaultCode::Overflow`] if it does not fit.
    IntegerOfReal,
    /// An integer of a time in whole units, rounded down.
    IntegerOfTime,
    /// A real of a time in units, rounded down.
    RealOfTime,
    /// The time of an integer of units; 0 if it is negative.
    TimeOfInteger,
    /// The time of a real of units, rounded down; 0 if it is negative.
    TimeOfReal,
}

/// Where a value is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Slot {
    /// An attribute: one word, or two for a time or a real.
    Attribute(EntityWord),
    /// A variable, by its number.
    Variable(u32),
}

/// What a step does before its act.
#[derive(Debug, Clone, PartialEq)]
pub enum Op {
    /// Stores a value of the slot's kind.
    Set(Slot, Expr),
    /// Adds an observation, of any kind but a condition, to a tally.
    Tally(u32, Expr),
    /// Adds an integer to a counter; [`FaultCode::Negative`] if it is below 0.
    Count(u32, Expr),
}

/// How a step ends. `next` is the step after it.
#[derive(Debug, Clone, PartialEq)]
pub enum Act {
    /// Continues.
    Jump {
        /// The step after it.
        next: StepId,
    },
    /// Continues by a condition.
    Branch {
        /// The condition.
        condition: Expr,
        /// If it holds.
        yes: StepId,
        /// If it does not.
        no: StepId,
    },
    /// Continues at random: at the first arm whose word of `Params` is above the drawn word, or is
    /// all ones.
    Chance {
        /// One word.
        draw: u32,
        /// Cumulative probabilities in units of 2^-32, with their steps.
        arms: Vec<(ParamWord, StepId)>,
        /// If no arm is taken.
        otherwise: StepId,
    },
    /// Stores a drawn time.
    Draw {
        /// The draw.
        draw: u32,
        /// Where to.
        to: Slot,
        /// The step after it.
        next: StepId,
    },
    /// Stores a random integer, as [`Act::Chance`].
    Choose {
        /// One word.
        draw: u32,
        /// Cumulative probabilities, with values.
        arms: Vec<(ParamWord, i32)>,
        /// The value if no arm is taken.
        otherwise: i32,
        /// Where to.
        to: Slot,
        /// The step after it.
        next: StepId,
    },
    /// Lets time pass.
    Delay {
        /// How long.
        time: Time,
        /// The step after it.
        next: StepId,
    },
    /// Takes units.
    Seize {
        /// The resource.
        resource: u32,
        /// How many, an integer.
        units: Expr,
        /// How it waits.
        wait: Wait,
        /// The step after it.
        next: StepId,
    },
    /// Gives units back.
    Release {
        /// The resource.
        resource: u32,
        /// How many, an integer.
        units: Expr,
        /// The word that counts what it holds, where that is not known; 16 bits are enough.
        held: Option<EntityWord>,
        /// The step after it.
        next: StepId,
    },
    /// Puts an amount into a container.
    Put {
        /// The container.
        container: u32,
        /// How much, an integer.
        amount: Expr,
        /// How it waits.
        wait: Wait,
        /// The step after it.
        next: StepId,
    },
    /// Gets an amount out of a container.
    Get {
        /// The container.
        container: u32,
        /// How much, an integer.
        amount: Expr,
        /// How it waits.
        wait: Wait,
        /// The step after it.
        next: StepId,
    },
    /// Enters a store. Patience holds outside and inside.
    Give {
        /// The store.
        store: u32,
        /// How it waits.
        wait: Wait,
        /// The step after it is taken.
        next: StepId,
    },
    /// Takes an entity.
    Take {
        /// The store.
        store: u32,
        /// Words of the taken entity, and of this one to which they are copied.
        copies: Vec<[EntityWord; 2]>,
        /// How it waits.
        wait: Wait,
        /// The step after it.
        next: StepId,
    },
    /// Lets time pass, while a unit that it holds can be taken.
    Hold {
        /// The resource.
        resource: u32,
        /// Its line is that of the holders; its patience is the time, with the step behind it.
        wait: Wait,
        /// The step after its unit was taken.
        next: StepId,
    },
    /// Waits until entities are together; the last one takes the others along.
    Batch {
        /// How many: a constant of `Params`.
        size: ParamWord,
        /// The word of the last one with the first of the others, a link.
        members: EntityWord,
        /// How the others wait.
        wait: Wait,
        /// The step of the others behind it.
        next: StepId,
        /// The next step of the last one.
        begin: StepId,
    },
    /// Lets those continue that [`Act::Batch`] took along.
    Separate {
        /// The word with the first of them.
        members: EntityWord,
        /// The step after it.
        next: StepId,
    },
    /// Changes the units of a resource.
    Resize {
        /// The resource.
        resource: u32,
        /// Its units, an integer.
        units: Expr,
        /// The step after it.
        next: StepId,
    },
    /// Interrupts an entity, if it waits at a step with [`Step::interrupted`].
    Interrupt {
        /// Its type.
        process: u32,
        /// Its number, an integer.
        number: Expr,
        /// The step after it.
        next: StepId,
    },
    /// Waits for a signal.
    Wait {
        /// The signal.
        signal: u32,
        /// How it waits.
        wait: Wait,
        /// The step after it.
        next: StepId,
    },
    /// Waits until a condition holds.
    WaitUntil {
        /// The condition.
        condition: u32,
        /// How it waits.
        wait: Wait,
        /// The step after it.
        next: StepId,
    },
    /// Sends a signal.
    Send {
        /// The signal.
        signal: u32,
        /// The step after it.
        next: StepId,
    },
    /// Starts entities.
    Spawn {
        /// Their type.
        process: u32,
        /// Their first step.
        entry: StepId,
        /// How many, an integer.
        count: Expr,
        /// Words of their attributes, with values.
        set: Vec<(EntityWord, Expr)>,
        /// The word of this entity that counts them, if it joins them.
        joined: Option<EntityWord>,
        /// The step after it.
        next: StepId,
    },
    /// Waits for the entities that it joins.
    Join {
        /// The word that counts them.
        children: EntityWord,
        /// The step after it.
        next: StepId,
    },
    /// Ends.
    End {
        /// The word that counts entities that it joins, if it may have some.
        children: Option<EntityWord>,
        /// Words that count what it holds, with the resources; zeros unless the model is wrong.
        held: Vec<(u32, EntityWord)>,
    },
}

/// How long.
#[derive(Debug, Clone, PartialEq)]
pub enum Time {
    /// Computed: a time.
    Computed(Expr),
    /// Drawn.
    Drawn(u32),
}

/// How an entity waits.
#[derive(Debug, Clone, PartialEq)]
pub struct Wait {
    /// The line. For [`Act::Give`] that outside.
    pub line: u32,
    /// An integer, if the line is ordered by priority.
    pub priority: Option<Expr>,
    /// When it gives up.
    pub patience: Option<Patience>,
    /// The word that counts what it holds of the resource, where that is not known.
    pub held: Option<EntityWord>,
    /// Whether the time when it began is read later: then `since` is written also if it does not
    /// wait.
    pub since: bool,
}

/// When an entity gives up.
#[derive(Debug, Clone, PartialEq)]
pub struct Patience {
    /// Whether it gives up at all.
    pub when: Option<Expr>,
    /// How long it waits.
    pub time: Time,
    /// What it does then.
    pub otherwise: StepId,
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
    /// The bit that a change sets, for conditions.
    pub watch: u32,
    /// Its name.
    pub name: String,
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
}

/// Kinds of statistics.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SumKind {
    /// Two rows: sum (3 words, with a sign), count; smallest (2), largest (2), with a sign.
    /// Observations before the end of the warm-up do not count.
    Tally(Kind),
    /// A row: count (2), 0, 0, from the end of the warm-up.
    Counter,
    /// A row: the sum of changes of an integer variable times the time since the warm-up (4, modulo
    /// 2^128).
    Level(u32),
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
    /// The rate of a period over the highest of all, in units of 2^-32.
    Share(usize, Vec<ir::Expression>),
    /// No bound: all ones.
    Unbounded,
}

/// What went wrong in a run, in the low 8 bits of the header's fault; the step is above.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum FaultCode {
    /// It releases units that it does not hold. Detail: what it holds.
    NotHeld = 1,
    /// It ends while it holds units. Detail: the resource.
    Holding = 2,
    /// More steps in an event than [`MOST_STEPS`], or events at one time than
    /// [`MOST_EVENTS_AT_ONCE`].
    Endless = 3,
    /// It asks for units or an amount that is below 1, or more than can ever be there. Detail: how
    /// many.
    Request = 4,
    /// A counter is to be reduced. Detail: by how much.
    Negative = 5,
    /// A sum, product or conversion that does not fit.
    Overflow = 6,
    /// A division by zero.
    Division = 7,
    /// A delay beyond the last tick.
    Never = 8,
    /// Numbers of events are used up.
    Numbers = 9,
    /// It ends before entities that it joins. Detail: how many.
    Children = 10,
    /// More entities are started at once than can exist. Detail: how many.
    Spawned = 11,
    /// An event [`MOST_TICKS`] or more behind the warm-up: sums would not fit.
    Late = 12,
}

impl FaultCode {
    /// The fault with this number.
    pub fn of(code: u32) -> Option<Self> {
        use FaultCode as F;
        let all = [
            F::NotHeld,
            F::Holding,
            F::Endless,
            F::Request,
            F::Negative,
            F::Overflow,
            F::Division,
            F::Never,
            F::Numbers,
            F::Children,
            F::Spawned,
            F::Late,
        ];
        all.into_iter().find(|fault| *fault as u32 == code)
    }
}

impl Expr {
    /// Whether this holds for any node; it is called for nodes until it holds.
    pub fn any(&self, holds: &mut dyn FnMut(&Node) -> bool) -> bool {
        holds(&self.node)
            || match &self.node {
                Node::Unary(_, operand) => operand.any(holds),
                Node::Binary(_, operands) => operands.iter().any(|operand| operand.any(holds)),
                Node::Select(operands) => operands.iter().any(|operand| operand.any(holds)),
                _ => false,
            }
    }
}

impl Step {
    /// The steps that may follow.
    pub fn successors(&self) -> Vec<StepId> {
        self.act.successors().into_iter().chain(self.interrupted).collect()
    }

    /// The steps that it names, to change them.
    pub(super) fn steps_mut(&mut self) -> Vec<&mut StepId> {
        self.act.steps_mut().into_iter().chain(&mut self.interrupted).collect()
    }

    /// The draw of this step, if it has one.
    pub fn draw(&self) -> Option<u32> {
        let of = |time: &Time| match time {
            Time::Drawn(draw) => Some(*draw),
            Time::Computed(_) => None,
        };
        match &self.act {
            Act::Chance { draw, .. } | Act::Draw { draw, .. } | Act::Choose { draw, .. } => Some(*draw),
            Act::Delay { time, .. } => of(time),
            act => of(&act.wait()?.patience.as_ref()?.time),
        }
    }
}

impl Act {
    /// How it waits, if it does.
    pub fn wait(&self) -> Option<&Wait> {
        match self {
            Self::Seize { wait, .. }
            | Self::Put { wait, .. }
            | Self::Get { wait, .. }
            | Self::Give { wait, .. }
            | Self::Take { wait, .. }
            | Self::Hold { wait, .. }
            | Self::Batch { wait, .. }
            | Self::Wait { wait, .. }
            | Self::WaitUntil { wait, .. } => Some(wait),
            _ => None,
        }
    }

    /// The steps that it names, to change them.
    fn steps_mut(&mut self) -> Vec<&mut StepId> {
        match self {
            Self::End { .. } => Vec::new(),
            Self::Branch { yes, no, .. } => vec![yes, no],
            Self::Chance { arms, otherwise, .. } => {
                arms.iter_mut().map(|(_, step)| step).chain([otherwise]).collect()
            }
            Self::Spawn { entry, next, .. } => vec![entry, next],
            Self::Jump { next }
            | Self::Draw { next, .. }
            | Self::Choose { next, .. }
            | Self::Delay { next, .. }
            | Self::Release { next, .. }
            | Self::Send { next, .. }
            | Self::Resize { next, .. }
            | Self::Separate { next, .. }
            | Self::Interrupt { next, .. }
            | Self::Join { next, .. } => vec![next],
            Self::Batch { next, begin, wait, .. } => {
                let patience = wait.patience.as_mut().map(|patience| &mut patience.otherwise);
                [next, begin].into_iter().chain(patience).collect()
            }
            Self::Seize { next, wait, .. }
            | Self::Put { next, wait, .. }
            | Self::Get { next, wait, .. }
            | Self::Give { next, wait, .. }
            | Self::Take { next, wait, .. }
            | Self::Hold { next, wait, .. }
            | Self::Wait { next, wait, .. }
            | Self::WaitUntil { next, wait, .. } => {
                let patience = wait.patience.as_mut().map(|patience| &mut patience.otherwise);
                [next].into_iter().chain(patience).collect()
            }
        }
    }

    /// The steps that may follow, unless it is interrupted: first the usual one.
    pub fn successors(&self) -> Vec<StepId> {
        let mut steps = match self {
            Self::End { .. } => Vec::new(),
            Self::Branch { yes, no, .. } => vec![*yes, *no],
            Self::Chance { arms, otherwise, .. } => {
                arms.iter().map(|(_, step)| *step).chain([*otherwise]).collect()
            }
            Self::Jump { next }
            | Self::Draw { next, .. }
            | Self::Choose { next, .. }
            | Self::Delay { next, .. }
            | Self::Seize { next, .. }
            | Self::Release { next, .. }
            | Self::Put { next, .. }
            | Self::Get { next, .. }
            | Self::Give { next, .. }
            | Self::Take { next, .. }
            | Self::Hold { next, .. }
            | Self::Resize { next, .. }
            | Self::Separate { next, .. }
            | Self::Interrupt { next, .. }
            | Self::Wait { next, .. }
            | Self::WaitUntil { next, .. }
            | Self::Send { next, .. }
            | Self::Spawn { next, .. }
            | Self::Join { next, .. } => vec![*next],
            Self::Batch { next, begin, .. } => vec![*next, *begin],
        };
        steps.extend(self.wait().and_then(|wait| wait.patience.as_ref()).map(|patience| patience.otherwise));
        steps
    }
}
