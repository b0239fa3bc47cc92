//! Process models in Rust: the calls write what TOML says, and the same reader reads it.
//!
//! A statement is a [`Part`]: a function begins it, and its methods add keys. What is a word of
//! Rust has another name: `use` is [`hold`], `if` is [`branch`], `with` is [`chance`], `while` is
//! [`repeat_while`], `for` is [`Part::lasting`], `do` is [`Part::does`], `else` is
//! [`Part::otherwise`]. Texts are expressions. Errors name the line of the call.
//!
//! ```
//! use eventhorizon::facility::Distribution::{Exponential, Triangular};
//! use eventhorizon::process::build::*;
//!
//! let patient = every(Exponential(7.0))
//!     .attribute("level", choice([(1, 0.2), (2, 0.8)]))
//!     .does([
//!         hold("nurse").lasting(Triangular([3.0, 5.0, 9.0])),
//!         seize("bed").priority("level").patience(time(120).when("level == 2").otherwise("left")),
//!         delay(Exponential(30.0)),
//!         release("bed"),
//!         tally("stay"),
//!     ])
//!     .block("left", [tally("left")]);
//! let model = ModelBuilder::new("emergency")
//!     .until(1000)
//!     .resource("nurse", 2)
//!     .resource("bed", units(4).queue("priority"))
//!     .entity("patient", patient)
//!     .build()?;
//! assert_eq!(model.resources.len(), 2);
//! # Ok::<(), eventhorizon::process::ProcessError>(())
//! ```

#[cfg(test)]
mod tests;

use std::panic::Location;

use super::error::ProcessError;
use super::ir::{Place, ProcessModel};
use super::text::tree::{Node, Table, Tree};
use super::text::{Traces, model};
use crate::facility::Distribution;

/// A value: a number, a text with an expression or a name, a distribution, a part, or a list.
#[derive(Debug, Clone)]
pub struct Given(Node);

impl From<f64> for Given {
    fn from(number: f64) -> Self {
        Self::of(Tree::Number(number))
    }
}

impl From<i32> for Given {
    fn from(number: i32) -> Self {
        Self::of(Tree::Number(number.into()))
    }
}

impl From<bool> for Given {
    fn from(truth: bool) -> Self {
        Self::of(Tree::Truth(truth))
    }
}

impl From<&str> for Given {
    fn from(text: &str) -> Self {
        Self::of(Tree::Text(text.to_owned()))
    }
}

impl From<String> for Given {
    fn from(text: String) -> Self {
        Self::of(Tree::Text(text))
    }
}

impl From<Part> for Given {
    fn from(part: Part) -> Self {
        Self(Node { place: part.place, value: Tree::Table(part.keys) })
    }
}

impl From<Distribution> for Given {
    fn from(distribution: Distribution) -> Self {
        let written = serde_json::to_value(distribution).expect("a distribution is names and numbers");
        Self(node_of(&written))
    }
}

impl<T: Into<Given>, const N: usize> From<[T; N]> for Given {
    fn from(list: [T; N]) -> Self {
        Self::from(Vec::from(list))
    }
}

impl<T: Into<Given>> From<Vec<T>> for Given {
    fn from(list: Vec<T>) -> Self {
        Self::of(Tree::List(list.into_iter().map(|value| value.into().0).collect()))
    }
}

impl Given {
    fn of(value: Tree) -> Self {
        Self(Node { place: Place::default(), value })
    }

    /// The value at a place, which parts of it have unless they have their own.
    fn at(self, place: Place) -> Node {
        let mut node = self.0;
        fill(&mut node, place);
        node
    }
}

fn fill(node: &mut Node, place: Place) {
    if node.place == Place::default() {
        node.place = place;
    }
    let place = node.place;
    match &mut node.value {
        Tree::List(list) => list.iter_mut().for_each(|node| fill(node, place)),
        Tree::Table(table) => table.values_mut().for_each(|node| fill(node, place)),
        Tree::Number(_) | Tree::Text(_) | Tree::Truth(_) => {}
    }
}

/// The line of the caller.
#[track_caller]
fn here() -> Place {
    Place { line: Location::caller().line() }
}

fn node_of(written: &serde_json::Value) -> Node {
    let value = match written {
        serde_json::Value::Object(table) => {
            Tree::Table(table.iter().map(|(key, value)| (key.clone(), node_of(value))).collect())
        }
        serde_json::Value::Array(list) => Tree::List(list.iter().map(node_of).collect()),
        serde_json::Value::Bool(truth) => Tree::Truth(*truth),
        serde_json::Value::String(text) => Tree::Text(text.clone()),
        other => Tree::Number(other.as_f64().unwrap_or(f64::NAN)),
    };
    Given::of(value).0
}

