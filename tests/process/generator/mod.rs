//! Random process models that are valid, most of them, and use all of the language. One number
//! makes one model, always the same.

mod expressions;
mod scopes;
mod statements;

use eventhorizon::process::ir::*;
use eventhorizon::process::{ProcessError, lower};
use eventhorizon::random::Stream;
use indexmap::IndexMap;

use crate::compare::Case;
use crate::models::{choice, law};

/// Names of one kind, with a kind of value.
type Typed = Vec<(String, Kind)>;

/// The case with this number.
pub fn case(number: u64) -> Case {
    made(Make::new(number))
}

/// One with fewer statements, which drivers compile in less time.
pub fn small(number: u64) -> Case {
    made(Make { is_small: true, ..Make::new(number) })
}

fn made(mut make: Make) -> Case {
    let number = make.number;
    let mut model = make.model();
    // Types that nothing spawns enter at the start.
    while let Err(ProcessError::NeverEnters { entity, .. }) = lower(&model) {
        let (batch, place) = (1.into(), Place::default());
        model.entities[&entity].sources.push(Source { times: Arrivals::Start, batch, most: None, place });
    }
    let point = model.parameters.values().map(|of| of.values[0]).collect();
    let (until, warm_up) = (make.of(&[20.0, 60.0, 200.0]), make.of(&[0.0, 0.0, 7.0, 30.5]));
    let room = if make.chance(20) { 3 + make.below(20) } else { 400 };
    Case { model, point, seeds: vec![number, !number], warm_up, until, room, most_events: 1500 }
}

/// A model in the making.
struct Make {
    number: u64,
    is_small: bool,
    random: Stream,
    model: ProcessModel,
    parameters: Typed,
    variables: Typed,
    /// The attributes of each type, which exist before its statements.
    attributes: Vec<Typed>,
    /// The type that gives to each store.
    givers: Vec<usize>,
    /// The type whose statements are made, and its blocks.
    entity: usize,
    blocks: Vec<String>,
    /// Resources that are held here, with the units that were seized.
    held: Vec<(String, Expression)>,
    /// The resources of the `select` around it.
    selected: Vec<String>,
    /// Whether it is in the block of a batch, which nothing leaves, and in one that can be
    /// interrupted.
    is_confined: bool,
    is_interruptible: bool,
    /// Statements that may still be made.
    budget: u32,
    line: u32,
    labels: u32,
}

impl Make {
    fn new(number: u64) -> Self {
        Self {
            number,
            is_small: false,
            random: Stream::new(number, 57, 0),
            model: ProcessModel::default(),
            parameters: Vec::new(),
            variables: Vec::new(),
            attributes: Vec::new(),
            givers: Vec::new(),
            entity: 0,
            blocks: Vec::new(),
            held: Vec::new(),
            selected: Vec::new(),
            is_confined: false,
            is_interruptible: false,
            budget: 0,
            line: 0,
            labels: 0,
        }
    }

    fn below(&mut self, bound: u32) -> u32 {
        self.random.below(bound)
    }

    /// True once in this number of times.
    fn chance(&mut self, times: u32) -> bool {
        self.below(times) == 0
    }

    fn of<T: Clone>(&mut self, values: &[T]) -> T {
        let at = self.below(values.len() as u32);
        values[at as usize].clone()
    }

    fn some<T>(&mut self, times: u32, of: impl FnOnce(&mut Self) -> T) -> Option<T> {
        let is = self.chance(times);
        is.then(|| of(self))
    }

    fn place(&mut self) -> Place {
        self.line += 1;
        Place { line: self.line }
    }

    fn number(kind: Kind, value: f64) -> Expression {
        debug_assert!(kind != Kind::Integer || value.fract() == 0.0, "{value} is no integer");
        Expression::Number(value)
    }

    fn order(&mut self) -> Order {
        self.of(&[Order::Fifo, Order::Priority])
    }

