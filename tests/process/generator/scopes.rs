//! Random statements with blocks that know what is around them, and those that act on them.

use eventhorizon::process::ir::*;

use super::Make;
use crate::walk;

impl Make {
    /// Adds what preempts and interrupts others, and what waits for others of its type.
    pub(super) fn together(&mut self, actions: &mut Vec<Action>) {
        let orders = self.model.resources.iter().map(|(name, of)| (name.clone(), of.order));
        for (name, order) in orders.collect::<Vec<_>>() {
            if order != Order::Preempt || self.chance(3) {
                continue;
            }
            let priority = Some(match self.below(3) {
                0 => Expression::Name(self.attributes[self.entity][0].0.clone()),
                _ => Expression::Number(self.below(4).into()),
            });
            let preempted = match self.below(4) {
                0 => Preempted::Repeat,
                1 => Preempted::Restart,
                2 => Preempted::Lose(vec![self.pause()]),
                _ => Preempted::Resume,
            };
            let waiting = Waiting { priority, preempted, ..self.patient() };
            let requests = vec![Request { resource: name, units: 1.into() }];
            let time = Some(self.long());
            actions.push(Action::Use { requests, waiting, body: Vec::new(), time });
        }
        if self.chance(3) {
            let size = Expression::Number((2 + self.below(2)).into());
            actions.push(Action::Batch { size, body: Vec::new(), waiting: self.patient(), permanent: false });
        }
        let delay = Action::Delay(self.long());
        actions.push(delay);
        for _ in 0..self.below(3) {
            let mut body = vec![self.pause()];
            for _ in 0..1 + self.below(2) {
                let interrupt = self.interrupt(0).expect("always made");
                body.extend(interrupt.into_iter().map(|action| self.statement(action)));
            }
            let count = Some(Expression::Number((1 + self.below(3)).into()));
            actions.push(Action::Repeat { count, body });
        }
    }

    /// A time in which others come.
    fn long(&mut self) -> Value {
        match self.below(3) {
            0 => crate::models::law("exponential", &[3.0]),
            _ => Value::Expression(self.of(&[2.0, 3.0, 5.5]).into()),
        }
    }

    /// The same, or the same as a block that can be interrupted.
    pub(super) fn woken(&mut self, action: Action) -> Action {
        if self.chance(2) {
            return action;
        }
        let mut handler = vec![self.statement(Action::Count { name: "woken".to_owned(), by: None })];
        if let Action::Repeat { .. } = action {
            handler.push(self.statement(Action::Join));
        }
        Action::Interruptible { body: vec![self.statement(action)], handler }
    }

    /// A block that can be interrupted, and lets time pass.
    pub(super) fn interruptible(&mut self, depth: u32) -> Option<Vec<Action>> {
        let around = std::mem::replace(&mut self.is_interruptible, true);
        let mut body = self.inner(depth);
        let pause = self.pause();
        let at = self.below(body.len() as u32 + 1) as usize;
        let ends = |statement: &Statement| matches!(statement.action, Action::End | Action::Go { .. });
        let at = if body.last().is_some_and(ends) { at.min(body.len() - 1) } else { at };
        body.insert(at, pause);
        self.is_interruptible = around;
        let handler = self.inner(depth);
        let joins = |action: &Action| matches!(action, Action::Spawn { joined: true, .. });
        // An interrupt may come before the `join` in the block.
        let joins = walk::any(&body, &joins).then_some(Action::Join);
        Some([Action::Interruptible { body, handler }].into_iter().chain(joins).collect())
    }

    pub(super) fn interrupt(&mut self, _: u32) -> Option<Vec<Action>> {
        let entity = self.of(&self.model.entities.keys().cloned().collect::<Vec<_>>());
        let last = Expression::Reading(Reading::Last(entity.clone()));
        let before = self.below(3);
        let number = match self.below(6) {
            0..=2 => Expression::Binary(Binary::Minus, Box::new([last, before.cast_signed().into()])),
            3 => Expression::Name(self.attributes[self.entity][0].0.clone()),
            4 => Expression::Reading(Reading::Number),
            _ => Expression::Number((1 + self.below(4)).into()),
        };
        Some(vec![Action::Interrupt { entity, number }])
    }

    pub(super) fn wait_any(&mut self, depth: u32) -> Option<Vec<Action>> {
        let count = 1 + self.below(3);
        let arms = (0..count).map(|_| {
            let signal = self.named(|model| &model.signals).filter(|_| self.chance(2));
            let awaited = match signal {
                Some(signal) => Awaited::Signal(signal),
                None if self.chance(2) => Awaited::Until(self.changing()),
                None => Awaited::Until(self.condition(1, true)),
            };
            (awaited, self.inner(depth))
        });
        let arms = arms.collect();
        Some(vec![Action::WaitAny { arms, waiting: self.waiting(Order::Fifo, true, depth) }])
    }

    pub(super) fn batch(&mut self, depth: u32) -> Option<Vec<Action>> {
        let waiting = self.waiting(Order::Fifo, true, depth);
        let around = std::mem::replace(&mut self.is_confined, true);
        let body = self.inner(depth);
        self.is_confined = around;
        let size = match self.parameter_of(Kind::Integer).filter(|_| self.chance(3)) {
            Some(name) => Expression::Name(name),
            None => Expression::Number((1 + self.below(4)).into()),
        };
        Some(vec![Action::Batch { size, body, waiting, permanent: false }])
    }

    /// A choice of resources. What is held of one that was selected has that name, so there is no
    /// other choice inside.
    pub(super) fn select(&mut self, depth: u32) -> Option<Vec<Action>> {
        if self.held.iter().any(|(resource, _)| resource == SELECTED) {
            return None;
        }
        let count = 1 + self.below(3);
        let among: Vec<String> = (0..count).map(|_| self.resource()).collect();
        let chosen = among.iter().flat_map(|name| match &**name {
            SELECTED => self.selected.clone(),
            name => vec![name.to_owned()],
        });
        let chosen = chosen.collect();
        let around = std::mem::replace(&mut self.selected, chosen);
        let by = self.of(&[Policy::Shortest, Policy::MostFree, Policy::InTurn, Policy::Random]);
        let mut body = self.inner(depth);
        if let Some(used) = self.use_(depth).filter(|_| body.len() < 3) {
            let used: Vec<_> = used.into_iter().map(|action| self.statement(action)).collect();
            body.splice(0..0, used);
        }
        self.selected = around;
        Some(vec![Action::Select { among, by, body }])
    }

    pub(super) fn resize(&mut self, _: u32) -> Option<Vec<Action>> {
        let units = match self.below(8) {
            0 => self.expression(Kind::Integer, 1, false),
            1 => 0.into(),
            2 => Expression::Name(self.attributes[self.entity][0].0.clone()),
            _ => Expression::Number((1 + self.below(3)).into()),
        };
        Some(vec![Action::Resize { resource: self.resource(), units }])
    }
}
