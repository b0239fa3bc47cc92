//! A plain interpreter of process models. It executes statements as `docs/guide-processes.md`
//! describes them, with collections of the standard library, and knows nothing of the compiled
//! program.
//!
//! `values` computes expressions, `draws` names random streams, `lines` has what entities wait for,
//! `run`, `statements` and `scopes` execute; here are events, sources, and the order of what
//! happens.

mod draws;
mod lines;
mod run;
mod scopes;
mod statements;
mod values;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use eventhorizon::process::ir::{
    Arrivals, Expression, Kind, Order, ProcessModel, Reading, SELECTED, Source, Value,
};
use eventhorizon::process::program::{FaultCode, MOST_EVENTS_AT_ONCE};
use eventhorizon::random::probability;
use eventhorizon::time::{Resolution, Ticks};

pub use lines::{Level, Slot, Tally, Waiters, Where};
pub use run::{Being, State};
pub use values::{Quantity, Wrong};

use draws::{Names, stream, text, variate};
use lines::{Container, Places, Resource, Store};
use scopes::{MOST_UNITS, resizes};
use values::{Reads, constant};

/// More statements than any event of a model that ends executes.
const ENDLESS: u32 = 100_000;

/// What an event is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Due {
    Entity(Slot),
    Source(usize),
}

/// The fault of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Failure {
    pub wrong: Wrong,
    /// The text of the statement.
    pub statement: String,
    /// The entity's slot, its type and its number.
    pub entity: Option<(Slot, String, u32)>,
    pub time: u64,
}

/// A source with the number of its type.
struct Entrance<'m> {
    kind: usize,
    source: &'m Source,
    name: String,
}

/// A replication of a model.
pub struct World<'m> {
    pub model: &'m ProcessModel,
    pub resolution: Resolution,
    pub parameters: BTreeMap<&'m str, (f64, Kind)>,
    seed: u64,
    warm_up: u64,
    room: u32,
    names: Names<'m>,
    entrances: Vec<Entrance<'m>>,
    /// The resources whose units change by time. The types of what changes them follow the others.
    schedules: Vec<&'m str>,
    pub now: u64,
    /// The last number of an event or a wait.
    pub number: u32,
    /// By time, then in the order in which they were scheduled.
    pub pending: BTreeMap<(u64, u32), Due>,
    /// Events so far, those at the time of the last one, and that.
    pub events: u64,
    pub instant: (u32, u64),
    pub free: Vec<Slot>,
    pub fresh: u32,
    pub entities: BTreeMap<Slot, Being<'m>>,
    /// Entities of each type, and entries of each source.
    pub counts: Vec<u32>,
    pub entries: Vec<u32>,
    pub variables: BTreeMap<&'m str, Quantity>,
    pub levels: BTreeMap<&'m str, Level>,
    pub tallies: BTreeMap<&'m str, Tally>,
    pub counters: BTreeMap<&'m str, u64>,
    /// Observations up to bounds of tallies, by the name of the measure.
    pub shares: BTreeMap<String, u64>,
    pub places: Places<'m>,
    /// How often each signal was sent, and whose turn it is, by the name of the statement.
    pub sent: BTreeMap<&'m str, u32>,
    pub turns: BTreeMap<String, usize>,
    /// Those that continue in this event.
    ready: VecDeque<Slot>,
    pub fault: Option<Failure>,
    /// Whether there was no room for an entity.
    pub full: bool,
    /// The text of what is executed, and how many statements this event executed.
    doing: String,
    pub steps: u32,
    /// What happened, to see what is tested: statements, and what entities waited for.
    pub did: BTreeSet<String>,
}