/// A statement, or another table of the language: keys and values.
#[derive(Debug, Clone)]
#[must_use = "it does nothing until it is added to a model"]
pub struct Part {
    place: Place,
    keys: Table,
}

/// Functions that begin a part with a key.
macro_rules! begins {
    ($($(#[$doc:meta])* $name:ident $key:literal)*) => { $(
        $(#[$doc])*
        #[track_caller]
        pub fn $name(value: impl Into<Given>) -> Part {
            empty().key($key, value)
        }
    )* };
}

/// Methods that add a key.
macro_rules! keys {
    ($($(#[$doc:meta])* $name:ident $key:literal)*) => { $(
        $(#[$doc])*
        #[track_caller]
        pub fn $name(self, value: impl Into<Given>) -> Self {
            self.key($key, value)
        }
    )* };
}

begins! {
    /// `delay`: lets time pass.
    delay "delay"
    /// `seize`: takes units of a resource, or of several in [`pairs`].
    seize "seize"
    /// `release`: gives units back.
    release "release"
    /// `use`: seizes, executes [`does`](Part::does), lets [`lasting`](Part::lasting) pass, and
    /// releases.
    hold "use"
    /// `put`: puts an [`amount`](Part::amount) into a container.
    put "put"
    /// `get`: gets an [`amount`](Part::amount) out of a container.
    get "get"
    /// `give`: rests in a store until it is taken.
    give "give"
    /// `take`: takes an entity out of a store.
    take "take"
    /// `wait`: waits for the next sending of a signal.
    wait "wait"
    /// `wait_until`: waits until a condition holds.
    wait_until "wait_until"
    /// `wait_any`: waits until the first of [`signal`] and [`until`] parts.
    wait_any "wait_any"
    /// `batch`: waits until as many are together; the last one executes what it
    /// [`does`](Part::does).
    batch "batch"
    /// `note`: writes a line of traces, with a [`value`](Part::value).
    note "note"
    /// `clone`: starts as many copies of the entity, which execute what it [`does`](Part::does).
    copies "clone"
    /// A branch of [`wait_any`]: a signal, and what it [`does`](Part::does).
    signal "signal"
    /// A branch of [`wait_any`]: a condition, and what it [`does`](Part::does).
    until "until"
    /// `send`: sends a signal to all that wait for it.
    send "send"
    /// `spawn`: starts entities.
    spawn "spawn"
    /// `tally`: an observation; the entity's age by default.
    tally "tally"
    /// `count`: adds to a counter.
    count "count"
    /// `go`: continues in a named block.
    go "go"
    /// `forever`: repeats a block.
    forever "forever"
    /// `with` a list of branches, each by [`share`].
    chances "with"
    /// `every`: an entity that enters at these intervals; or its source.
    every "every"
    /// `rates`: an entity that enters by a Poisson process with these [`period`]s; or its source.
    rates "rates"
    /// `times`: an entity that enters at these times; or its source.
    times "times"
    /// `at_start`: an entity of which as many enter at time zero; or its source.
    at_start "at_start"
    /// `units` of a resource.
    units "units"
    /// `schedule` of a resource: pairs of times and units.
    schedule "schedule"
    /// `capacity` of a container or a store.
    capacity "capacity"
    /// `up_to`: bounds of a tally, of which the shares of observations are reported.
    up_to "up_to"
    /// `histogram`: the width of the first bins of a tally, of which quantiles are reported; of a
    /// variable with `level`, whether the time with each value is.
    histogram "histogram"
    /// `value` of a variable or an attribute.
    value "value"
    /// `kind` of a variable or an attribute: `integer`, `time` or `real`.
    kind "kind"
    /// `time` of a patience; or a parameter that is a time.
    time "time"
    /// A parameter that is a `real`.
    real "real"
}

/// A part without keys: an entity that others spawn, or a store without a bound.
#[track_caller]
pub fn empty() -> Part {
    Part { place: here(), keys: Table::new() }
}

/// `resize`: changes the units of a resource.
#[track_caller]
pub fn resize(resource: &str, units: impl Into<Given>) -> Part {
    empty().key("resize", resource).key("units", units)
}

/// `select`: chooses one of several resources by a policy, which is `selected` in the block.
#[track_caller]
pub fn select(among: impl Into<Given>, by: &str, block: impl Into<Given>) -> Part {
    empty().key("select", among).key("by", by).key("do", block)
}

/// `interrupted`: a block that can be interrupted where it waits, and what is done then.
#[track_caller]
pub fn interruptible(block: impl Into<Given>, interrupted: impl Into<Given>) -> Part {
    empty().key("do", block).key("interrupted", interrupted)
}

/// `interrupt`: interrupts the entity of a type with a number.
#[track_caller]
pub fn interrupt(entity: &str, number: impl Into<Given>) -> Part {
    empty().key("interrupt", entity).key("number", number)
}

/// `set`: sets an attribute or a variable.
#[track_caller]
pub fn set(name: &str, value: impl Into<Given>) -> Part {
    empty().key("set", name).key("to", value)
}

/// `if`: a block if a condition holds. [`Part::elif`] and [`Part::otherwise`] add others.
#[track_caller]
pub fn branch(condition: &str, block: impl Into<Given>) -> Part {
    empty().key("if", condition).key("do", block)
}

/// `with`: a block with a probability.
#[track_caller]
pub fn chance(probability: impl Into<Given>, block: impl Into<Given>) -> Part {
    empty().key("with", probability).key("do", block)
}

/// A branch of [`chances`].
#[track_caller]
pub fn share(probability: impl Into<Given>, block: impl Into<Given>) -> Part {
    empty().key("p", probability).key("do", block)
}

/// `while`: repeats a block while a condition holds.
#[track_caller]
pub fn repeat_while(condition: &str, block: impl Into<Given>) -> Part {
    empty().key("while", condition).key("do", block)
}

/// `repeat`: repeats a block a number of times.
#[track_caller]
pub fn repeat(times: impl Into<Given>, block: impl Into<Given>) -> Part {
    empty().key("repeat", times).key("do", block)
}

/// `join`: waits until all entities that it started with [`joined`](Part::joined) have ended.
#[track_caller]
pub fn join() -> Part {
    empty().key("join", true)
}

/// `end`: ends.
#[track_caller]
pub fn end() -> Part {
    empty().key("end", true)
}

/// A period of [`rates`]: its length, and entries per unit.
#[track_caller]
pub fn period(lasts: impl Into<Given>, rate: impl Into<Given>) -> Part {
    empty().key("lasts", lasts).key("rate", rate)
}

/// A choice of whole numbers with their probabilities.
#[track_caller]
pub fn choice<P: Into<Given>>(values: impl IntoIterator<Item = (i32, P)>) -> Part {
    empty().key("choice", pairs(values.into_iter().map(|(value, p)| (value.to_string(), p))))
}

/// A distribution with arguments that are parameters: `drawn("exponential", "mean")`.
#[track_caller]
pub fn drawn(name: &str, arguments: impl Into<Given>) -> Part {
    empty().key(name, arguments)
}

/// Names with values: `seize(pairs([("berth", 1), ("tug", 2)]))`.
#[track_caller]
pub fn pairs<N: Into<String>, V: Into<Given>>(all: impl IntoIterator<Item = (N, V)>) -> Part {
    let place = here();
    let keys = all.into_iter().map(|(name, value)| (name.into(), value.into().at(place))).collect();
    Part { place, keys }
}

impl Part {
    #[track_caller]
    fn key(mut self, key: &str, value: impl Into<Given>) -> Self {
        let place = here();
        self.keys.insert(key.to_owned(), value.into().at(place));
        self
    }

    keys! {
        /// `for`: how long `use` keeps its resources.
        lasting "for"
        /// `do`: the statements of an entity, or those of `use` while it holds its resources.
        does "do"
        /// `then`: what `use` does behind its time, before it releases.
        then "then"
        /// `units` that are taken or given back.
        units "units"
        /// `amount` that is put or got.
        amount "amount"
        /// `priority` in the line; smaller is sooner.
        priority "priority"
        /// `patience`: a time, or a [`time`] with conditions.
        patience "patience"
        /// `tally` of times waited.
        tally "tally"
        /// `when` there is a patience.
        when "when"
        /// `else`: the other block, or its name.
        otherwise "else"
        /// `elif`: a list of other [`branch`]es.
        elif "elif"
        /// `value` of an observation, of a note, or of a variable.
        value "value"
        /// `by`: how much is counted.
        by "by"
        /// `count` of spawned entities.
        count "count"
        /// `set`: attributes of spawned entities, in [`pairs`].
        set "set"
        /// `into`: attributes, and those of the taken entity that they become, in [`pairs`].
        into_attributes "into"
        /// `label`: the name of the statement's random numbers.
        label "label"
        /// `preempted`: what `use` does when its unit is taken.
        preempted "preempted"
        /// `shift` of a [`schedule`]: `preempt` ends interruptible times.
        shift "shift"
        /// `cost` of a resource: `busy`, `idle` and `use` in [`pairs`].
        cost "cost"
        /// `queue`: the order of a line, `fifo`, `priority` or `preempt`.
        queue "queue"
        /// `level` of a container at first; of a variable, whether it has a time average.
        level "level"
        /// `kind` of a variable: `integer`, `time` or `real`.
        kind "kind"
        /// `batch`: how many enter at a time.
        batch "batch"
        /// `most`: no more enter than these.
        most "most"
        /// `source`: a list of further sources.
        sources "source"
    }

    /// `continue`: continues behind the statement when the patience has ended.
    #[track_caller]
    pub fn continues(self) -> Self {
        self.key("continue", true)
    }

    /// `permanent`: the others of a [`batch`] end when it is complete.
    #[track_caller]
    pub fn permanent(self) -> Self {
        self.key("permanent", true)
    }

    /// `join`: the spawned entities are waited for by [`join`].
    #[track_caller]
    pub fn joined(self) -> Self {
        self.key("join", true)
    }

    /// An attribute of an entity: a value, or a [`kind`].
    #[track_caller]
    pub fn attribute(mut self, name: &str, value: impl Into<Given>) -> Self {
        let place = here();
        let entry = self.keys.entry("attributes".to_owned());
        let node = entry.or_insert_with(|| Node { place, value: Tree::Table(Table::new()) });
        if let Tree::Table(table) = &mut node.value {
            table.insert(name.to_owned(), value.into().at(place));
        }
        self
    }

    /// A named block of an entity.
    #[track_caller]
    pub fn block(self, name: &str, statements: impl Into<Given>) -> Self {
        self.key(name, statements)
    }
}

/// A process model to be.
#[derive(Debug, Clone)]
#[must_use = "`build` makes the model"]
pub struct ModelBuilder {
    root: Table,
    /// The first name that was given twice.
    repeated: Option<(Place, String)>,
}

impl ModelBuilder {
    /// A model without entities.
    #[track_caller]
    pub fn new(name: &str) -> Self {
        Self { root: Table::new(), repeated: None }.key("name", name)
    }

    #[track_caller]
    fn key(mut self, key: &str, value: impl Into<Given>) -> Self {
        self.root.insert(key.to_owned(), value.into().at(here()));
        self
    }

    #[track_caller]
    fn named(mut self, table: &str, name: &str, value: impl Into<Given>) -> Self {
        let place = here();
        let entry = self.root.entry(table.to_owned());
        let node = entry.or_insert_with(|| Node { place, value: Tree::Table(Table::new()) });
        if let Tree::Table(table) = &mut node.value
            && table.insert(name.to_owned(), value.into().at(place)).is_some()
        {
            self.repeated.get_or_insert((place, name.to_owned()));
        }
        self
    }

    keys! {
        /// `about`: a description for readers.
        about "about"
        /// `unit` of time, for readers.
        unit "unit"
        /// `until`: the end of runs, in units.
        until "until"
        /// `warm_up`: statistics begin here, in units.
        warm_up "warm_up"
        /// `ticks_per_unit`: ticks in a unit of time.
        ticks_per_unit "ticks_per_unit"
    }

    /// An experiment factor: a number, a list of numbers, a [`time`] or a [`real`].
    #[track_caller]
    pub fn parameter(self, name: &str, values: impl Into<Given>) -> Self {
        self.named("parameters", name, values)
    }

    /// A resource: its units, or [`units`] with a [`queue`](Part::queue).
    #[track_caller]
    pub fn resource(self, name: &str, units: impl Into<Given>) -> Self {
        self.named("resource", name, units)
    }

    /// A container with its [`capacity`].
    #[track_caller]
    pub fn container(self, name: &str, container: Part) -> Self {
        self.named("container", name, container)
    }

    /// A store with its [`capacity`], or [`empty`].
    #[track_caller]
    pub fn store(self, name: &str, store: Part) -> Self {
        self.named("store", name, store)
    }

    /// A signal.
    #[track_caller]
    pub fn signal(self, name: &str) -> Self {
        self.named("signal", name, empty())
    }

    /// What is reported of a tally besides its mean: the shares of observations up to bounds, with
    /// [`up_to`], and quantiles, with [`histogram`].
    #[track_caller]
    pub fn tally(self, name: &str, tally: Part) -> Self {
        self.named("tally", name, tally)
    }

    /// A global variable: its [`value`] or its [`kind`].
    #[track_caller]
    pub fn variable(self, name: &str, variable: impl Into<Given>) -> Self {
        self.named("variable", name, variable)
    }

    /// An entity: [`every`], [`rates`], [`times`], [`at_start`] or [`empty`], with what it
    /// [`does`](Part::does).
    #[track_caller]
    pub fn entity(self, name: &str, entity: Part) -> Self {
        self.named("entity", name, entity)
    }

    /// The model.
    ///
    /// # Errors
    /// [`ProcessError`], with the line of the call.
    pub fn build(self) -> Result<ProcessModel, ProcessError> {
        if let Some((place, name)) = self.repeated {
            return Err(ProcessError::Repeated { place, name, other: "another of the same table" });
        }
        model(&Node { place: Place::default(), value: Tree::Table(self.root) }, &Traces::default())
    }
}
