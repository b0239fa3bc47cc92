//! A process model as statements: what TOML, JSON and the builder are read into, and what
//! `lower` compiles.
//!
//! Everything refers to everything else by name. Times are in the model's unit, numbers are as they
//! were written. Nothing is checked here.

mod expression;

use indexmap::IndexMap;

pub use expression::{Binary, Expression, Reading, Unary};

/// A process model.
///
/// The names of parameters, variables, resources, containers, stores, signals and entities differ
/// from each other, and from the attributes of entities. No name is a word of
/// [expressions](Expression): `now`, `age`, `waited`, `number`, `and`, `or`, `not`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ProcessModel {
    /// The name in reports.
    pub name: String,
    /// A description for readers.
    pub about: String,
    /// The unit of time, for readers: `minute`.
    pub unit: String,
    /// Ticks in a unit of time. Default: chosen from the times of the model.
    pub ticks_per_unit: Option<u32>,
    /// The default end of runs, in units.
    pub until: Option<f64>,
    /// The default end of the warm-up, in units: statistics begin here.
    pub warm_up: Option<f64>,
    /// Experiment factors: constants that change without a new compilation.
    pub parameters: IndexMap<String, Parameter>,
    /// Whether several values of parameters belong together: point i has value i of each. Default:
    /// all combinations.
    pub paired: bool,
    /// Global variables.
    pub variables: IndexMap<String, Variable>,
    /// Resources.
    pub resources: IndexMap<String, Resource>,
    /// Containers.
    pub containers: IndexMap<String, Container>,
    /// Stores.
    pub stores: IndexMap<String, Store>,
    /// Signals.
    pub signals: IndexMap<String, Signal>,
    /// Entities, with their sources and processes.
    pub entities: IndexMap<String, Entity>,
    /// Units of resources that change by time, by the name of the resource.
    pub schedules: IndexMap<String, Schedule>,
    /// Costs of resources, by the name of the resource.
    pub costs: IndexMap<String, Cost>,
    /// What is reported of tallies besides their means, by the name of the tally.
    pub tallies: IndexMap<String, Tally>,
    /// Whether all tallies and levels have histograms, from which quantiles follow. Of tallies
    /// without a width of their own, the first bins are a tick, 1 or 1/16 wide.
    pub quantiles: bool,
    /// The most notes of a run that are kept: 0 in studies.
    pub notes: u32,
}

/// What a resource costs: numbers and parameters only, none by default.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Cost {
    /// For each unit in use and each unit of time.
    pub busy: Option<Expression>,
    /// For each unit that is not in use and each unit of time.
    pub idle: Option<Expression>,
    /// For each time that it is seized, of any number of units.
    pub each_use: Option<Expression>,
    /// Where it is written.
    pub place: Place,
}

/// What is reported of a tally besides its mean, its range and its deviation.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Tally {
    /// Bounds, with their texts in the names of measures: the share of observations up to each.
    /// Numbers and parameters only.
    pub up_to: Vec<(String, Expression)>,
    /// The width of the first bins of a histogram, from which quantiles follow: numbers and
    /// parameters only. From 16 bins on, a bin is 1/16 as wide as its least observation, or less.
    pub histogram: Option<Expression>,
    /// Where it is written.
    pub place: Place,
}

/// Units of a resource that change by time: one period after the other, repeated for ever. They
/// replace [`Resource::units`].
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Schedule {
    /// At least one period.
    pub periods: Vec<Period>,
    /// Whether interruptible times end when there are fewer units than are held.
    pub preempts: bool,
    /// Where it is written.
    pub place: Place,
}

/// A period of a [`Schedule`].
#[derive(Debug, Clone, PartialEq)]
pub struct Period {
    /// Its length, in units.
    pub lasts: f64,
    /// The units, 0 to 65,535: numbers and parameters only.
    pub units: Expression,
}

/// Where something is written. A builder counts its calls; a file has lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Place {
    /// The line of the file, from 1; 0 if there is no file.
    pub line: u32,
}

/// An experiment factor: a constant with one or several values.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameter {
    /// Its kind. A time is in units.
    pub kind: Kind,
    /// Its values, at least one.
    pub values: Vec<f64>,
    /// Where it is written.
    pub place: Place,
}

/// The kind of a value. All arithmetic is in integers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Kind {
    /// A whole number of 32 bits with a sign.
    #[default]
    Integer,
    /// A time in ticks, 64 bits without a sign: a point in time or a span.
    Time,
    /// A number of 64 bits with a sign, in steps of 2^-24.
    Real,
    /// A truth value, only in conditions.
    Condition,
}