    fn model(&mut self) -> ProcessModel {
        self.model.name = "random".to_owned();
        self.model.ticks_per_unit = self.of(&[Some(5000), Some(1 << 16), Some(1 << 16), None]);
        self.model.until = Some(200.0);
        for index in 0..self.below(4) {
            let kind = self.of(&[Kind::Integer, Kind::Time, Kind::Real]);
            let value = match kind {
                Kind::Integer => self.of(&[1.0, 2.0, 3.0, 5.0]),
                _ => self.of(&[0.5, 1.0, 2.75, 4.0]),
            };
            let name = format!("p{index}");
            self.parameters.push((name.clone(), kind));
            let of = Parameter { kind, values: vec![value], place: Place::default() };
            self.model.parameters.insert(name, of);
        }
        for index in 0..1 + self.below(4) {
            let kind = self.of(&[Kind::Integer, Kind::Integer, Kind::Time, Kind::Real]);
            let level = kind == Kind::Integer && self.chance(2);
            let value = self.some(2, |make| Value::Expression(make.literal(kind)));
            let name = format!("v{index}");
            self.variables.push((name.clone(), kind));
            self.model
                .variables
                .insert(name, Variable { kind, value, level, histogram: false, place: Place::default() });
        }
        self.places();
        let types = 1 + self.below(if self.is_small { 2 } else { 4 });
        for entity in 0..types {
            // Those that are taken have the same attributes first.
            let mut attributes: Typed = vec![(format!("a{entity}_0"), Kind::Integer)];
            for index in 1..1 + self.below(4) {
                let kind = self.of(&[Kind::Integer, Kind::Time, Kind::Real]);
                attributes.push((format!("a{entity}_{index}"), kind));
            }
            self.attributes.push(attributes);
            self.model.entities.insert(format!("e{entity}"), Entity::default());
        }
        for _ in 0..self.model.stores.len() {
            let giver = self.below(types);
            self.givers.push(giver as usize);
        }
        for entity in 0..types as usize {
            self.entity = entity;
            let made = self.entity();
            self.model.entities[entity] = made;
        }
        std::mem::take(&mut self.model)
    }

    fn places(&mut self) {
        for index in 0..1 + self.below(3) {
            let mut units = self.units();
            let order = self.of(&[Order::Fifo, Order::Priority, Order::Preempt]);
            let name = format!("r{index}");
            if self.chance(4) {
                let schedule = self.schedule(order);
                units = schedule.periods[0].units.clone();
                self.model.schedules.insert(name.clone(), schedule);
            }
            let of = Resource { units, order, place: Place::default() };
            self.model.resources.insert(name, of);
        }
        for index in 0..1 + self.below(2) {
            let bound = 6 + self.below(4);
            let capacity = (!self.chance(4)).then_some(Expression::Number(bound.into()));
            let level = self.some(2, |make| Expression::Number(make.below(7).into()));
            let order = self.order();
            let of = Container { capacity, level, order, place: Place::default() };
            self.model.containers.insert(format!("c{index}"), of);
        }
        for index in 0..1 + self.below(2) {
            let bound = 1 + self.below(2);
            let capacity = (!self.chance(3)).then_some(Expression::Number(bound.into()));
            let order = self.order();
            self.model.stores.insert(format!("s{index}"), Store { capacity, order, place: Place::default() });
        }
        for index in 0..self.below(3) {
            self.model.signals.insert(format!("g{index}"), Signal::default());
        }
    }

    fn units(&mut self) -> Expression {
        match self.parameter_of(Kind::Integer).filter(|_| self.chance(3)) {
            Some(name) => Expression::Name(name),
            None => Expression::Number((1 + self.below(3)).into()),
        }
    }

    /// Units that change, of which there are some at first.
    fn schedule(&mut self, order: Order) -> Schedule {
        let count = 1 + self.below(4);
        let period = |index| {
            let lasts = self.of(&[1.0, 2.5, 5.0, 8.0]);
            let units = if index == 0 { self.units() } else { Expression::Number(self.below(4).into()) };
            Period { lasts, units }
        };
        let periods = (0..count).map(period).collect();
        let preempts = order == Order::Preempt && self.chance(2);
        Schedule { periods, preempts, place: self.place() }
    }

    fn entity(&mut self) -> Entity {
        let mut attributes = IndexMap::new();
        for (name, kind) in self.attributes[self.entity].clone() {
            let value = self.some(2, |make| match kind {
                Kind::Integer if make.chance(2) => make.choice(),
                Kind::Time if make.chance(2) => make.law(),
                kind => Value::Expression(make.literal(kind)),
            });
            let place = self.place();
            attributes.insert(name, Variable { kind, value, level: false, histogram: false, place });
        }
        let types = self.attributes.len();
        let count = if self.entity == 0 || self.chance(2) { 1 + self.below(2) } else { 0 };
        let sources = (0..count).map(|_| self.source(&attributes)).collect();
        self.blocks = (0..self.below(3)).map(|index| format!("b{index}")).collect();
        self.budget = if self.is_small { 8 } else { 24 / types as u32 + 6 };
        let length = 2 + self.below(5);
        let mut statements = self.block(length, 0);
        self.partners(&mut statements);
        let mut blocks = IndexMap::new();
        for name in self.blocks.clone() {
            self.held.clear();
            self.budget = 6;
            let length = 1 + self.below(3);
            // Blocks that lead to each other let time pass.
            let mut block = vec![self.pause()];
            block.extend(self.block(length, 1));
            blocks.insert(name, block);
        }
        self.held.clear();
        Entity { sources, attributes, statements, blocks, place: self.place() }
    }

