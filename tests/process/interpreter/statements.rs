//! What each statement does.

use eventhorizon::process::ir::{Action, Expression, Order, Patience, Request, Statement, Waiting};
use eventhorizon::process::program::{FaultCode, MOST_ENTITIES};

use super::draws::{arm, stream, text};
use super::lines::{Slot, Waiter, Where};
use super::run::{Being, Flow, Frame, State};
use super::values::{self, Quantity, Wrong, wrong};
use super::{Due, Eyes, World};
use crate::walk;

impl<'m> World<'m> {
    /// Waits in a line. `what` names the draw of the patience.
    pub(super) fn wait(
        &mut self,
        slot: Slot,
        being: &mut Being<'m>,
        statement: &'m Statement,
        place: (Where<'m>, u32),
        what: &str,
    ) -> Result<Flow<'m>, Wrong> {
        let waiting = waiting(&statement.action);
        let priority = waiting.priority.as_ref().map(|priority| self.integer(being, priority)).transpose()?;
        let mut bound = None;
        if let Some(Patience { when, time, .. }) = &waiting.patience
            && when.as_ref().map_or(Ok(true), |when| self.holds(being, when))?
        {
            let visit = being.visit();
            bound = Some(self.time_of(being, time, visit, || self.names.draw(statement, what))?);
        }
        let due = bound.map(|time| self.later(time));
        if due == Some(None) {
            self.take_number();
            return wrong(FaultCode::Never, 0);
        }
        let number = self.number + 1;
        let flow = self.enters(slot, being, place, priority, own_tally(&statement.action));
        if let Some(due) = due.flatten() {
            self.pending.insert((due, number), Due::Entity(slot));
        }
        Ok(flow)
    }

    /// Enters a line.
    pub(super) fn enters(
        &mut self,
        slot: Slot,
        being: &mut Being<'m>,
        (line, amount): (Where<'m>, u32),
        priority: Option<i32>,
        tally: Option<&'m str>,
    ) -> Flow<'m> {
        let (number, age) = (self.take_number(), self.age());
        let waiter = Waiter { slot, priority: priority.unwrap_or(0), number, amount };
        self.places.line(line).enter(waiter, age);
        (being.state, being.number) = (State::Line(line), number);
        being.stack.push(Frame::Waited { since: self.now, tally });
        match line {
            Where::Resource(name) if self.model.resources[name].order == Order::Preempt => Flow::Serves(name),
            _ => Flow::Stops,
        }
    }

