//! Statements with blocks that know what is around them: interruptible times and blocks, choices,
//! batches, waits for the first of several; and units that change.

use eventhorizon::process::ir::{
    Action, Awaited, Expression, Policy, Preempted, ProcessModel, SELECTED, Statement, Value,
};
use eventhorizon::process::program::FaultCode;
use eventhorizon::random::probability;

use super::draws::{number_of, stream, text};
use super::lines::{Slot, Waiter, Where};
use super::run::{Being, Flow, Frame, State};
use super::statements::{then_of, waiting};
use super::values::{Wrong, wrong};
use super::{Due, Eyes, World};
use crate::walk;

/// The most units of a resource that statements change.
pub(super) const MOST_UNITS: u32 = 65_535;

/// Whether a statement changes the units of a resource, by its name or as the selected one.
pub(super) fn resizes(model: &ProcessModel, name: &str) -> bool {
    fn within(block: &[Statement], name: &str, selected: bool) -> bool {
        block.iter().any(|statement| {
            let is = |of: &str| of == name || (selected && of == SELECTED);
            let selected = match &statement.action {
                Action::Resize { resource, .. } => return is(resource),
                Action::Select { among, .. } => among.iter().any(|of| is(of)),
                _ => selected,
            };
            walk::blocks(&statement.action).into_iter().any(|block| within(block, name, selected))
        })
    }
    let mut bodies =
        model.entities.values().flat_map(|entity| entity.blocks.values().chain([&entity.statements]));
    bodies.any(|block| within(block, name, false))
}

impl<'m> Being<'m> {
    /// The resource that the innermost `select` chose.
    pub(super) fn selected(&self) -> Option<&'m str> {
        self.stack.iter().rev().find_map(|frame| match frame {
            Frame::Selected { name, .. } => Some(*name),
            _ => None,
        })
    }

    /// The resource with this name, which may be the selected one.
    pub(super) fn resource(&self, written: &'m str) -> &'m str {
        if written == SELECTED { self.selected().unwrap_or(written) } else { written }
    }

    /// The choices around it, the outermost first.
    fn choices(&self) -> Vec<usize> {
        let choice = |frame: &Frame<'_>| match frame {
            Frame::Selected { choice, .. } => Some(*choice),
            _ => None,
        };
        self.stack.iter().filter_map(choice).collect()
    }

    fn can_be_interrupted(&self) -> bool {
        let waits = matches!(self.state, State::Delay | State::Line(_) | State::Join);
        waits && self.stack.iter().any(|frame| matches!(frame, Frame::Interruptible { .. }))
    }

    /// Leaves what it has begun in the innermost interruptible block. It continues with what is to
    /// be undone, the innermost first, and then with the other block.
    fn unwind(&mut self) {
        let mut undone = Vec::new();
        let handler = loop {
            match self.stack.pop().expect("it is in an interruptible block") {
                Frame::Interruptible { handler } => break handler,
                frame @ (Frame::Back { .. } | Frame::Separate { .. }) => undone.push(frame),
                Frame::Seize { statement, taken, .. } => {
                    if let Action::Use { .. } = statement.action {
                        undone.push(Frame::Back { statement, taken });
                    }
                }
                _ => {}
            }
        };
        self.stack.push(Frame::Block { block: handler, at: 0, round: None });
        self.stack.extend(undone.into_iter().rev());
    }
}

impl<'m> World<'m> {
    /// The number of a wait for a condition, of an entity at this statement.
    pub(super) fn condition(&self, being: &Being<'m>, statement: &Statement) -> usize {
        number_of(&self.names.conditions, statement, &being.choices())
    }

    /// Tries the line of what an entity left.
    pub(super) fn serve(&mut self, line: Where<'m>) {
        match line {
            Where::Resource(name) | Where::Holders(name) => self.serve_resource(name),
            Where::Getters(name) | Where::Putters(name) => self.serve_container(name),
            Where::Items(name) | Where::Givers(name) | Where::Takers(name) => self.serve_store(name),
            Where::Signal(_) | Where::Condition(_) | Where::Batch(_) => {}
        }
    }

