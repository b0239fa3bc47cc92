//! The names of statements and of their random streams, and variates of the table of distributions.

use std::collections::BTreeMap;

use eventhorizon::process::ir::{Action, Arguments, Expression, Law, ProcessModel, Request, Statement};
use eventhorizon::process::program::DRAWN_HASH;
use eventhorizon::random::{Stream, lognormal_spread, mix, probability, weibull_power};
use eventhorizon::time::{Resolution, Ticks};

use super::values::constant;
use crate::walk;

/// The text of a statement: its action and its subject.
pub fn text(action: &Action) -> String {
    let all = |requests: &[Request]| {
        requests.iter().map(|request| request.resource.clone()).collect::<Vec<_>>().join(", ")
    };
    match action {
        Action::Delay(_) => "delay".to_owned(),
        Action::Seize { requests, .. } => format!("seize {}", all(requests)),
        Action::Release { requests } => format!("release {}", all(requests)),
        Action::Use { requests, .. } => format!("use {}", all(requests)),
        Action::Put { container, .. } => format!("put {container}"),
        Action::Get { container, .. } => format!("get {container}"),
        Action::Give { store, .. } => format!("give {store}"),
        Action::Take { store, .. } => format!("take {store}"),
        Action::Wait { signal, .. } => format!("wait {signal}"),
        Action::WaitUntil { .. } => "wait_until".to_owned(),
        Action::WaitAny { .. } => "wait_any".to_owned(),
        Action::Resize { resource, .. } => format!("resize {resource}"),
        Action::Select { among, .. } => format!("select {}", among.join(", ")),
        Action::Interruptible { .. } => "do".to_owned(),
        Action::Interrupt { entity, .. } => format!("interrupt {entity}"),
        Action::Batch { .. } => "batch".to_owned(),
        Action::Send { signal } => format!("send {signal}"),
        Action::Spawn { entity, .. } => format!("spawn {entity}"),
        Action::Join => "join".to_owned(),
        Action::If { .. } => "if".to_owned(),
        Action::With { .. } => "with".to_owned(),
        Action::While { .. } => "while".to_owned(),
        Action::Repeat { .. } => "repeat".to_owned(),
        Action::Set { name, .. } => format!("set {name}"),
        Action::Tally { name, .. } => format!("tally {name}"),
        Action::Count { name, .. } => format!("count {name}"),
        Action::Note { name, .. } => format!("note {name}"),
        Action::Go { block } => format!("go {block}"),
        Action::End => "end".to_owned(),
        other => panic!("teach the interpreter this statement: {other:?}"),
    }
}

/// A statement where lines are kept: in the block of a `select` it is another for each choice.
pub struct Spot<'m> {
    pub statement: &'m Statement,
    choices: Vec<usize>,
}

/// What is known of the statements of a model, by their addresses.
#[derive(Default)]
pub struct Names<'m> {
    /// The names of their streams, without what is drawn.
    keys: BTreeMap<*const Statement, String>,
    /// Those that wait for conditions, in order.
    pub conditions: Vec<Spot<'m>>,
    /// Those where batches are collected.
    pub batches: Vec<Spot<'m>>,
}

impl<'m> Names<'m> {
    pub fn of(model: &'m ProcessModel) -> Self {
        let mut names = Self::default();
        for (entity, of) in &model.entities {
            let mut seen = BTreeMap::new();
            names.block(entity, &of.statements, &mut seen, &[]);
            of.blocks.values().for_each(|block| names.block(entity, block, &mut seen, &[]));
        }
        names
    }

    fn block(
        &mut self,
        entity: &str,
        block: &'m [Statement],
        seen: &mut BTreeMap<String, u32>,
        choices: &[usize],
    ) {
        for statement in block {
            let text = text(&statement.action);
            let name = match &statement.label {
                Some(label) => label.clone(),
                None => {
                    let count = seen.entry(text.clone()).or_default();
                    *count += 1;
                    format!("{text}#{count}")
                }
            };
            self.keys.insert(statement, format!("{entity}/{name}"));
            let spot = Spot { statement, choices: choices.to_vec() };
            match &statement.action {
                Action::WaitUntil { .. } | Action::WaitAny { .. } => self.conditions.push(spot),
                Action::Batch { .. } => self.batches.push(spot),
                _ => {}
            }
            if let Action::Select { among, body, .. } = &statement.action {
                // All choices have the same names.
                let before = seen.clone();
                for choice in 0..among.len() {
                    seen.clone_from(&before);
                    self.block(entity, body, seen, &[choices, &[choice]].concat());
                }
                continue;
            }
            walk::blocks(&statement.action)
                .into_iter()
                .for_each(|block| self.block(entity, block, seen, choices));
        }
    }