/// A global variable, or an attribute of an entity.
#[derive(Debug, Clone, PartialEq)]
pub struct Variable {
    /// Its kind: not [`Kind::Condition`].
    pub kind: Kind,
    /// Its value at first: drawn for each entity if it is an attribute. Default: zero.
    pub value: Option<Value>,
    /// Whether a global integer has a time average.
    pub level: bool,
    /// Whether the time with each value of a level is kept, from which quantiles follow.
    pub histogram: bool,
    /// Where it is written.
    pub place: Place,
}

impl Tally {
    /// The name of the share of the observations of a tally up to a bound.
    pub fn share(name: &str, bound: &str) -> String {
        format!("share({name} <= {bound})")
    }
}

/// Who in a line is next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Order {
    /// First come, first served.
    #[default]
    Fifo,
    /// The smallest priority; first come, first served among equals.
    Priority,
    /// The same, and only for resources: a smaller priority takes a unit from a larger one, while
    /// that lets the time of an [`Action::Use`] pass.
    Preempt,
}

/// Units that entities hold.
#[derive(Debug, Clone, PartialEq)]
pub struct Resource {
    /// Its units, 1 to 65,535: numbers and parameters only.
    pub units: Expression,
    /// The order of its line.
    pub order: Order,
    /// Where it is written.
    pub place: Place,
}

/// A quantity in whole units, which entities put in and get out.
#[derive(Debug, Clone, PartialEq)]
pub struct Container {
    /// The most it holds. Default: 2^31 - 1.
    pub capacity: Option<Expression>,
    /// What it holds at first.
    pub level: Option<Expression>,
    /// The order of both of its lines.
    pub order: Order,
    /// Where it is written.
    pub place: Place,
}

/// A place where entities rest until others take them.
#[derive(Debug, Clone, PartialEq)]
pub struct Store {
    /// How many rest there at most. Default: no bound.
    pub capacity: Option<Expression>,
    /// Which entity is taken first.
    pub order: Order,
    /// Where it is written.
    pub place: Place,
}

/// What entities wait for and others send.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Signal {
    /// Where it is written.
    pub place: Place,
}

/// A type of entities: how they enter, what they carry, and what they do.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Entity {
    /// When they enter. An entity without sources is spawned by others.
    pub sources: Vec<Source>,
    /// Attributes by name.
    pub attributes: IndexMap<String, Variable>,
    /// Its process.
    pub statements: Vec<Statement>,
    /// Named blocks: where [`Action::Go`] leads. After its last statement an entity ends.
    pub blocks: IndexMap<String, Vec<Statement>>,
    /// Where it is written.
    pub place: Place,
}

/// Lets entities enter.
#[derive(Debug, Clone, PartialEq)]
pub struct Source {
    /// When.
    pub times: Arrivals,
    /// How many enter at a time, at least 1.
    pub batch: Expression,
    /// No more enter than these. Default: no bound.
    pub most: Option<Expression>,
    /// Where it is written.
    pub place: Place,
}

/// When entities enter.
#[derive(Debug, Clone, PartialEq)]
pub enum Arrivals {
    /// The time before the first entry, and between two.
    Every(Value),
    /// A Poisson process whose rate changes: the rate in entries per unit, one period after the
    /// other, repeated for ever.
    Rates(Vec<Rate>),
    /// Entries at these times, in units, in order; and attributes by name, one value for each time.
    Trace {
        /// The times.
        times: Vec<f64>,
        /// Values of attributes.
        attributes: IndexMap<String, Vec<f64>>,
    },
    /// All at time zero.
    Start,
}

/// A period of a changing rate.
#[derive(Debug, Clone, PartialEq)]
pub struct Rate {
    /// Its length, in units.
    pub lasts: f64,
    /// Entries per unit: numbers and parameters only.
    pub rate: Expression,
}

/// A value that an entity computes or draws.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// Computed.
    Expression(Expression),
    /// A time, drawn from a distribution.
    Law(Law),
    /// One of several whole numbers, each with its probability: numbers and parameters only.
    Choice(Vec<(i32, Expression)>),
}

/// A distribution, from the table ([`Distribution`](crate::facility::Distribution)) with
/// its arguments in units of time. Names are parameters.
#[derive(Debug, Clone, PartialEq)]
pub struct Law {
    /// Its name in the table: `exponential`.
    pub name: String,
    /// Its arguments as they are written.
    pub arguments: Arguments,
}