    fn source(&mut self, attributes: &IndexMap<String, Variable>) -> Source {
        let place = self.place();
        let batch = if self.chance(5) { Expression::Number((1 + self.below(4)).into()) } else { 1.into() };
        let mut most = self.some(5, |make| Expression::Number(make.below(9).into()));
        let times = match self.below(8) {
            0 => {
                let count = 1 + self.below(4);
                let rates = (0..count).map(|index| {
                    let rate = if index == 0 { 0.5 } else { self.of(&[0.0, 0.25, 1.0]) };
                    Rate { lasts: self.of(&[1.0, 5.0, 12.5]), rate: rate.into() }
                });
                let rates = rates.collect();
                most = None;
                Arrivals::Rates(rates)
            }
            1 => {
                let mut time = 0.0;
                let count = self.below(9);
                let times: Vec<f64> = (0..count)
                    .map(|_| {
                        time += self.of(&[0.0, 0.5, 1.0, 4.0]);
                        time
                    })
                    .collect();
                let names = attributes.iter().filter(|_| self.below(2) == 0).collect::<Vec<_>>();
                let columns = names.into_iter().map(|(name, of)| {
                    let values = times.iter().map(|_| self.value_of(of.kind)).collect();
                    (name.clone(), values)
                });
                let columns = columns.collect();
                Arrivals::Trace { times, attributes: columns }
            }
            2 => Arrivals::Start,
            3 | 4 => Arrivals::Every(self.law()),
            _ => Arrivals::Every(Value::Expression(self.of(&[1.0, 2.0, 2.5, 5.0]).into())),
        };
        Source { times, batch, most, place }
    }

    fn choice(&mut self) -> Value {
        let values = [-3, 0, 1, 2, 3, 4];
        let [a, b, c] = [(); 3].map(|()| self.of(&values));
        match self.below(3) {
            0 => choice(&[(a, 1.0)]),
            1 => choice(&[(a, 0.25), (b, 0.75)]),
            _ => choice(&[(a, 0.1), (b, 0.2), (c, 0.7)]),
        }
    }

    /// A distribution of times.
    fn law(&mut self) -> Value {
        let named = |name: &str, values: &[(&str, f64)]| {
            let values = values.iter().map(|(name, value)| ((*name).to_owned(), (*value).into()));
            Value::Law(Law { name: name.to_owned(), arguments: Arguments::Named(values.collect()) })
        };
        let time = self.of(&[0.75, 1.0, 2.0, 3.5]);
        match self.below(10) {
            0 | 1 => law("exponential", &[time]),
            2 => match self.parameter_of(Kind::Time) {
                Some(name) => {
                    let arguments = Arguments::One(Expression::Name(name));
                    Value::Law(Law { name: "exponential".to_owned(), arguments })
                }
                None => law("exponential", &[time + 1.0]),
            },
            3 => law("uniform", &[0.5, 0.5 + time]),
            4 => law("triangular", &[0.0, time, 2.0 * time]),
            5 => named("erlang", &[("stages", (1 + self.below(3)).into()), ("mean", time)]),
            6 => named("hyperexponential", &[("probability", 0.75), ("first", time), ("second", 4.0 * time)]),
            7 => named("normal", &[("mean", time), ("deviation", 0.5)]),
            8 => named("lognormal", &[("mean", time), ("deviation", 1.0)]),
            _ => match self.below(2) {
                0 => named("weibull", &[("scale", time), ("shape", 1.5)]),
                _ => law("constant", &[time]),
            },
        }
    }

    fn parameter_of(&mut self, kind: Kind) -> Option<String> {
        let all: Vec<_> = self.parameters.iter().filter(|(_, of)| *of == kind).cloned().collect();
        (!all.is_empty()).then(|| self.of(&all).0)
    }
}