    /// The name of a statement.
    pub fn key(&self, statement: &Statement) -> &str {
        &self.keys[&std::ptr::from_ref(statement)]
    }

    /// The name of a draw of a statement.
    pub fn draw(&self, statement: &Statement, what: &str) -> String {
        format!("{}/{what}", self.key(statement))
    }
}

/// The number of a statement among some, after these choices.
pub fn number_of(all: &[Spot<'_>], statement: &Statement, choices: &[usize]) -> usize {
    let same = |spot: &Spot<'_>| std::ptr::eq(spot.statement, statement) && spot.choices == choices;
    all.iter().position(same).expect("a statement of the model")
}

/// The stream of a draw.
pub fn stream(seed: u64, name: &str, visit: u32, number: u32) -> Stream {
    let hash = mix(DRAWN_HASH, name.bytes().map(u32::from)) >> 32;
    let mut stream = Stream::new(seed, 0, 0);
    stream.named(hash << 32 | u64::from(visit), number);
    stream
}

/// The number of the first probability that a word is below, cumulated; `None` behind the last.
pub fn arm(word: u32, probabilities: impl IntoIterator<Item = f64>) -> Option<usize> {
    let mut sum = 0.0;
    probabilities.into_iter().position(|p| {
        sum += p;
        let whole = if f64::abs(sum - 1.0) < 1e-9 { 1.0 } else { sum };
        let bound = probability(whole).expect("a probability");
        word < bound || bound == u32::MAX
    })
}

/// A time of a distribution.
pub fn variate(
    law: &Law,
    stream: &mut Stream,
    resolution: Resolution,
    parameter: &dyn Fn(&str) -> Option<f64>,
) -> u64 {
    let number = |expression: &Expression| constant(expression, parameter).expect("a constant");
    let ticks = |units: f64| resolution.ticks(units).expect("a time");
    let field = |name: &str| match &law.arguments {
        Arguments::Named(values) => number(&values[name]),
        other => panic!("{other:?} has no {name}"),
    };
    let list: Vec<f64> = match &law.arguments {
        Arguments::One(value) => vec![number(value)],
        Arguments::List(values) => values.iter().map(number).collect(),
        Arguments::Named(_) => Vec::new(),
        Arguments::Whole(whole) => panic!("teach the interpreter this distribution: {whole:?}"),
    };
    let found: Ticks = match &*law.name {
        "constant" => ticks(list[0]),
        "exponential" => stream.exponential(ticks(list[0])),
        "uniform" => stream.uniform(ticks(list[0]), ticks(list[1])),
        "triangular" => stream.triangular(ticks(list[0]), ticks(list[1]), ticks(list[2])),
        "erlang" => {
            let stages = field("stages");
            stream.erlang(stages as u32, ticks(field("mean") / stages))
        }
        "hyperexponential" => {
            let first = probability(field("probability")).expect("a probability");
            stream.hyperexponential(first, ticks(field("first")), ticks(field("second")))
        }
        "normal" => stream.normal(ticks(field("mean")), ticks(field("deviation"))),
        "lognormal" => {
            let (mean, deviation) = (field("mean"), field("deviation"));
            let squared = 1.0 + (deviation / mean).powi(2);
            let spread = lognormal_spread(squared.ln().sqrt()).expect("a spread");
            stream.lognormal(ticks(mean / squared.sqrt()), spread)
        }
        "weibull" => stream.weibull(ticks(field("scale")), weibull_power(field("shape")).expect("a shape")),
        other => panic!("teach the interpreter this distribution: {other}"),
    };
    found.get()
}