    /// Goes on without a wait.
    pub(super) fn need_not_wait(&self, being: &mut Being<'m>, statement: &'m Statement) -> Flow<'m> {
        being.stack.push(Frame::Waited { since: self.now, tally: own_tally(&statement.action) });
        Flow::On
    }

    /// Takes units that are free, if nobody waits for them.
    pub(super) fn takes(&mut self, being: &mut Being<'m>, name: &'m str, units: i32) -> Result<bool, Wrong> {
        let age = self.age();
        let of = self.places.resources.get_mut(name).expect("a resource");
        let amount = units.cast_unsigned();
        if units < 1 || amount > of.most {
            return wrong(FaultCode::Request, amount);
        }
        let free = of.line.all.is_empty() && of.has(amount);
        if free {
            of.in_use.add(amount.into(), age);
            *being.held.entry(name).or_default() += amount;
        }
        Ok(free)
    }

    pub(super) fn seize(
        &mut self,
        slot: Slot,
        being: &mut Being<'m>,
        statement: &'m Statement,
        (units, taken): (Vec<i32>, Vec<(&'m str, i32)>),
        began: u64,
    ) -> Result<Flow<'m>, Wrong> {
        self.doing = text(&statement.action);
        let requests = requests(&statement.action);
        let Some(request) = requests.get(taken.len()) else {
            if let Some(tally) = waiting(&statement.action).tally.as_ref().filter(|_| requests.len() > 1) {
                self.observe(tally, Quantity::Time(self.now - began));
            }
            if let Action::Use { body, time, .. } = &statement.action {
                let preempts = |(name, _): &&(&str, i32)| self.model.resources[*name].order == Order::Preempt;
                let timed = match taken.iter().find(preempts) {
                    Some(&(name, _)) => Frame::Hold { statement, name, left: None },
                    None => Frame::Time { statement },
                };
                being.stack.push(Frame::Back { statement, taken });
                let then = then_of(statement);
                self.did.extend(then.is_some().then(|| "then".to_owned()));
                being.stack.extend(then);
                being.stack.extend(time.is_some().then_some(timed));
                being.stack.push(Frame::Block { block: body, at: 0, round: None });
            }
            return Ok(Flow::On);
        };
        let (name, units_of) = (being.resource(&request.resource), units[taken.len()]);
        being.stack.push(Frame::Seize { statement, units, taken, began });
        being.stack.push(Frame::Seized { name, units: units_of });
        if self.takes(being, name, units_of)? {
            return Ok(self.need_not_wait(being, statement));
        }
        let what = format!("{}/the patience", request.resource);
        self.wait(slot, being, statement, (Where::Resource(name), units_of.cast_unsigned()), &what)
    }

    pub(super) fn release(&mut self, being: &mut Being<'m>, name: &'m str, units: i32) -> Result<(), Wrong> {
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
    ) -> Result<Flow<'m>, Wrong> {
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

    pub(super) fn statement(
        &mut self,
        slot: Slot,
        being: &mut Being<'m>,
        statement: &'m Statement,
    ) -> Result<Flow<'m>, Wrong> {
        self.did.extend(text(&statement.action).split(' ').next().map(str::to_owned));
        match &statement.action {
            Action::Delay(value) => {
                let visit = being.visit();
                let time = self.time_of(being, value, visit, || self.names.draw(statement, "the delay"))?;
                return self.delay(slot, being, time);
            }
            Action::Seize { requests, .. } | Action::Use { requests, .. } => {
                let units = requests.iter().map(|request| self.integer(being, &request.units));
                let units = units.collect::<Result<_, _>>()?;
                being.stack.push(Frame::Seize { statement, units, taken: Vec::new(), began: self.now });
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
                let line = Where::Condition(self.condition(being, statement));
                return self.wait(slot, being, statement, (line, 0), "the patience");
            }
            Action::WaitAny { arms, .. } => return self.wait_any(slot, being, statement, arms),
            Action::Resize { resource, units } => {
                let units = self.integer(being, units)?;
                self.resize(being.resource(resource), units)?;
            }
            Action::Select { among, by, body } => {
                let among: Vec<&str> = among.iter().map(|name| being.resource(name)).collect();
                let choice = self.choice(being, statement, &among, *by);
                being.stack.push(Frame::Selected { choice, name: among[choice] });
                being.stack.push(Frame::Block { block: body, at: 0, round: None });
            }
            Action::Batch { size, body, .. } => return self.batch(slot, being, statement, (size, body)),
            Action::Interruptible { body, handler } => {
                being.stack.push(Frame::Interruptible { handler });
                being.stack.push(Frame::Block { block: body, at: 0, round: None });
            }
            Action::Interrupt { entity, number } => {
                let number = self.integer(being, number)?;
                self.interrupt(self.model.entities.get_index_of(entity).expect("a type"), number);
            }
            Action::Send { signal } => {
                *self.sent.entry(signal).or_default() += 1;
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
            Action::Note { value, .. } => {
                value.as_ref().map(|value| self.integer(being, value)).transpose()?;
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
    ) -> Result<Flow<'m>, Wrong> {
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
    ) -> Result<Flow<'m>, Wrong> {
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
pub(super) fn round<'m>(being: &mut Being<'m>, body: &'m [Statement]) {
    *being.visits.entry(body.as_ptr()).or_default() += 1;
    being.stack.push(Frame::Block { block: body, at: 0, round: Some(body.as_ptr()) });
}

fn copy<'m>(into: &'m [(String, String)], from: &Being<'m>, to: &mut Being<'m>) {
    for (own, theirs) in into {
        to.attributes.insert(own, from.attributes[&**theirs]);
    }
}

/// What a `use` does before it gives back.
pub(super) fn then_of(statement: &Statement) -> Option<Frame<'_>> {
    let block = &waiting(&statement.action).then;
    (!block.is_empty()).then_some(Frame::Block { block, at: 0, round: None })
}

/// How a statement waits.
pub(super) fn waiting(action: &Action) -> &Waiting {
    walk::waiting(action).unwrap_or_else(|| panic!("{action:?} does not wait"))
}

pub(super) fn requests(action: &Action) -> &[Request] {
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