impl<'m> World<'m> {
    /// A replication before its beginning. `point` are the values of the parameters.
    pub fn new(
        model: &'m ProcessModel,
        resolution: Resolution,
        point: &[f64],
        seed: u64,
        warm_up: u64,
        room: u32,
    ) -> Self {
        let parameters: BTreeMap<_, _> = model
            .parameters
            .iter()
            .zip(point)
            .map(|((name, of), value)| (&**name, (*value, of.kind)))
            .collect();
        let number = |written: &Expression| {
            constant(written, &|name| parameters.get(name).map(|(value, _)| *value)).expect("a constant")
                as u32
        };
        let mut places = Places::default();
        for (name, of) in &model.resources {
            let schedule = model.schedules.get(name);
            let periods = schedule.iter().flat_map(|schedule| &schedule.periods);
            let mut units: Vec<u32> = periods.map(|period| number(&period.units)).collect();
            if units.is_empty() {
                units.push(number(&of.units));
            }
            let most = if resizes(model, name) { Some(MOST_UNITS) } else { units.iter().copied().max() };
            let [line, holders] = [(); 2].map(|()| Waiters::new(of.order));
            let of = Resource {
                units: units[0],
                most: most.expect("units"),
                shift: schedule.is_some_and(|schedule| schedule.preempts),
                in_use: Level::default(),
                line,
                holders,
            };
            places.resources.insert(name, of);
        }
        for (name, of) in &model.containers {
            let [getters, putters] = [Waiters::new(of.order), Waiters::new(of.order)];
            let capacity = of.capacity.as_ref().map_or(i32::MAX as u32, number);
            let content = Level::new(of.level.as_ref().map_or(0, number).into());
            places.containers.insert(name, Container { capacity, content, getters, putters });
        }
        for (name, of) in &model.stores {
            let [givers, takers] = [(); 2].map(|()| Waiters::new(Order::Fifo));
            let capacity = of.capacity.as_ref().map_or(u32::MAX, number);
            places.stores.insert(name, Store { capacity, items: Waiters::new(of.order), givers, takers });
        }
        for name in model.signals.keys() {
            places.signals.insert(name, Waiters::new(Order::Fifo));
        }
        let names = Names::of(model);
        let line = |_: &_| Waiters::new(Order::Fifo);
        places.conditions = names.conditions.iter().map(line).collect();
        places.batches = names.batches.iter().map(line).collect();
        let changing = model.schedules.iter().filter(|(_, schedule)| schedule.periods.len() > 1);
        let schedules: Vec<&str> = changing.map(|(name, _)| &**name).collect();
        let mut entrances = Vec::new();
        for (kind, (entity, of)) in model.entities.iter().enumerate() {
            entrances.extend(of.sources.iter().zip(1..).map(|(source, index)| Entrance {
                kind,
                source,
                name: format!("{entity}/source {index}"),
            }));
        }
        let mut world = Self {
            model,
            resolution,
            seed,
            warm_up,
            room,
            names,
            now: 0,
            number: 0,
            pending: BTreeMap::new(),
            events: 0,
            instant: (0, 0),
            free: Vec::new(),
            fresh: 0,
            entities: BTreeMap::new(),
            counts: vec![0; model.entities.len() + schedules.len()],
            schedules,
            entries: vec![0; entrances.len()],
            entrances,
            parameters,
            variables: BTreeMap::new(),
            levels: BTreeMap::new(),
            tallies: BTreeMap::new(),
            counters: BTreeMap::new(),
            shares: BTreeMap::new(),
            places,
            sent: BTreeMap::new(),
            turns: BTreeMap::new(),
            ready: VecDeque::new(),
            fault: None,
            full: false,
            doing: String::new(),
            steps: 0,
            did: BTreeSet::new(),
        };
        for (name, of) in &model.variables {
            let first = match &of.value {
                None => Quantity::zero(of.kind),
                Some(Value::Expression(written)) => {
                    Quantity::Constant(world.constant(written), None).of_kind(of.kind, resolution)
                }
                Some(other) => panic!("{other:?} is no first value"),
            };
            world.variables.insert(name, first);
            if of.level {
                world.levels.insert(name, Level::new(first.bits()));
            }
        }
        world
    }

    fn parameter(&self, name: &str) -> Option<f64> {
        self.parameters.get(name).map(|(value, _)| *value)
    }

    fn constant(&self, written: &Expression) -> f64 {
        constant(written, &|name| self.parameter(name)).expect("a constant")
    }

    /// The time since the end of the warm-up.
    pub fn age(&self) -> u64 {
        self.now.saturating_sub(self.warm_up)
    }

    fn take_number(&mut self) -> u32 {
        self.number += 1;
        self.number
    }

    /// The time after a span, unless it is beyond the last tick.
    fn later(&self, span: u64) -> Option<u64> {
        Some(Ticks::new(self.now).saturating_add(Ticks::new(span)).get())
            .filter(|due| *due != Ticks::NEVER.get())
    }