/// The arguments of a distribution.
#[derive(Debug, Clone, PartialEq)]
pub enum Arguments {
    /// A number, or an expression of parameters.
    One(Expression),
    /// A list: `uniform = [1, 3]`.
    List(Vec<Expression>),
    /// By name: `erlang = { stages = 3, mean = 2 }`.
    Named(IndexMap<String, Expression>),
    /// The whole distribution, of data or of other distributions, without parameters.
    Whole(crate::facility::Distribution),
}

/// A statement with its place.
#[derive(Debug, Clone, PartialEq)]
pub struct Statement {
    /// What it does.
    pub action: Action,
    /// Names its random streams. Default: its action and subject, and how many such the entity has
    /// before.
    pub label: Option<String>,
    /// Where it is written.
    pub place: Place,
}

/// Units of a resource.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// The resource.
    pub resource: String,
    /// How many, at least 1.
    pub units: Expression,
}

/// How an entity waits.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Waiting {
    /// Its priority in a line ordered by priority; smaller is sooner. Default: 0.
    pub priority: Option<Expression>,
    /// When it gives up. Default: never.
    pub patience: Option<Patience>,
    /// The tally of times waited, zero included.
    pub tally: Option<String>,
    /// What an [`Action::Use`] does when its unit is taken ([`Order::Preempt`]).
    pub preempted: Preempted,
    /// What an [`Action::Use`] does behind its time, before it releases. It cannot be preempted
    /// meanwhile.
    pub then: Vec<Statement>,
}

/// What an entity does whose unit was taken while it let the time of an [`Action::Use`] pass. It no
/// longer holds the unit.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Preempted {
    /// Waits for a unit again, and uses it for the rest of the time.
    #[default]
    Resume,
    /// Waits, and uses it for the same time from the beginning.
    Repeat,
    /// Waits, and uses it for a time that is drawn or computed anew.
    Restart,
    /// Executes these statements instead, and continues behind the statement.
    Lose(Vec<Statement>),
}

/// How a resource is selected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Policy {
    /// The fewest entities in line and units in use; the first among equals.
    Shortest,
    /// The most free units; the first among equals.
    MostFree,
    /// One after the other, for all entities that pass the statement.
    InTurn,
    /// Each with the same probability.
    Random,
}

/// What [`Action::WaitAny`] waits for.
#[derive(Debug, Clone, PartialEq)]
pub enum Awaited {
    /// The next sending of a signal.
    Signal(String),
    /// A condition.
    Until(Expression),
}

/// When an entity gives up waiting, and what it does then.
#[derive(Debug, Clone, PartialEq)]
pub struct Patience {
    /// Whether it has a bound at all, seen when it begins to wait. Default: yes.
    pub when: Option<Expression>,
    /// How long it waits.
    pub time: Value,
    /// What it does then.
    pub otherwise: Vec<Statement>,
    /// Whether it continues behind the statement afterwards; else it ends.
    pub continues: bool,
}

