//! Entities and what they do.

use std::collections::BTreeMap;

use eventhorizon::process::ir::{
    Action, Arguments, Expression, Patience, Request, Statement, Value, Waiting,
};
use eventhorizon::process::program::{FaultCode, MOST_ENTITIES};

use super::draws::{arm, stream, text, variate};
use super::lines::{Slot, Waiter, Where};
use super::values::{self, Quantity, Wrong, wrong};
use super::{Due, ENDLESS, Eyes, World};

/// What an entity does between events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State<'m> {
    Ready,
    Delay,
    Line(Where<'m>),
    Join,
}

/// An entity.
#[derive(Debug, Clone)]
pub struct Being<'m> {
    /// The number of its type.
    pub kind: usize,
    /// Its number among its type.
    pub who: u32,
    pub created: u64,
    pub attributes: BTreeMap<&'m str, Quantity>,
    pub held: BTreeMap<&'m str, u32>,
    parent: Option<Slot>,
    pub children: u32,
    pub state: State<'m>,
    /// The number of its delay or wait, which names its event; 0 if it has none.
    pub number: u32,
    waited: u64,
    /// Rounds of loops and of named blocks, by their first statement.
    visits: BTreeMap<*const Statement, u32>,
    /// What it gets of an entity that it waits for.
    into: &'m [(String, String)],
    /// What it does next is the last.
    stack: Vec<Frame<'m>>,
}

impl Being<'_> {
    pub fn waited(&self) -> u64 {
        self.waited
    }

    /// The round of the innermost loop.
    fn visit(&self) -> u32 {
        let round = self.stack.iter().rev().find_map(|frame| match frame {
            Frame::Block { round: Some(first), .. } => Some(*first),
            _ => None,
        });
        round.map_or(0, |first| self.visits[&first])
    }
}

/// What an entity has begun.
#[derive(Debug, Clone)]
enum Frame<'m> {
    /// Its attributes from this one on, without those that were given.
    Attributes {
        given: Vec<&'m str>,
        next: usize,
    },
    /// A block, from this position on. `round` names its rounds if it is repeated.
    Block {
        block: &'m [Statement],
        at: usize,
        round: Option<*const Statement>,
    },
    While {
        statement: &'m Statement,
    },
    /// The rounds that are left; none: for ever.
    Repeat {
        body: &'m [Statement],
        left: Option<i32>,
    },
    /// Seizes this many units of each request, from the one with number `next` on. The first began
    /// at `began`.
    Seize {
        statement: &'m Statement,
        units: Vec<i32>,
        next: usize,
        began: u64,
    },
    /// Lets the time of a `use` pass.
    Time {
        statement: &'m Statement,
    },
    /// Releases these, the last one first.
    Back {
        statement: &'m Statement,
        taken: Vec<(&'m str, i32)>,
    },
    Release {
        statement: &'m Statement,
        next: usize,
    },
    /// Behind a wait that began at `since`.
    Waited {
        since: u64,
        tally: Option<&'m str>,
    },
    /// Behind the statements of a patience.
    GaveUp {
        continues: bool,
    },
}

/// Whether an entity goes on.
enum Flow {
    On,
    Stops,
    Ended,
}