    /// Sources schedule their first entries, and what is there at the start runs.
    pub fn begin(&mut self) {
        for source in 0..self.entrances.len() {
            if !self.has_entry(source, 0) {
                continue;
            }
            match self.entrances[source].source.times {
                Arrivals::Start => self.enter(source, 0),
                Arrivals::Every(_) | Arrivals::Rates(_) | Arrivals::Trace { .. } => self.schedule(source, 0),
            }
        }
        (0..self.schedules.len()).for_each(|number| self.begin_schedule(number));
        self.settle(None);
    }

    /// The time of the next event.
    pub fn next(&self) -> Option<u64> {
        self.pending.first_key_value().map(|((time, _), _)| *time)
    }

    /// Executes all events at the time of the next one.
    pub fn step(&mut self) {
        let Some(time) = self.next() else { return };
        while self.next() == Some(time) && !self.full {
            self.event();
        }
    }

    fn event(&mut self) {
        let Some(((time, number), due)) = self.pending.pop_first() else { return };
        self.events += 1;
        if self.fault.is_some() {
            return;
        }
        self.now = time;
        self.steps = 0;
        self.instant = (if self.instant.1 == time { self.instant.0 + 1 } else { 1 }, time);
        if self.instant.0 > MOST_EVENTS_AT_ONCE {
            self.fail(Wrong { code: FaultCode::Endless, detail: 0 }, None);
            return;
        }
        match due {
            Due::Source(source) => {
                self.entry(source);
                self.settle(None);
            }
            Due::Entity(slot) => {
                // It continued in another way before.
                if self.entities.get(&slot).is_none_or(|being| being.number != number) {
                    return;
                }
                self.awake(slot);
                self.settle(Some(slot));
            }
        }
    }

    /// Runs an entity, those that it made continue, and those whose conditions hold.
    fn settle(&mut self, first: Option<Slot>) {
        let mut next = first;
        while self.fault.is_none() && !self.full {
            let ready = next.take().or_else(|| self.ready.pop_front());
            let Some(slot) = ready.or_else(|| self.candidate()) else { break };
            self.run(slot);
        }
        self.ready.clear();
    }

    /// The first entity whose condition holds, in the order of statements, then of arrival.
    fn candidate(&mut self) -> Option<Slot> {
        for number in 0..self.places.conditions.len() {
            let statement = self.names.conditions[number].statement;
            for waiter in self.places.conditions[number].all.clone() {
                match self.may_continue(waiter.slot, statement) {
                    Ok(false) => {}
                    Ok(true) => {
                        let age = self.age();
                        self.places.conditions[number].leave(waiter.slot, age);
                        self.continues(waiter.slot);
                        return Some(waiter.slot);
                    }
                    Err(wrong) => {
                        self.doing = text(&statement.action);
                        self.fail(wrong, Some(waiter.slot));
                        return None;
                    }
                }
            }
        }
        None
    }

    fn fail(&mut self, wrong: Wrong, slot: Option<Slot>) {
        let entity = slot.map(|slot| {
            let being = &self.entities[&slot];
            let name = self.model.entities.get_index(being.kind).map_or("schedule", |(name, _)| name);
            (slot, name.to_owned(), being.who)
        });
        self.fault = Some(Failure { wrong, statement: self.doing.clone(), entity, time: self.now });
    }

    /// Whether a source has an entry with this number, from 0.
    fn has_entry(&self, source: usize, number: u32) -> bool {
        let of = self.entrances[source].source;
        let most = of.most.as_ref().map_or(f64::INFINITY, |most| self.constant(most));
        let listed = match &of.times {
            Arrivals::Trace { times, .. } => times.len() as f64,
            Arrivals::Every(_) | Arrivals::Rates(_) | Arrivals::Start => f64::INFINITY,
        };
        f64::from(number) < most.min(listed)
    }

    fn schedule(&mut self, source: usize, number: u32) {
        let (of, name) = (self.entrances[source].source, self.entrances[source].name.clone());
        let span = match &of.times {
            Arrivals::Start => return,
            Arrivals::Every(Value::Expression(written)) => {
                self.resolution.ticks(self.constant(written)).expect("a time").get()
            }
            Arrivals::Every(Value::Law(law)) => {
                let mut stream = stream(self.seed, &name, 0, number);
                variate(law, &mut stream, self.resolution, &|name| self.parameter(name))
            }
            Arrivals::Every(Value::Choice(_)) => panic!("a choice of times"),
            Arrivals::Rates(rates) => {
                let highest = rates.iter().map(|rate| self.constant(&rate.rate)).fold(0.0, f64::max);
                let mut stream = stream(self.seed, &format!("{name}/gap"), 0, number);
                stream.exponential(self.resolution.ticks(1.0 / highest).expect("a time")).get()
            }
            Arrivals::Trace { times, .. } => {
                self.resolution.ticks(times[number as usize]).expect("a time").get() - self.now
            }
        };
        if let Some(due) = self.later(span) {
            let number = self.take_number();
            self.pending.insert((due, number), Due::Source(source));
        }
    }