/// What a statement does.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Action {
    /// Lets time pass.
    Delay(Value),
    /// Takes units of resources, one resource after the other.
    Seize {
        /// What it takes, in this order.
        requests: Vec<Request>,
        /// How it waits, for each of them.
        waiting: Waiting,
    },
    /// Gives units back.
    Release {
        /// What it gives back, in this order.
        requests: Vec<Request>,
    },
    /// Seizes, executes `body`, lets `time` pass and releases in the opposite order.
    Use {
        /// What it takes, in this order.
        requests: Vec<Request>,
        /// How it waits.
        waiting: Waiting,
        /// What it does with them.
        body: Vec<Statement>,
        /// How long it keeps them after that.
        time: Option<Value>,
    },
    /// Puts an amount into a container; waits until there is room.
    Put {
        /// The container.
        container: String,
        /// How much.
        amount: Expression,
        /// How it waits.
        waiting: Waiting,
    },
    /// Gets an amount out of a container; waits until there is enough.
    Get {
        /// The container.
        container: String,
        /// How much.
        amount: Expression,
        /// How it waits.
        waiting: Waiting,
    },
    /// Rests in a store until it is taken; waits outside until there is room.
    Give {
        /// The store.
        store: String,
        /// How it waits, outside and inside.
        waiting: Waiting,
    },
    /// Takes an entity out of a store; waits until there is one.
    Take {
        /// The store.
        store: String,
        /// Attributes of this entity, and the attributes of the taken one that they become.
        into: Vec<(String, String)>,
        /// How it waits.
        waiting: Waiting,
    },
    /// Waits for the next sending of a signal.
    Wait {
        /// The signal.
        signal: String,
        /// How it waits.
        waiting: Waiting,
    },
    /// Waits until a condition holds; if it holds now, not at all.
    WaitUntil {
        /// The condition. It does not depend on the time.
        condition: Expression,
        /// How it waits.
        waiting: Waiting,
    },
    /// Waits until the first of several, and executes its block.
    WaitAny {
        /// What it waits for. If several hold, the first is taken.
        arms: Vec<(Awaited, Vec<Statement>)>,
        /// How it waits.
        waiting: Waiting,
    },
    /// Changes the units of a resource.
    Resize {
        /// The resource.
        resource: String,
        /// Its units, 0 to 65,535. Units that are held are kept.
        units: Expression,
    },
    /// Chooses one of several resources, which has the name [`SELECTED`] in `body`.
    Select {
        /// The resources, at least one.
        among: Vec<String>,
        /// How it chooses, once.
        by: Policy,
        /// What it does.
        body: Vec<Statement>,
    },
    /// Waits until this many entities are at the statement. The last one executes `body`, then all
    /// continue behind it, the last one first. If the batch is permanent, the others end instead,
    /// at the time at which they are together.
    Batch {
        /// How many, 1 to 65,534: numbers and parameters only.
        size: Expression,
        /// What the last one does. It does not leave the block.
        body: Vec<Statement>,
        /// Whether the others end.
        permanent: bool,
        /// How the others wait: patience counts until they are together.
        waiting: Waiting,
    },
    /// Executes `body`, until it is interrupted at a wait in it: then `handler`.
    Interruptible {
        /// What it does.
        body: Vec<Statement>,
        /// What it does when it is interrupted. An [`Action::Use`] in `body` released before.
        handler: Vec<Statement>,
    },
    /// Interrupts an entity that waits in an [`Action::Interruptible`].
    Interrupt {
        /// Its type.
        entity: String,
        /// Its number.
        number: Expression,
    },
    /// Sends a signal to all that wait for it.
    Send {
        /// The signal.
        signal: String,
    },
    /// Starts entities.
    Spawn {
        /// Their type.
        entity: String,
        /// How many; none if below 1.
        count: Expression,
        /// Values of their attributes, computed by this entity.
        set: Vec<(String, Expression)>,
        /// Whether [`Action::Join`] waits for them.
        joined: bool,
    },
    /// Starts copies of this entity, with its attributes. They execute `body`, and end.
    Clone {
        /// How many; none if below 1.
        count: Expression,
        /// What they do.
        body: Vec<Statement>,
        /// Whether [`Action::Join`] waits for them.
        joined: bool,
    },
    /// Waits until all entities that it started with `joined` have ended.
    Join,
    /// The first block whose condition holds.
    If {
        /// Conditions with their blocks.
        arms: Vec<(Expression, Vec<Statement>)>,
        /// The block if no condition holds.
        otherwise: Vec<Statement>,
    },
    /// A random block: each with its probability, `otherwise` with the remaining one.
    With {
        /// Probabilities, of numbers and parameters only, with their blocks.
        arms: Vec<(Expression, Vec<Statement>)>,
        /// The remaining block.
        otherwise: Vec<Statement>,
    },
    /// Repeats while a condition holds.
    While {
        /// The condition.
        condition: Expression,
        /// The block.
        body: Vec<Statement>,
    },
    /// Repeats a number of times, computed once; for ever without one.
    Repeat {
        /// How often; not at all if below 1.
        count: Option<Expression>,
        /// The block.
        body: Vec<Statement>,
    },
    /// Sets an attribute or a variable.
    Set {
        /// Its name.
        name: String,
        /// Its value.
        value: Value,
    },
    /// Adds an observation to a tally.
    Tally {
        /// The tally.
        name: String,
        /// The observation. Default: the entity's age.
        value: Option<Expression>,
    },
    /// Adds to a counter.
    Count {
        /// The counter.
        name: String,
        /// How much, at least 0. Default: 1.
        by: Option<Expression>,
    },
    /// Writes a line of traces, and does nothing in studies.
    Note {
        /// What it says.
        name: String,
        /// An integer that is written with it. Default: 0.
        value: Option<Expression>,
    },
    /// Continues at the beginning of a named block of the entity.
    Go {
        /// The block.
        block: String,
    },
    /// Ends.
    End,
}

/// The name of the resource that [`Action::Select`] chose.
pub const SELECTED: &str = "selected";