    /// Begins interruptible time, or continues it with what is left.
    fn hold(
        &mut self,
        slot: Slot,
        being: &mut Being<'m>,
        statement: &'m Statement,
        name: &'m str,
        left: Option<u64>,
    ) -> Result<Flow<'m>, Wrong> {
        self.doing = text(&statement.action);
        let Action::Use { time: Some(time), waiting, .. } = &statement.action else { panic!("no time") };
        let left = match left {
            Some(left) => left,
            None => {
                let visit = match waiting.preempted {
                    Preempted::Restart => {
                        let drawn = being.restarts.entry(statement).or_default();
                        *drawn += 1;
                        *drawn
                    }
                    _ => being.visit(),
                };
                self.time_of(being, time, visit, || self.names.draw(statement, "the time"))?
            }
        };
        if being.held.get(name).is_none_or(|units| *units == 0) {
            return wrong(FaultCode::NotHeld, 0);
        }
        let priority = waiting.priority.as_ref().map(|priority| self.integer(being, priority)).transpose()?;
        let number = self.take_number();
        let Some(due) = self.later(left) else { return wrong(FaultCode::Never, 0) };
        self.pending.insert((due, number), Due::Entity(slot));
        let (line, age) = (Where::Holders(name), self.age());
        let waiter = Waiter { slot, priority: priority.unwrap_or(0), number, amount: 0 };
        self.places.line(line).enter(waiter, age);
        (being.state, being.number) = (State::Line(line), number);
        being.stack.push(Frame::Held { statement, left, since: self.now });
        Ok(Flow::Serves(name))
    }

    /// The end of interruptible time.
    pub(super) fn held(&mut self, slot: Slot, name: &'m str) {
        self.did.insert("held".to_owned());
        let age = self.age();
        self.places.line(Where::Holders(name)).leave(slot, age);
        let being = self.being(slot);
        (being.state, being.number) = (State::Ready, 0);
        let Some(Frame::Held { .. }) = being.stack.pop() else { panic!("its time does not pass") };
    }

    /// Takes the unit of an entity whose interruptible time passes.
    pub(super) fn preempt(&mut self, name: &'m str, slot: Slot) {
        let (now, age) = (self.now, self.age());
        let of = self.places.resources.get_mut(name).expect("a resource");
        of.holders.leave(slot, age);
        of.in_use.add(-1, age);
        let being = self.being(slot);
        *being.held.get_mut(name).expect("it holds a unit") -= 1;
        let Some(Frame::Held { statement, left, since }) = being.stack.pop() else {
            panic!("its time does not pass")
        };
        let needs_unit = then_of(statement).is_some_and(|_| being.stack.pop().is_some());
        let Some(Frame::Back { .. }) = being.stack.pop() else { panic!("it would not give back") };
        let (what, then) = match &waiting(&statement.action).preempted {
            Preempted::Resume => {
                let left = left.saturating_sub(now - since);
                let again = Frame::Again { statement, name, left: Some(left) };
                ("resume", (left > 0 || needs_unit).then_some(again))
            }
            Preempted::Repeat => ("repeat", Some(Frame::Again { statement, name, left: Some(left) })),
            Preempted::Restart => ("restart", Some(Frame::Again { statement, name, left: None })),
            Preempted::Lose(block) => ("lose", Some(Frame::Block { block, at: 0, round: None })),
        };
        being.stack.extend(then);
        self.did.insert(format!("preempted: {what}"));
        self.grant(slot);
    }

    /// Waits for a unit again that was taken away.
    fn again(
        &mut self,
        slot: Slot,
        being: &mut Being<'m>,
        statement: &'m Statement,
        name: &'m str,
        left: Option<u64>,
    ) -> Result<Flow<'m>, Wrong> {
        self.doing = text(&statement.action);
        being.stack.push(Frame::Regained { statement, name, left });
        if self.takes(being, name, 1)? {
            being.stack.push(Frame::Waited { since: self.now, tally: None });
            return Ok(Flow::On);
        }
        let priority = waiting(&statement.action).priority.as_ref();
        let priority = priority.map(|priority| self.integer(being, priority)).transpose()?;
        Ok(self.enters(slot, being, (Where::Resource(name), 1), priority, None))
    }

    pub(super) fn resize(&mut self, name: &'m str, units: i32) -> Result<(), Wrong> {
        let Some(units) = u32::try_from(units).ok().filter(|units| *units <= MOST_UNITS) else {
            return wrong(FaultCode::Request, units.cast_unsigned());
        };
        self.places.resources.get_mut(name).expect("a resource").units = units;
        self.serve_resource(name);
        Ok(())
    }

    /// Interrupts the entity with this number, if it waits where it can be.
    pub(super) fn interrupt(&mut self, kind: usize, number: i32) {
        let is = |being: &Being<'_>| being.kind == kind && being.who == number.cast_unsigned();
        let found = self.entities.iter().find(|(_, being)| is(being) && being.can_be_interrupted());
        let Some((&slot, being)) = found else { return };
        let state = being.state;
        let age = self.age();
        let what = match state {
            State::Line(line) => {
                self.places.line(line).leave(slot, age);
                format!("interrupted {}", line.kind())
            }
            state => format!("interrupted {state:?}"),
        };
        self.did.insert(what);
        let being = self.being(slot);
        (being.state, being.number) = (State::Ready, 0);
        being.unwind();
        self.ready.push_back(slot);
        if let State::Line(line) = state {
            self.serve(line);
        }
    }

    /// The number of the resource that a `select` takes.
    pub(super) fn choice(
        &mut self,
        being: &Being<'m>,
        statement: &'m Statement,
        among: &[&'m str],
        by: Policy,
    ) -> usize {
        self.did.insert(format!("select: {by:?}"));
        // The first with the least cost.
        let least = |costs: Vec<i64>| {
            let least = costs.iter().min().expect("a resource");
            costs.iter().position(|cost| cost == least).expect("the least")
        };
        let of = |name: &&str| &self.places.resources[*name];
        match by {
            Policy::Shortest => {
                least(among.iter().map(of).map(|of| of.line.length.value + of.in_use.value).collect())
            }
            Policy::MostFree => least(among.iter().map(of).map(|of| -of.free()).collect()),
            Policy::InTurn => {
                let turn = self.turns.entry(self.names.key(statement).to_owned()).or_default();
                let choice = *turn;
                *turn = (choice + 1) % among.len();
                choice
            }
            Policy::Random => {
                let name = self.names.draw(statement, "choice");
                let word = stream(self.seed, &name, being.visit(), being.who).draw();
                let upto = |number: usize| probability(number as f64 / among.len() as f64).expect("a share");
                (1..among.len()).find(|number| word < upto(*number)).unwrap_or(among.len()) - 1
            }
        }
    }

    /// Waits for others, or takes them along.
    pub(super) fn batch(
        &mut self,
        slot: Slot,
        being: &mut Being<'m>,
        statement: &'m Statement,
        (size, body): (&Expression, &'m [Statement]),
    ) -> Result<Flow<'m>, Wrong> {
        let line = Where::Batch(number_of(&self.names.batches, statement, &being.choices()));
        let size = self.constant(size) as usize;
        if self.places.line(line).all.len() + 1 < size {
            return self.wait(slot, being, statement, (line, 0), "the patience");
        }
        let age = self.age();
        let mut members = Vec::new();
        while let Some(first) = self.places.line(line).first() {
            members.push(self.places.line(line).leave(first.slot, age).slot);
        }
        for member in &members {
            let member = self.being(*member);
            (member.state, member.number) = (State::Member, 0);
        }
        being.stack.push(Frame::Separate { statement, members });
        being.stack.push(Frame::Block { block: body, at: 0, round: None });
        Ok(Flow::On)
    }

    pub(super) fn wait_any(
        &mut self,
        slot: Slot,
        being: &mut Being<'m>,
        statement: &'m Statement,
        arms: &'m [(Awaited, Vec<Statement>)],
    ) -> Result<Flow<'m>, Wrong> {
        let sent = arms.iter().map(|(awaited, _)| match awaited {
            Awaited::Signal(signal) => self.sent.get(&**signal).copied().unwrap_or(0),
            Awaited::Until(_) => 0,
        });
        being.stack.push(Frame::Arms { statement, sent: sent.collect() });
        if self.arm(being)?.is_some() {
            return Ok(self.need_not_wait(being, statement));
        }
        let line = Where::Condition(self.condition(being, statement));
        self.wait(slot, being, statement, (line, 0), "the patience")
    }

    /// The first arm that holds, of the innermost wait for several. All are computed.
    fn arm(&self, being: &Being<'m>) -> Result<Option<usize>, Wrong> {
        let arms = being.stack.iter().rev().find_map(|frame| match frame {
            Frame::Arms { statement, sent } => Some((statement, sent)),
            _ => None,
        });
        let (statement, sent) = arms.expect("it waits for the first of several");
        let Action::WaitAny { arms, .. } = &statement.action else { panic!("no arms") };
        let mut found = None;
        for (number, ((awaited, _), before)) in arms.iter().zip(sent).enumerate() {
            let holds = match awaited {
                Awaited::Signal(signal) => self.sent.get(&**signal).copied().unwrap_or(0) != *before,
                Awaited::Until(condition) => self.holds(being, condition)?,
            };
            found = found.or(holds.then_some(number));
        }
        Ok(found)
    }

    /// Whether what an entity waits for at a statement holds.
    pub(super) fn may_continue(&self, slot: Slot, statement: &Statement) -> Result<bool, Wrong> {
        let being = &self.entities[&slot];
        match &statement.action {
            Action::WaitUntil { condition, .. } => {
                super::values::holds(&Eyes { world: self, being }, condition)
            }
            _ => Ok(self.arm(being)?.is_some()),
        }
    }

    /// Lets a period of a schedule pass, or begins the next one.
    fn shift(
        &mut self,
        slot: Slot,
        being: &mut Being<'m>,
        name: &'m str,
        period: usize,
        passes: bool,
    ) -> Result<Flow<'m>, Wrong> {
        let periods = &self.model.schedules[name].periods;
        if passes {
            self.doing = "delay".to_owned();
            let next = (period + 1) % periods.len();
            being.stack.push(Frame::Shift { name, period: next, passes: false });
            let lasts = Value::Expression(periods[period].lasts.into());
            let time = self.time_of(being, &lasts, 0, String::new)?;
            return self.delay(slot, being, time);
        }
        self.doing = format!("resize {name}");
        self.did.insert("shift".to_owned());
        being.stack.push(Frame::Shift { name, period, passes: true });
        let units = self.constant(&periods[period].units);
        self.resize(name, units as i32)?;
        Ok(Flow::On)
    }

    pub(super) fn scope(
        &mut self,
        slot: Slot,
        being: &mut Being<'m>,
        frame: Frame<'m>,
    ) -> Result<Flow<'m>, Wrong> {
        match frame {
            Frame::Hold { statement, name, left } => return self.hold(slot, being, statement, name, left),
            Frame::Again { statement, name, left } => return self.again(slot, being, statement, name, left),
            Frame::Regained { statement, name, left } => {
                being.stack.push(Frame::Back { statement, taken: vec![(name, 1)] });
                being.stack.extend(then_of(statement));
                being.stack.push(Frame::Hold { statement, name, left });
            }
            Frame::Separate { statement, members } => {
                self.doing = text(&statement.action);
                self.did.insert("separated".to_owned());
                members.into_iter().for_each(|member| self.grant(member));
            }
            Frame::Arms { statement, sent } => {
                self.doing = text(&statement.action);
                let Action::WaitAny { arms, .. } = &statement.action else { panic!("no arms") };
                being.stack.push(Frame::Arms { statement, sent });
                let arm = self.arm(being)?.expect("it was granted");
                being.stack.pop();
                let (awaited, block) = &arms[arm];
                let what = if let Awaited::Signal(_) = awaited { "signal" } else { "condition" };
                self.did.insert(format!("any: {what}"));
                being.stack.push(Frame::Block { block, at: 0, round: None });
            }
            Frame::Shift { name, period, passes } => return self.shift(slot, being, name, period, passes),
            Frame::Selected { .. } | Frame::Interruptible { .. } => {}
            other => panic!("{other:?} is executed elsewhere"),
        }
        Ok(Flow::On)
    }
}