    /// The next entry of a source.
    fn entry(&mut self, source: usize) {
        let number = self.entries[source];
        self.entries[source] += 1;
        if self.has_entry(source, number + 1) {
            self.schedule(source, number + 1);
        }
        if let Arrivals::Rates(rates) = &self.entrances[source].source.times {
            let ends = rates.iter().scan(0, |end, rate| {
                *end += self.resolution.ticks(rate.lasts).expect("a time").get();
                Some(*end)
            });
            let ends: Vec<u64> = ends.collect();
            let within = self.now % ends[ends.len() - 1];
            let period = ends.iter().position(|end| within < *end).expect("a period of the cycle");
            let rates: Vec<f64> = rates.iter().map(|rate| self.constant(&rate.rate)).collect();
            let share = probability(rates[period] / rates.iter().copied().fold(0.0, f64::max));
            let share = share.expect("a share");
            let name = format!("{}/keep", self.entrances[source].name);
            let word = stream(self.seed, &name, 0, number).draw();
            if word >= share && share != u32::MAX {
                return;
            }
        }
        self.enter(source, number);
    }

    /// Starts the entities of an entry.
    fn enter(&mut self, source: usize, number: u32) {
        let Entrance { kind, source, .. } = self.entrances[source];
        let entity = &self.model.entities[kind];
        let mut given = Vec::new();
        if let Arrivals::Trace { attributes, .. } = &source.times {
            for (name, values) in attributes {
                let written = Quantity::Constant(values[number as usize], None);
                given.push((&**name, written.of_kind(entity.attributes[name].kind, self.resolution)));
            }
        }
        for _ in 0..self.constant(&source.batch) as u32 {
            self.spawn(kind, &given, None);
        }
    }
}

/// What an entity sees.
struct Eyes<'a, 'm> {
    world: &'a World<'m>,
    being: &'a Being<'m>,
}

impl Reads for Eyes<'_, '_> {
    fn resolution(&self) -> Resolution {
        self.world.resolution
    }

    fn parameter(&self, name: &str) -> Option<(f64, Kind)> {
        self.world.parameters.get(name).copied()
    }

    fn name(&self, name: &str) -> Quantity {
        *self.being.attributes.get(name).unwrap_or_else(|| &self.world.variables[name])
    }

    fn reading(&self, reading: &Reading) -> Quantity {
        let (world, being) = (self.world, self.being);
        let places = &world.places;
        let length = |of: &Waiters| Quantity::Integer(of.length.value as i32);
        let resource = |name: &str| {
            let selected = being.selected().filter(|_| name == SELECTED);
            &places.resources[selected.unwrap_or(name)]
        };
        match reading {
            Reading::Now => Quantity::Time(world.now),
            Reading::Age => Quantity::Time(world.now - being.created),
            Reading::Waited => Quantity::Time(being.waited()),
            Reading::Number => Quantity::Integer(being.who.cast_signed()),
            Reading::InUse(name) => Quantity::Integer(resource(name).in_use.value as i32),
            Reading::Free(name) => Quantity::Integer(resource(name).free() as i32),
            Reading::Units(name) => Quantity::Integer(resource(name).units.cast_signed()),
            Reading::Queue(name) if name == SELECTED => length(&resource(name).line),
            Reading::Queue(name) => {
                let name = &**name;
                (places.resources.get(name).map(|of| &of.line))
                    .or_else(|| places.containers.get(name).map(|of| &of.getters))
                    .or_else(|| places.stores.get(name).map(|of| &of.takers))
                    .or_else(|| places.signals.get(name))
                    .map(length)
                    .expect("a line")
            }
            Reading::Last(name) => {
                let kind = world.model.entities.get_index_of(name).expect("a type");
                Quantity::Integer(world.counts[kind].cast_signed())
            }
            Reading::Level(name) => match places.stores.get(&**name) {
                Some(store) => length(&store.items),
                None => Quantity::Integer(places.containers[&**name].content.value as i32),
            },
        }
    }
}
