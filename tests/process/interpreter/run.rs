//! Entities and what they do.

use std::collections::BTreeMap;

use eventhorizon::process::ir::{Action, Arguments, Expression, Statement, Value};
use eventhorizon::process::program::FaultCode;

use super::draws::{arm, stream, text, variate};
use super::lines::{Slot, Where};
use super::statements::{round, waiting};
use super::values::{self, Quantity, Wrong, wrong};
use super::{Due, ENDLESS, Eyes, World};

/// What an entity does between events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State<'m> {
    Ready,
    Delay,
    Line(Where<'m>),
    Join,
    /// Another takes it along.
    Member,
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
    pub(super) visits: BTreeMap<*const Statement, u32>,
    /// How often a time that restarts was drawn, by its statement.
    pub(super) restarts: BTreeMap<*const Statement, u32>,
    /// What it gets of an entity that it waits for.
    pub(super) into: &'m [(String, String)],
    /// What it does next is the last.
    pub(super) stack: Vec<Frame<'m>>,
}

impl<'m> Being<'m> {
    fn new(kind: usize, who: u32, created: u64, stack: Vec<Frame<'m>>) -> Self {
        Self {
            kind,
            who,
            created,
            attributes: BTreeMap::new(),
            held: BTreeMap::new(),
            parent: None,
            children: 0,
            state: State::Ready,
            number: 0,
            waited: 0,
            visits: BTreeMap::new(),
            restarts: BTreeMap::new(),
            into: &[],
            stack,
        }
    }

    pub fn waited(&self) -> u64 {
        self.waited
    }

    /// The round of the innermost loop.
    pub(super) fn visit(&self) -> u32 {
        let round = self.stack.iter().rev().find_map(|frame| match frame {
            Frame::Block { round: Some(first), .. } => Some(*first),
            _ => None,
        });
        round.map_or(0, |first| self.visits[&first])
    }
}