impl<'m> World<'m> {
    /// Starts an entity, which runs when its turn comes.
    pub(super) fn spawn(&mut self, kind: usize, given: &[(&'m str, Quantity)], parent: Option<Slot>) {
        let slot = match self.free.pop() {
            Some(slot) => slot,
            None if self.fresh < self.room => {
                self.fresh += 1;
                self.fresh - 1
            }
            None => {
                self.full = true;
                return;
            }
        };
        let entity = &self.model.entities[kind];
        let mut attributes: BTreeMap<&str, Quantity> =
            entity.attributes.iter().map(|(name, of)| (&**name, Quantity::zero(of.kind))).collect();
        attributes.extend(given.iter().copied());
        self.counts[kind] += 1;
        let given = given.iter().map(|(name, _)| *name).collect();
        let stack = vec![
            Frame::Block { block: &entity.statements, at: 0, round: None },
            Frame::Attributes { given, next: 0 },
        ];
        let being = Being {
            kind,
            who: self.counts[kind],
            created: self.now,
            attributes,
            held: BTreeMap::new(),
            parent,
            children: 0,
            state: State::Ready,
            number: 0,
            waited: 0,
            visits: BTreeMap::new(),
            into: &[],
            stack,
        };
        self.entities.insert(slot, being);
        self.ready.push_back(slot);
    }

    fn being(&mut self, slot: Slot) -> &mut Being<'m> {
        self.entities.get_mut(&slot).expect("an entity")
    }

    /// An entity that left what it waited in.
    pub(super) fn continues(&mut self, slot: Slot) {
        let being = self.being(slot);
        (being.state, being.number) = (State::Ready, 0);
    }

    fn grant(&mut self, slot: Slot) {
        self.continues(slot);
        self.ready.push_back(slot);
    }

    /// The end of a delay or of a patience.
    pub(super) fn awake(&mut self, slot: Slot) {
        let state = self.being(slot).state;
        self.continues(slot);
        match state {
            State::Delay => {}
            State::Line(line) => {
                let age = self.age();
                self.places.line(line).leave(slot, age);
                self.give_up(slot);
                match line {
                    Where::Resource(name) => self.serve_resource(name),
                    Where::Getters(name) | Where::Putters(name) => self.serve_container(name),
                    Where::Items(name) | Where::Givers(name) | Where::Takers(name) => self.serve_store(name),
                    Where::Signal(_) | Where::Condition(_) => {}
                }
            }
            State::Ready | State::Join => panic!("{state:?} has no event"),
        }
    }

    /// What an entity does whose patience ended.
    fn give_up(&mut self, slot: Slot) {
        let being = self.being(slot);
        let Some(Frame::Waited { since, .. }) = being.stack.pop() else { panic!("it does not wait") };
        let mut taken = None;
        if let Some(Frame::Seize { .. }) = being.stack.last() {
            let Some(Frame::Seize { statement, units, next, .. }) = being.stack.pop() else { unreachable!() };
            // The last one was not granted.
            let before = requests(&statement.action).iter().zip(&units[..next - 1]);
            let before = before.map(|(request, units)| (&*request.resource, *units)).collect();
            taken = Some((statement, before));
        }
        let at = being.stack.iter().rev().find_map(|frame| match frame {
            Frame::Block { block, at, .. } => Some(&block[at - 1]),
            _ => None,
        });
        let patience = waiting(&at.expect("its statement").action).patience.as_ref().expect("a patience");
        being.stack.push(Frame::GaveUp { continues: patience.continues });
        being.stack.push(Frame::Block { block: &patience.otherwise, at: 0, round: None });
        being.stack.push(Frame::Waited { since, tally: None });
        if let Some((statement, taken)) = taken {
            being.stack.push(Frame::Back { statement, taken });
        }
    }

    fn serve_resource(&mut self, name: &'m str) {
        let age = self.age();
        loop {
            let of = self.places.resources.get_mut(name).expect("a resource");
            let Some(first) = of.line.first().filter(|first| first.amount <= of.free()) else { return };
            of.line.leave(first.slot, age);
            of.in_use.add(first.amount.into(), age);
            *self.being(first.slot).held.entry(name).or_default() += first.amount;
            self.grant(first.slot);
        }
    }

    fn serve_container(&mut self, name: &'m str) {
        let age = self.age();
        loop {
            let of = self.places.containers.get_mut(name).expect("a container");
            let room = of.capacity - of.has();
            let slot = if let Some(first) = of.getters.first().filter(|first| first.amount <= of.has()) {
                of.content.add(-i64::from(first.amount), age);
                of.getters.leave(first.slot, age).slot
            } else if let Some(first) = of.putters.first().filter(|first| first.amount <= room) {
                of.content.add(first.amount.into(), age);
                of.putters.leave(first.slot, age).slot
            } else {
                return;
            };
            self.grant(slot);
        }
    }

    /// Those outside go inside as there is room. They go on waiting.
    fn serve_store(&mut self, name: &'m str) {
        let age = self.age();
        loop {
            let of = self.places.stores.get_mut(name).expect("a store");
            let has_room = of.items.all.len() < of.capacity as usize;
            let Some(first) = of.givers.first().filter(|_| has_room) else { return };
            of.givers.leave(first.slot, age);
            of.items.enter(first, age);
            self.being(first.slot).state = State::Line(Where::Items(name));
        }
    }

    /// Runs an entity until it stops.
    pub(super) fn run(&mut self, slot: Slot) {
        let mut being = self.entities.remove(&slot).expect("an entity");
        loop {
            self.steps += 1;
            let flow = match self.steps {
                ENDLESS.. => wrong(FaultCode::Endless, 0),
                _ => self.go_on(slot, &mut being),
            };
            match flow {
                Ok(Flow::On) if !self.full => {}
                Ok(Flow::On | Flow::Stops) => {
                    self.entities.insert(slot, being);
                    return;
                }
                Ok(Flow::Ended) => return,
                Err(wrong) => {
                    self.entities.insert(slot, being);
                    self.fail(wrong, Some(slot));
                    return;
                }
            }
        }
    }

    fn go_on(&mut self, slot: Slot, being: &mut Being<'m>) -> Result<Flow, Wrong> {
        let Some(frame) = being.stack.pop() else { return self.end(slot, being) };
        match frame {
            Frame::Attributes { given, next } => {
                let Some((name, of)) = self.model.entities[being.kind].attributes.get_index(next) else {
                    return Ok(Flow::On);
                };
                let own = !given.contains(&&**name);
                being.stack.push(Frame::Attributes { given, next: next + 1 });
                if let Some(value) = of.value.as_ref().filter(|_| own) {
                    let entity = self.model.entities.get_index(being.kind).expect("its type").0;
                    self.doing = format!("set {name}");
                    self.assign(being, name, value, &format!("{entity}/{name}/value"))?;
                }
            }
            Frame::Block { block, at, round } => {
                if let Some(statement) = block.get(at) {
                    being.stack.push(Frame::Block { block, at: at + 1, round });
                    self.doing = text(&statement.action);
                    return self.statement(slot, being, statement);
                }
            }
            Frame::While { statement } => {
                self.doing = text(&statement.action);
                let Action::While { condition, body } = &statement.action else { panic!("no loop") };
                if self.holds(being, condition)? {
                    being.stack.push(Frame::While { statement });
                    round(being, body);
                }
            }
            Frame::Repeat { body, left } => {
                if left.is_none_or(|left| left > 0) {
                    being.stack.push(Frame::Repeat { body, left: left.map(|left| left - 1) });
                    round(being, body);
                }
            }
            Frame::Seize { statement, units, next, began } => {
                return self.seize(slot, being, statement, (units, next), began);
            }
            Frame::Time { statement } => {
                self.doing = text(&statement.action);
                let Action::Use { time: Some(time), .. } = &statement.action else { panic!("no time") };
                let time = self.time(being, time, || self.names.draw(statement, "the time"))?;
                return self.delay(slot, being, time);
            }
            Frame::Back { statement, mut taken } => {
                self.doing = text(&statement.action);
                if let Some((resource, units)) = taken.pop() {
                    being.stack.push(Frame::Back { statement, taken });
                    self.release(being, resource, units)?;
                }
            }
            Frame::Release { statement, next } => {
                self.doing = text(&statement.action);
                let Action::Release { requests } = &statement.action else { panic!("no release") };
                if let Some(request) = requests.get(next) {
                    being.stack.push(Frame::Release { statement, next: next + 1 });
                    let units = self.integer(being, &request.units)?;
                    self.release(being, &request.resource, units)?;
                }
            }
            Frame::Waited { since, tally } => {
                being.waited = self.now - since;
                if let Some(name) = tally {
                    self.observe(name, Quantity::Time(being.waited));
                }
            }
            Frame::GaveUp { continues: true } => {}
            Frame::GaveUp { continues: false } => return self.end(slot, being),
        }
        Ok(Flow::On)
    }

    fn holds(&self, being: &Being<'m>, written: &Expression) -> Result<bool, Wrong> {
        values::holds(&Eyes { world: self, being }, written)
    }

    fn integer(&self, being: &Being<'m>, written: &Expression) -> Result<i32, Wrong> {
        values::integer(&Eyes { world: self, being }, written)
    }

    /// How long: computed, or drawn from the stream of this name.
    fn time(&self, being: &Being<'m>, value: &Value, name: impl Fn() -> String) -> Result<u64, Wrong> {
        let eyes = Eyes { world: self, being };
        match value {
            Value::Expression(written) => values::time(&eyes, written),
            Value::Law(law) => match &law.arguments {
                Arguments::One(written) if law.name == "constant" => values::time(&eyes, written),
                _ => {
                    let mut stream = stream(self.seed, &name(), being.visit(), being.who);
                    Ok(variate(law, &mut stream, self.resolution, &|name| self.parameter(name)))
                }
            },
            Value::Choice(_) => panic!("a choice of times"),
        }
    }

    fn observe(&mut self, name: &'m str, value: Quantity) {
        let counts = self.now >= self.warm_up;
        let tally = self.tallies.entry(name).or_default();
        if counts {
            tally.observe(value.bits());
        }
    }

    fn assign(
        &mut self,
        being: &mut Being<'m>,
        name: &'m str,
        value: &'m Value,
        stream_name: &str,
    ) -> Result<(), Wrong> {
        let own = self.model.entities[being.kind].attributes.get(name);
        let kind = own.unwrap_or_else(|| &self.model.variables[name]).kind;
        let found = match value {
            Value::Expression(written) => values::value(&Eyes { world: self, being }, written, Some(kind))?
                .of_kind(kind, self.resolution),
            Value::Law(law) => {
                let mut stream = stream(self.seed, stream_name, being.visit(), being.who);
                Quantity::Time(variate(law, &mut stream, self.resolution, &|name| self.parameter(name)))
            }
            Value::Choice(values) => {
                let word = stream(self.seed, stream_name, being.visit(), being.who).draw();
                let chosen = arm(word, values.iter().map(|(_, p)| self.constant(p)));
                Quantity::Integer(values[chosen.unwrap_or(values.len() - 1)].0)
            }
        };
        if let Some(attribute) = being.attributes.get_mut(name) {
            *attribute = found;
            return Ok(());
        }
        self.variables.insert(name, found);
        let age = self.age();
        if let Some(level) = self.levels.get_mut(name) {
            level.set(found.bits(), age);
        }
        Ok(())
    }

    fn delay(&mut self, slot: Slot, being: &mut Being<'m>, time: u64) -> Result<Flow, Wrong> {
        let number = self.take_number();
        let Some(due) = self.later(time) else { return wrong(FaultCode::Never, 0) };
        self.pending.insert((due, number), Due::Entity(slot));
        (being.state, being.number) = (State::Delay, number);
        Ok(Flow::Stops)
    }

    /// Enters a line. `what` names the draw of the patience.
    fn wait(
        &mut self,
        slot: Slot,
        being: &mut Being<'m>,
        statement: &'m Statement,
        (line, amount): (Where<'m>, u32),
        what: &str,
    ) -> Result<Flow, Wrong> {
        let waiting = waiting(&statement.action);
        let priority = waiting.priority.as_ref().map(|priority| self.integer(being, priority)).transpose()?;
        let mut bound = None;
        if let Some(Patience { when, time, .. }) = &waiting.patience
            && when.as_ref().map_or(Ok(true), |when| self.holds(being, when))?
        {
            bound = Some(self.time(being, time, || self.names.draw(statement, what))?);
        }
        let number = self.take_number();
        if let Some(time) = bound {
            let Some(due) = self.later(time) else { return wrong(FaultCode::Never, 0) };
            self.pending.insert((due, number), Due::Entity(slot));
        }
        let age = self.age();
        let waiter = Waiter { slot, priority: priority.unwrap_or(0), number, amount };
        self.places.line(line).enter(waiter, age);
        (being.state, being.number) = (State::Line(line), number);
        being.stack.push(Frame::Waited { since: self.now, tally: own_tally(&statement.action) });
        Ok(Flow::Stops)
    }

    /// Goes on without a wait.
    fn need_not_wait(&self, being: &mut Being<'m>, statement: &'m Statement) -> Flow {
        being.stack.push(Frame::Waited { since: self.now, tally: own_tally(&statement.action) });
        Flow::On
    }

    fn seize(
        &mut self,
        slot: Slot,
        being: &mut Being<'m>,
        statement: &'m Statement,
        (units, next): (Vec<i32>, usize),
        began: u64,
    ) -> Result<Flow, Wrong> {
        self.doing = text(&statement.action);
        let requests = requests(&statement.action);
        let Some(request) = requests.get(next) else {
            if let Some(tally) = waiting(&statement.action).tally.as_ref().filter(|_| requests.len() > 1) {
                self.observe(tally, Quantity::Time(self.now - began));
            }
            if let Action::Use { body, time, .. } = &statement.action {
                let names = requests.iter().map(|request| &*request.resource);
                being.stack.push(Frame::Back { statement, taken: names.zip(units).collect() });
                being.stack.extend(time.is_some().then_some(Frame::Time { statement }));
                being.stack.push(Frame::Block { block: body, at: 0, round: None });
            }
            return Ok(Flow::On);
        };
        let name = &*request.resource;
        let of = &self.places.resources[name];
        let amount = units[next].cast_unsigned();
        if units[next] < 1 || amount > of.units {
            return wrong(FaultCode::Request, amount);
        }
        being.stack.push(Frame::Seize { statement, units, next: next + 1, began });
        if of.line.all.is_empty() && amount <= of.free() {
            let age = self.age();
            self.places.resources.get_mut(name).expect("a resource").in_use.add(amount.into(), age);
            *being.held.entry(name).or_default() += amount;
            return Ok(self.need_not_wait(being, statement));
        }
        let what = format!("{name}/the patience");
        self.wait(slot, being, statement, (Where::Resource(name), amount), &what)
    }

    fn release(&mut self, being: &mut Being<'m>, name: &'m str, units: i32) -> Result<(), Wrong> {
        if units < 1 {
            return wrong(FaultCode::Request, units.cast_unsigned());
        }
        let held = being.held.entry(name).or_default();
        if units.cast_unsigned() > *held {
            return wrong(FaultCode::NotHeld, *held);
        }
        *held -= units.cast_unsigned();
        let age = self.age();
        self.places.resources.get_mut(name).expect("a resource").in_use.add(-i64::from(units), age);
        self.serve_resource(name);
        Ok(())
    }

    /// Puts an amount into a container, or gets it out.
    fn change(
        &mut self,
        slot: Slot,
        being: &mut Being<'m>,
        statement: &'m Statement,
        name: &'m str,
        amount: &Expression,
    ) -> Result<Flow, Wrong> {
        let puts = matches!(statement.action, Action::Put { .. });
        let amount = self.integer(being, amount)?;
        let age = self.age();
        let of = self.places.containers.get_mut(name).expect("a container");
        let units = amount.cast_unsigned();
        if amount < 1 || units > of.capacity {
            return wrong(FaultCode::Request, units);
        }
        let (line, fits) = match puts {
            true => (&of.putters, units <= of.capacity - of.has()),
            false => (&of.getters, units <= of.has()),
        };
        if line.all.is_empty() && fits {
            of.content.add(if puts { amount.into() } else { -i64::from(amount) }, age);
            self.serve_container(name);
            return Ok(self.need_not_wait(being, statement));
        }
        let line = if puts { Where::Putters(name) } else { Where::Getters(name) };
        self.wait(slot, being, statement, (line, units), "the patience")
    }

    fn end(&mut self, slot: Slot, being: &mut Being<'m>) -> Result<Flow, Wrong> {
        self.doing = "end".to_owned();
        if let Some((name, _)) = being.held.iter().find(|(_, units)| **units > 0) {
            let index = self.model.resources.get_index_of(*name).expect("a resource");
            return wrong(FaultCode::Holding, index as u32);
        }
        if being.children > 0 {
            return wrong(FaultCode::Children, being.children);
        }
        self.free.push(slot);
        if let Some(slot) = being.parent {
            let parent = self.being(slot);
            parent.children -= 1;
            if parent.children == 0 && parent.state == State::Join {
                self.grant(slot);
            }
        }
        Ok(Flow::Ended)
    }

    fn statement(
        &mut self,
        slot: Slot,
        being: &mut Being<'m>,
        statement: &'m Statement,
    ) -> Result<Flow, Wrong> {
        match &statement.action {
            Action::Delay(value) => {
                let time = self.time(being, value, || self.names.draw(statement, "the delay"))?;
                return self.delay(slot, being, time);
            }
            Action::Seize { requests, .. } | Action::Use { requests, .. } => {
                let units = requests.iter().map(|request| self.integer(being, &request.units));
                let units = units.collect::<Result<_, _>>()?;
                being.stack.push(Frame::Seize { statement, units, next: 0, began: self.now });
            }
            Action::Release { .. } => being.stack.push(Frame::Release { statement, next: 0 }),
            Action::Put { container, amount, .. } | Action::Get { container, amount, .. } => {
                return self.change(slot, being, statement, container, amount);
            }
            Action::Give { store, .. } => return self.give(slot, being, statement, store),
            Action::Take { store, into, .. } => return self.take(slot, being, statement, store, into),
            Action::Wait { signal, .. } => {
                return self.wait(slot, being, statement, (Where::Signal(signal), 0), "the patience");
            }
            Action::WaitUntil { condition, .. } => {
                if self.holds(being, condition)? {
                    return Ok(self.need_not_wait(being, statement));
                }
                let line = Where::Condition(self.names.condition(statement));
                return self.wait(slot, being, statement, (line, 0), "the patience");
            }
            Action::Send { signal } => {
                let age = self.age();
                while let Some(first) = self.places.signals[&**signal].first() {
                    self.places.line(Where::Signal(signal)).leave(first.slot, age);
                    self.grant(first.slot);
                }
            }
            Action::Spawn { entity, count, set, joined } => {
                let count = self.integer(being, count)?;
                if count > MOST_ENTITIES.cast_signed() {
                    return wrong(FaultCode::Spawned, count.cast_unsigned());
                }
                let kind = self.model.entities.get_index_of(entity).expect("a type");
                let mut given = Vec::new();
                for (name, written) in set {
                    let kind = self.model.entities[kind].attributes[name].kind;
                    let found = values::value(&Eyes { world: self, being }, written, Some(kind))?;
                    given.push((&**name, found.of_kind(kind, self.resolution)));
                }
                if *joined {
                    being.children += count.max(0).cast_unsigned();
                }
                (0..count).for_each(|_| self.spawn(kind, &given, joined.then_some(slot)));
            }
            Action::Join => {
                if being.children > 0 {
                    being.state = State::Join;
                    return Ok(Flow::Stops);
                }
            }
            Action::If { arms, otherwise } => {
                let mut chosen = otherwise;
                for (condition, block) in arms {
                    if self.holds(being, condition)? {
                        chosen = block;
                        break;
                    }
                }
                being.stack.push(Frame::Block { block: chosen, at: 0, round: None });
            }
            Action::With { arms, otherwise } => {
                let name = self.names.draw(statement, "arm");
                let word = stream(self.seed, &name, being.visit(), being.who).draw();
                let chosen = arm(word, arms.iter().map(|(p, _)| self.constant(p)));
                let block = chosen.map_or(otherwise, |chosen| &arms[chosen].1);
                being.stack.push(Frame::Block { block, at: 0, round: None });
            }
            Action::While { .. } => being.stack.push(Frame::While { statement }),
            Action::Repeat { count, body } => {
                let left = count.as_ref().map(|count| self.integer(being, count)).transpose()?;
                being.stack.push(Frame::Repeat { body, left });
            }
            Action::Set { name, value } => {
                let stream_name = self.names.draw(statement, "value");
                self.assign(being, name, value, &stream_name)?;
            }
            Action::Tally { name, value } => {
                let found = match value {
                    Some(written) => values::observation(&Eyes { world: self, being }, written)?,
                    None => Quantity::Time(self.now - being.created),
                };
                self.observe(name, found);
            }
            Action::Count { name, by } => {
                let by = by.as_ref().map_or(Ok(1), |by| self.integer(being, by))?;
                if by < 0 {
                    return wrong(FaultCode::Negative, by.unsigned_abs());
                }
                let counts = self.now >= self.warm_up;
                let counter = self.counters.entry(name).or_default();
                *counter += if counts { u64::from(by.unsigned_abs()) } else { 0 };
            }
            Action::Go { block } => {
                being.stack.clear();
                round(being, &self.model.entities[being.kind].blocks[block]);
            }
            Action::End => return self.end(slot, being),
            other => panic!("teach the interpreter this statement: {other:?}"),
        }
        Ok(Flow::On)
    }

    fn give(
        &mut self,
        slot: Slot,
        being: &mut Being<'m>,
        statement: &'m Statement,
        name: &'m str,
    ) -> Result<Flow, Wrong> {
        let age = self.age();
        let store = self.places.stores.get_mut(name).expect("a store");
        if let Some(first) = store.takers.first() {
            store.takers.leave(first.slot, age);
            let taker = self.being(first.slot);
            copy(taker.into, being, taker);
            self.grant(first.slot);
            return Ok(self.need_not_wait(being, statement));
        }
        let has_room = store.items.all.len() < store.capacity as usize;
        let line = if has_room { Where::Items(name) } else { Where::Givers(name) };
        self.wait(slot, being, statement, (line, 0), "the patience")
    }

    fn take(
        &mut self,
        slot: Slot,
        being: &mut Being<'m>,
        statement: &'m Statement,
        name: &'m str,
        into: &'m [(String, String)],
    ) -> Result<Flow, Wrong> {
        let age = self.age();
        let store = self.places.stores.get_mut(name).expect("a store");
        let Some(first) = store.items.first() else {
            being.into = into;
            return self.wait(slot, being, statement, (Where::Takers(name), 0), "the patience");
        };
        store.items.leave(first.slot, age);
        copy(into, self.being(first.slot), being);
        self.grant(first.slot);
        self.serve_store(name);
        Ok(self.need_not_wait(being, statement))
    }
}

/// Begins a round of a loop, or of a named block.
fn round<'m>(being: &mut Being<'m>, body: &'m [Statement]) {
    *being.visits.entry(body.as_ptr()).or_default() += 1;
    being.stack.push(Frame::Block { block: body, at: 0, round: Some(body.as_ptr()) });
}

fn copy<'m>(into: &'m [(String, String)], from: &Being<'m>, to: &mut Being<'m>) {
    for (own, theirs) in into {
        to.attributes.insert(own, from.attributes[&**theirs]);
    }
}

/// How a statement waits.
pub fn waiting(action: &Action) -> &Waiting {
    match action {
        Action::Seize { waiting, .. }
        | Action::Use { waiting, .. }
        | Action::Put { waiting, .. }
        | Action::Get { waiting, .. }
        | Action::Give { waiting, .. }
        | Action::Take { waiting, .. }
        | Action::Wait { waiting, .. }
        | Action::WaitUntil { waiting, .. } => waiting,
        other => panic!("{other:?} does not wait"),
    }
}

fn requests(action: &Action) -> &[Request] {
    match action {
        Action::Seize { requests, .. } | Action::Use { requests, .. } => requests,
        other => panic!("{other:?} does not seize"),
    }
}

/// The tally of a single wait. Of several requests, one tally counts all waits together.
fn own_tally(action: &Action) -> Option<&str> {
    let several = match action {
        Action::Seize { requests, .. } | Action::Use { requests, .. } => requests.len() > 1,
        _ => false,
    };
    waiting(action).tally.as_deref().filter(|_| !several)
}