/// What an entity has begun.
#[derive(Debug, Clone)]
pub(super) enum Frame<'m> {
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
    /// Seizes this many units of each request behind those that were granted. The first began at
    /// `began`.
    Seize {
        statement: &'m Statement,
        units: Vec<i32>,
        taken: Vec<(&'m str, i32)>,
        began: u64,
    },
    /// Behind the grant of this many units.
    Seized {
        name: &'m str,
        units: i32,
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
    /// Lets the time of a `use` pass that can be preempted: what is left, or a new one.
    Hold {
        statement: &'m Statement,
        name: &'m str,
        left: Option<u64>,
    },
    /// While that time passes.
    Held {
        statement: &'m Statement,
        left: u64,
        since: u64,
    },
    /// Waits for a unit that was taken away.
    Again {
        statement: &'m Statement,
        name: &'m str,
        left: Option<u64>,
    },
    /// Behind that wait.
    Regained {
        statement: &'m Statement,
        name: &'m str,
        left: Option<u64>,
    },
    /// In the block of a `select` that chose this resource.
    Selected {
        choice: usize,
        name: &'m str,
    },
    /// In a block that can be interrupted.
    Interruptible {
        handler: &'m [Statement],
    },
    /// Lets those continue that it took along.
    Separate {
        statement: &'m Statement,
        members: Vec<Slot>,
    },
    /// Executes the first arm that holds. `sent` are the sendings before.
    Arms {
        statement: &'m Statement,
        sent: Vec<u32>,
    },
    /// Lets this period of a schedule pass, or begins it.
    Shift {
        name: &'m str,
        period: usize,
        passes: bool,
    },
}

/// Whether an entity goes on.
pub(super) enum Flow<'m> {
    On,
    Stops,
    /// It stops, and then the line of this resource is tried.
    Serves(&'m str),
    Ended,
}

impl<'m> World<'m> {
    /// Starts an entity, which runs when its turn comes.
    pub(super) fn spawn(&mut self, kind: usize, given: &[(&'m str, Quantity)], parent: Option<Slot>) {
        let Some(slot) = self.slot() else { return };
        let entity = &self.model.entities[kind];
        let mut attributes: BTreeMap<&str, Quantity> =
            entity.attributes.iter().map(|(name, of)| (&**name, Quantity::zero(of.kind))).collect();
        attributes.extend(given.iter().copied());
        let given = given.iter().map(|(name, _)| *name).collect();
        let stack = vec![
            Frame::Block { block: &entity.statements, at: 0, round: None },
            Frame::Attributes { given, next: 0 },
        ];
        self.counts[kind] += 1;
        let who = self.counts[kind];
        self.insert(slot, Being { attributes, parent, ..Being::new(kind, who, self.now, stack) });
    }

    /// Starts the entity of a schedule, whose type is behind those of the model.
    pub(super) fn begin_schedule(&mut self, number: usize) {
        let Some(slot) = self.slot() else { return };
        let kind = self.model.entities.len() + number;
        self.counts[kind] += 1;
        let stack = vec![Frame::Shift { name: self.schedules[number], period: 0, passes: true }];
        self.insert(slot, Being::new(kind, 1, self.now, stack));
    }

    fn slot(&mut self) -> Option<Slot> {
        if let Some(slot) = self.free.pop() {
            return Some(slot);
        }
        if self.fresh == self.room {
            self.full = true;
            return None;
        }
        self.fresh += 1;
        Some(self.fresh - 1)
    }

    fn insert(&mut self, slot: Slot, being: Being<'m>) {
        self.entities.insert(slot, being);
        self.ready.push_back(slot);
    }

    pub(super) fn being(&mut self, slot: Slot) -> &mut Being<'m> {
        self.entities.get_mut(&slot).expect("an entity")
    }

    /// An entity that left what it waited in.
    pub(super) fn continues(&mut self, slot: Slot) {
        let what = match self.being(slot).state {
            State::Line(line) => format!("granted {}", line.kind()),
            state @ (State::Ready | State::Delay | State::Join | State::Member) => {
                format!("behind {state:?}")
            }
        };
        self.did.insert(what);
        let being = self.being(slot);
        (being.state, being.number) = (State::Ready, 0);
    }

    pub(super) fn grant(&mut self, slot: Slot) {
        self.continues(slot);
        self.ready.push_back(slot);
    }

    /// The end of a delay or of a patience.
    pub(super) fn awake(&mut self, slot: Slot) {
        let state = self.being(slot).state;
        match state {
            State::Delay => self.continues(slot),
            State::Line(Where::Holders(name)) => self.held(slot, name),
            State::Line(line) => {
                self.did.insert(format!("gave up {}", line.kind()));
                let being = self.being(slot);
                (being.state, being.number) = (State::Ready, 0);
                let age = self.age();
                self.places.line(line).leave(slot, age);
                self.give_up(slot);
                self.serve(line);
            }
            State::Ready | State::Join | State::Member => panic!("{state:?} has no event"),
        }
    }

    /// What an entity does whose patience ended.
    fn give_up(&mut self, slot: Slot) {
        let being = self.being(slot);
        let Some(Frame::Waited { since, .. }) = being.stack.pop() else { panic!("it does not wait") };
        let mut back = None;
        match being.stack.last() {
            Some(Frame::Seized { .. }) => {
                being.stack.pop();
                let Some(Frame::Seize { statement, taken, .. }) = being.stack.pop() else {
                    panic!("it seizes nothing")
                };
                back = Some(Frame::Back { statement, taken });
            }
            Some(Frame::Arms { .. }) => drop(being.stack.pop()),
            _ => {}
        }
        let at = being.stack.iter().rev().find_map(|frame| match frame {
            Frame::Block { block, at, .. } => Some(&block[at - 1]),
            _ => None,
        });
        let patience = waiting(&at.expect("its statement").action).patience.as_ref().expect("a patience");
        being.stack.push(Frame::GaveUp { continues: patience.continues });
        being.stack.push(Frame::Block { block: &patience.otherwise, at: 0, round: None });
        being.stack.push(Frame::Waited { since, tally: None });
        being.stack.extend(back);
    }

    pub(super) fn serve_resource(&mut self, name: &'m str) {
        let age = self.age();
        loop {
            let of = self.places.resources.get_mut(name).expect("a resource");
            if let Some(holder) = of.preempted() {
                self.preempt(name, holder.slot);
                continue;
            }
            let Some(first) = of.line.first().filter(|first| of.has(first.amount)) else { return };
            of.line.leave(first.slot, age);
            of.in_use.add(first.amount.into(), age);
            *self.being(first.slot).held.entry(name).or_default() += first.amount;
            self.grant(first.slot);
        }
    }

    pub(super) fn serve_container(&mut self, name: &'m str) {
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
    pub(super) fn serve_store(&mut self, name: &'m str) {
        let age = self.age();
        loop {
            let of = self.places.stores.get_mut(name).expect("a store");
            let has_room = of.items.all.len() < of.capacity as usize;
            let Some(first) = of.givers.first().filter(|_| has_room) else { return };
            of.givers.leave(first.slot, age);
            of.items.enter(first, age);
            self.did.insert("went inside".to_owned());
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
                Ok(Flow::Serves(name)) => {
                    self.entities.insert(slot, being);
                    return self.serve_resource(name);
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

    fn go_on(&mut self, slot: Slot, being: &mut Being<'m>) -> Result<Flow<'m>, Wrong> {
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
            Frame::Seize { statement, units, taken, began } => {
                return self.seize(slot, being, statement, (units, taken), began);
            }
            Frame::Seized { name, units } => {
                let Some(Frame::Seize { taken, .. }) = being.stack.last_mut() else { panic!("no seize") };
                taken.push((name, units));
            }
            Frame::Time { statement } => {
                self.doing = text(&statement.action);
                let Action::Use { time: Some(time), .. } = &statement.action else { panic!("no time") };
                let visit = being.visit();
                let time = self.time_of(being, time, visit, || self.names.draw(statement, "the time"))?;
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
                    let name = being.resource(&request.resource);
                    self.release(being, name, units)?;
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
            frame => return self.scope(slot, being, frame),
        }
        Ok(Flow::On)
    }

    pub(super) fn holds(&self, being: &Being<'m>, written: &Expression) -> Result<bool, Wrong> {
        values::holds(&Eyes { world: self, being }, written)
    }

    pub(super) fn integer(&self, being: &Being<'m>, written: &Expression) -> Result<i32, Wrong> {
        values::integer(&Eyes { world: self, being }, written)
    }

    /// How long: computed, or drawn from the stream of this name in this round.
    pub(super) fn time_of(
        &self,
        being: &Being<'m>,
        value: &Value,
        visit: u32,
        name: impl Fn() -> String,
    ) -> Result<u64, Wrong> {
        let eyes = Eyes { world: self, being };
        match value {
            Value::Expression(written) => values::time(&eyes, written),
            Value::Law(law) => match &law.arguments {
                Arguments::One(written) if law.name == "constant" => values::time(&eyes, written),
                _ => {
                    let mut stream = stream(self.seed, &name(), visit, being.who);
                    Ok(variate(law, &mut stream, self.resolution, &|name| self.parameter(name)))
                }
            },
            Value::Choice(_) => panic!("a choice of times"),
        }
    }

    pub(super) fn observe(&mut self, name: &'m str, value: Quantity) {
        let counts = self.now >= self.warm_up;
        let tally = self.tallies.entry(name).or_default();
        if !counts {
            return;
        }
        tally.observe(value.bits());
        let kind = value.kind().expect("a value with a kind");
        for (text, bound) in self.model.tallies.get(name).iter().flat_map(|of| &of.up_to) {
            let bound = Quantity::Constant(self.constant(bound), None);
            let bound = bound.of_kind(kind, self.resolution);
            if value.bits() <= bound.bits() {
                *self.shares.entry(format!("share({name} <= {text})")).or_default() += 1;
            }
        }
    }

    pub(super) fn assign(
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

    pub(super) fn delay(&mut self, slot: Slot, being: &mut Being<'m>, time: u64) -> Result<Flow<'m>, Wrong> {
        let number = self.take_number();
        let Some(due) = self.later(time) else { return wrong(FaultCode::Never, 0) };
        self.pending.insert((due, number), Due::Entity(slot));
        (being.state, being.number) = (State::Delay, number);
        Ok(Flow::Stops)
    }

    pub(super) fn end(&mut self, slot: Slot, being: &mut Being<'m>) -> Result<Flow<'m>, Wrong> {
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
}
