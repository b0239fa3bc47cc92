//! Random statements. What is seized is released, loops end or let time pass, and entities are
//! started by those before them; now and then not, which is a fault.

use eventhorizon::process::ir::*;

use super::Make;

/// Makes statements at a depth of blocks, if the model has what they need.
type Maker = fn(&mut Make, u32) -> Option<Vec<Action>>;

/// Kinds of statements that [`Make::block`] chooses from, with weights.
const CHOICES: [(u32, Maker); 26] = [
    (10, Make::delay),
    (8, Make::use_),
    (6, Make::seize),
    (4, Make::container),
    (4, Make::give),
    (4, Make::take),
    (3, Make::wait),
    (4, Make::send),
    (5, Make::wait_until),
    (6, Make::spawn),
    (1, Make::join),
    (5, Make::if_),
    (4, Make::with),
    (3, Make::while_),
    (4, Make::repeat),
    (8, Make::set),
    (5, Make::tally),
    (4, Make::count),
    (4, Make::leave),
    (2, Make::unmatched),
    (4, Make::interruptible),
    (4, Make::interrupt),
    (3, Make::wait_any),
    (3, Make::batch),
    (4, Make::select),
    (2, Make::resize),
];

impl Make {
    pub(super) fn statement(&mut self, action: Action) -> Statement {
        let label = self.some(12, |make| {
            make.labels += 1;
            format!("label {}", make.labels)
        });
        Statement { action, label, place: self.place() }
    }

    /// Statements without which others wait in vain, at any place of a process.
    pub(super) fn partners(&mut self, statements: &mut Vec<Statement>) {
        let mut actions = Vec::new();
        for (index, store) in self.model.stores.keys().cloned().enumerate().collect::<Vec<_>>() {
            let waiting = self.patient();
            if self.givers[index] == self.entity && !self.chance(4) {
                actions.push(Action::Give { store, waiting });
            } else if self.chance(2) {
                actions.push(Action::Take { store, into: Vec::new(), waiting });
            }
        }
        for container in self.model.containers.keys().cloned().collect::<Vec<_>>() {
            let (amount, waiting) = (Expression::Number((1 + self.below(6)).into()), self.patient());
            actions.push(match self.below(2) {
                0 => Action::Put { container, amount, waiting },
                _ => Action::Get { container, amount, waiting },
            });
        }
        for signal in self.model.signals.keys().cloned().collect::<Vec<_>>() {
            actions.push(match self.below(2) {
                0 => Action::Send { signal },
                _ => Action::Wait { signal, waiting: self.patient() },
            });
        }
        if self.entity + 1 < self.attributes.len() && self.chance(2) {
            let (entity, count) =
                (format!("e{}", self.entity + 1), Expression::Number((1 + self.below(2)).into()));
            let spawn = Action::Spawn { entity, count, set: Vec::new(), joined: true };
            let body = [spawn, Action::Join].map(|action| self.statement(action)).into();
            actions.push(Action::Repeat { count: Some(1.into()), body });
        }
        if self.chance(2) {
            let (condition, waiting) = (self.changing(), self.patient());
            actions.push(Action::WaitUntil { condition, waiting });
        }
        self.together(&mut actions);
        let mut actions: Vec<_> = actions.into_iter().map(|action| self.woken(action)).collect();
        let numbers = self.variables.iter().filter(|(_, kind)| *kind == Kind::Integer);
        for (name, _) in numbers.cloned().collect::<Vec<_>>() {
            let more = Expression::Binary(Binary::Plus, Box::new([name.as_str().into(), 1.into()]));
            let of = Expression::Binary(Binary::Modulo, Box::new([more, 5.into()]));
            actions.push(Action::Set { name, value: Value::Expression(of) });
        }
        for action in actions {
            if self.is_small && !self.chance(4) {
                continue;
            }
            let ends = |last: &Statement| {
                matches!(last.action, Action::End | Action::Go { .. } | Action::Repeat { count: None, .. })
            };
            let places = statements.len() + usize::from(!statements.last().is_some_and(ends));
            let at = self.below(places.max(1) as u32) as usize;
            let statement = self.statement(action);
            statements.insert(at, statement);
        }
    }

    /// A wait that continues in any case.
    pub(super) fn patient(&mut self) -> Waiting {
        let patience = self.some(2, |make| Patience {
            when: None,
            time: make.time(),
            otherwise: Vec::new(),
            continues: true,
        });
        let tally = self.some(3, |make| make.of(&["wait_0", "wait_1"]).to_owned());
        Waiting { priority: None, patience, tally, ..Waiting::default() }
    }

    /// A condition that others make hold.
    pub(super) fn changing(&mut self) -> Expression {
        let numbers = self.variables.iter().filter(|(_, kind)| *kind == Kind::Integer);
        let mut reads: Vec<Expression> = numbers.map(|(name, _)| Expression::Name(name.clone())).collect();
        let model = &self.model;
        reads.extend(model.resources.keys().cloned().map(|name| Expression::Reading(Reading::Free(name))));
        reads.extend(model.resources.keys().cloned().map(|name| Expression::Reading(Reading::Queue(name))));
        let levels = model.containers.keys().chain(model.stores.keys()).cloned();
        reads.extend(levels.map(|name| Expression::Reading(Reading::Level(name))));
        let (a, bound) = (self.of(&reads), self.below(4));
        let operator = self.of(&[Binary::Equal, Binary::Greater, Binary::Less]);
        let b = match self.below(3) {
            0 => Expression::Name(self.attributes[self.entity][0].0.clone()),
            _ => Expression::Number(bound.into()),
        };
        Expression::Binary(operator, Box::new([a, b]))
    }

    /// A delay of at least half a unit.
    pub(super) fn pause(&mut self) -> Statement {
        let time = self.of(&[0.5, 1.0, 2.0]);
        self.statement(Action::Delay(Value::Expression(time.into())))
    }

    /// About this number of statements.
    pub(super) fn block(&mut self, length: u32, depth: u32) -> Vec<Statement> {
        let mut all = Vec::new();
        let sum = CHOICES.iter().map(|(weight, _)| weight).sum();
        for _ in 0..length {
            if self.budget == 0 {
                break;
            }
            let mut at = self.below(sum);
            let chosen = CHOICES.iter().find(|(weight, _)| {
                let is = at < *weight;
                at = at.saturating_sub(*weight);
                is
            });
            let Some(actions) = chosen.and_then(|(_, make)| make(self, depth)) else { continue };
            self.budget = self.budget.saturating_sub(actions.len() as u32);
            let last = actions.last().is_some_and(|action| {
                matches!(action, Action::End | Action::Go { .. } | Action::Repeat { count: None, .. })
            });
            let made: Vec<_> = actions.into_iter().map(|action| self.statement(action)).collect();
            all.extend(made);
            if last {
                break;
            }
        }
        all
    }

    /// A block inside of a statement.
    pub(super) fn inner(&mut self, depth: u32) -> Vec<Statement> {
        let length = if depth > 2 { 1 } else { self.below(4) };
        self.block(length, depth + 1)
    }

    fn time(&mut self) -> Value {
        match self.below(4) {
            0 => self.law(),
            1 => Value::Expression(self.expression(Kind::Time, 1, false)),
            _ => Value::Expression(self.of(&[0.5, 1.0, 1.0, 2.0, 3.0]).into()),
        }
    }

    /// A resource, which may be the selected one.
    pub(super) fn resource(&mut self) -> String {
        if !self.selected.is_empty() && self.chance(2) {
            return SELECTED.to_owned();
        }
        let all: Vec<_> = self.model.resources.keys().cloned().collect();
        self.of(&all)
    }

    /// The orders of the lines that a name of a resource stands for.
    fn orders(&self, resource: &str) -> Vec<Order> {
        let order = |name: &str| self.model.resources[name].order;
        match resource {
            SELECTED => self.selected.iter().map(|name| order(name)).collect(),
            name => vec![order(name)],
        }
    }

    /// A name out of a table, if it has one.
    pub(super) fn named<T>(
        &mut self,
        table: fn(&ProcessModel) -> &indexmap::IndexMap<String, T>,
    ) -> Option<String> {
        let all: Vec<_> = table(&self.model).keys().cloned().collect();
        (!all.is_empty()).then(|| self.of(&all))
    }

    fn request(&mut self) -> Request {
        let resource = self.resource();
        if self.orders(&resource).contains(&Order::Preempt) {
            return Request { resource, units: 1.into() };
        }
        let several = self.model.resources.get(&resource);
        let several = several.is_some_and(|of| matches!(of.units, Expression::Number(units) if units > 1.0));
        let own = || Expression::Name(self.attributes[self.entity][0].0.clone());
        let units = match self.random.below(16) {
            0 => self.expression(Kind::Integer, 1, false),
            1 => own(),
            // 1 or 2.
            2 if several => {
                let two = Expression::Binary(Binary::Modulo, Box::new([own(), 2.into()]));
                Expression::Binary(Binary::Plus, Box::new([two, 1.into()]))
            }
            3 | 4 if several => 2.into(),
            _ => 1.into(),
        };
        Request { resource, units }
    }

    fn requests(&mut self) -> Vec<Request> {
        let mut requests = vec![self.request()];
        let other = self.request();
        let preempts = |request: &Request| self.orders(&request.resource).contains(&Order::Preempt);
        let can_be = !preempts(&requests[0]) && !preempts(&other);
        if can_be && other.resource != requests[0].resource && self.chance(3) {
            requests.push(other);
        }
        requests
    }

    fn releases(&mut self) -> Vec<Statement> {
        let held: Vec<_> = self.held.iter().rev().cloned().collect();
        held.into_iter()
            .map(|(resource, units)| {
                let requests = vec![Request { resource, units }];
                self.statement(Action::Release { requests })
            })
            .collect()
    }

    /// `may_continue` is false where what follows needs what the statement takes.
    pub(super) fn waiting(&mut self, order: Order, may_continue: bool, depth: u32) -> Waiting {
        let priority = match order {
            Order::Priority | Order::Preempt => self.some(2, |make| make.priority()),
            Order::Fifo => None,
        };
        let is_confined = self.is_confined;
        let patience = self.some(2, |make| {
            let when = make.some(4, |make| make.condition(1, false));
            let time = make.time();
            let mut otherwise = make.inner(depth + 1);
            let continues = is_confined || (may_continue && make.chance(2));
            let ends =
                otherwise.last().is_some_and(|last| matches!(last.action, Action::End | Action::Go { .. }));
            if !continues && !ends {
                otherwise.extend(make.releases());
            }
            Patience { when, time, otherwise, continues }
        });
        let patience = patience.filter(|_| may_continue || !is_confined);
        let tally = self.some(3, |make| make.of(&["wait_0", "wait_1"]).to_owned());
        Waiting { priority, patience, tally, ..Waiting::default() }
    }

    fn priority(&mut self) -> Expression {
        match self.below(3) {
            0 => self.expression(Kind::Integer, 1, false),
            1 => Expression::Name(self.attributes[self.entity][0].0.clone()),
            _ => Expression::Number(self.below(4).into()),
        }
    }

    fn order_of(&self, resources: &[Request]) -> Order {
        let mut all = resources.iter().flat_map(|request| self.orders(&request.resource));
        if all.all(|order| order != Order::Fifo) { Order::Priority } else { Order::Fifo }
    }

    fn delay(&mut self, _: u32) -> Option<Vec<Action>> {
        Some(vec![Action::Delay(self.time())])
    }

    pub(super) fn use_(&mut self, depth: u32) -> Option<Vec<Action>> {
        let requests = self.requests();
        let order = self.order_of(&requests);
        let mut waiting = self.waiting(order, true, depth);
        let before = self.held.len();
        self.held.extend(requests.iter().map(|request| (request.resource.clone(), request.units.clone())));
        let body = if self.chance(2) { self.inner(depth) } else { Vec::new() };
        waiting.then = if self.chance(3) { self.inner(depth) } else { Vec::new() };
        self.held.truncate(before);
        let time = self.some(2, Self::time).or_else(|| Some(Value::Expression(1.into())));
        if self.orders(&requests[0].resource).iter().all(|order| *order == Order::Preempt) {
            waiting.preempted = match self.below(5) {
                0 => Preempted::Repeat,
                1 => Preempted::Restart,
                2 => Preempted::Lose(self.inner(depth)),
                _ => Preempted::Resume,
            };
        }
        Some(vec![Action::Use { requests, waiting, body, time }])
    }

    fn seize(&mut self, depth: u32) -> Option<Vec<Action>> {
        // An interrupt would let it keep what it has.
        if self.is_interruptible && !self.chance(8) {
            return self.use_(depth);
        }
        let requests = self.requests();
        let order = self.order_of(&requests);
        let may_continue = self.chance(30) && !self.is_confined;
        let waiting = self.waiting(order, may_continue, depth);
        let before = self.held.len();
        self.held.extend(requests.iter().map(|request| (request.resource.clone(), request.units.clone())));
        let mut actions = vec![Action::Seize { requests: requests.clone(), waiting }];
        let inner = self.inner(depth);
        let ends = inner.last().is_some_and(|last| {
            matches!(last.action, Action::End | Action::Go { .. } | Action::Repeat { count: None, .. })
        });
        actions.extend(inner.into_iter().map(|statement| statement.action));
        self.held.truncate(before);
        if !ends {
            actions.push(Action::Release { requests });
        }
        Some(actions)
    }

    fn container(&mut self, depth: u32) -> Option<Vec<Action>> {
        let container = self.named(|model| &model.containers)?;
        let amount = match self.below(16) {
            0 => self.expression(Kind::Integer, 1, false),
            _ => Expression::Number((1 + self.below(5)).into()),
        };
        let order = self.model.containers[&container].order;
        let waiting = self.waiting(order, true, depth);
        Some(vec![match self.below(2) {
            0 => Action::Put { container, amount, waiting },
            _ => Action::Get { container, amount, waiting },
        }])
    }

    fn give(&mut self, depth: u32) -> Option<Vec<Action>> {
        let own = (self.givers.iter().zip(self.model.stores.keys()))
            .filter(|(giver, _)| **giver == self.entity)
            .map(|(_, name)| name.clone());
        let own: Vec<_> = own.collect();
        if own.is_empty() {
            return None;
        }
        let store = self.of(&own);
        let waiting = self.waiting(self.model.stores[&store].order, true, depth);
        Some(vec![Action::Give { store, waiting }])
    }

    fn take(&mut self, depth: u32) -> Option<Vec<Action>> {
        let store = self.named(|model| &model.stores)?;
        let giver = self.givers[self.model.stores.get_index_of(&store)?];
        let own = self.attributes[self.entity].clone();
        let theirs = self.attributes[giver].clone();
        let mut into: Vec<(String, String)> = Vec::new();
        for (own, kind) in own {
            let fitting: Vec<_> = theirs.iter().filter(|(_, of)| *of == kind).cloned().collect();
            if !fitting.is_empty() && self.chance(2) {
                into.push((own, self.of(&fitting).0));
            }
        }
        let waiting = self.waiting(Order::Fifo, true, depth);
        Some(vec![Action::Take { store, into, waiting }])
    }

    fn wait(&mut self, depth: u32) -> Option<Vec<Action>> {
        let signal = self.named(|model| &model.signals)?;
        let waiting = self.waiting(Order::Fifo, true, depth);
        Some(vec![Action::Wait { signal, waiting }])
    }

    fn send(&mut self, _: u32) -> Option<Vec<Action>> {
        Some(vec![Action::Send { signal: self.named(|model| &model.signals)? }])
    }

    fn wait_until(&mut self, depth: u32) -> Option<Vec<Action>> {
        let condition = if self.chance(2) { self.changing() } else { self.condition(2, true) };
        let waiting = self.waiting(Order::Fifo, true, depth);
        Some(vec![Action::WaitUntil { condition, waiting }])
    }

    fn spawn(&mut self, _: u32) -> Option<Vec<Action>> {
        let types = self.attributes.len();
        if self.entity + 1 >= types && !self.chance(6) {
            return None;
        }
        let later = self.below((types - self.entity) as u32) as usize + self.entity;
        let entity = if later == self.entity && !self.chance(8) { (later + 1).min(types - 1) } else { later };
        let count = match self.below(6) {
            0 => self.expression(Kind::Integer, 0, false),
            _ => Expression::Number(self.below(4).into()),
        };
        let mut set = Vec::new();
        for (name, kind) in self.attributes[entity].clone() {
            if self.chance(2) {
                set.push((name, self.expression(kind, 1, false)));
            }
        }
        let joined = self.chance(2);
        let mut actions = vec![Action::Spawn { entity: format!("e{entity}"), count, set, joined }];
        if joined && !self.chance(6) {
            actions.push(Action::Join);
        }
        Some(actions)
    }

    fn join(&mut self, _: u32) -> Option<Vec<Action>> {
        Some(vec![Action::Join])
    }

    fn if_(&mut self, depth: u32) -> Option<Vec<Action>> {
        let count = 1 + self.below(2);
        let arms = (0..count).map(|_| (self.condition(2, false), self.inner(depth))).collect();
        Some(vec![Action::If { arms, otherwise: self.inner(depth) }])
    }

    fn with(&mut self, depth: u32) -> Option<Vec<Action>> {
        let ps: &[f64] = match self.below(3) {
            0 => &[0.6],
            1 => &[0.2, 0.3],
            _ => &[0.5, 0.5],
        };
        let arms = ps.iter().map(|p| ((*p).into(), self.inner(depth))).collect();
        Some(vec![Action::With { arms, otherwise: self.inner(depth) }])
    }

    fn while_(&mut self, depth: u32) -> Option<Vec<Action>> {
        let own = self.attributes[self.entity][0].0.clone();
        let (condition, step) = match self.below(3) {
            0 => (self.condition(1, false), self.pause()),
            _ => {
                let bound = self.of(&[2, 3, 5]);
                let condition =
                    Expression::Binary(Binary::Less, Box::new([own.as_str().into(), bound.into()]));
                let more = Expression::Binary(Binary::Plus, Box::new([own.as_str().into(), 1.into()]));
                let set = Action::Set { name: own, value: Value::Expression(more) };
                (condition, self.statement(set))
            }
        };
        let mut body = vec![step];
        body.extend(self.inner(depth));
        Some(vec![Action::While { condition, body }])
    }

    fn repeat(&mut self, depth: u32) -> Option<Vec<Action>> {
        if depth == 0 && self.held.is_empty() && !self.is_confined && self.chance(3) {
            let mut body = vec![self.pause()];
            body.extend(self.inner(depth));
            return Some(vec![Action::Repeat { count: None, body }]);
        }
        let own: Expression = self.attributes[self.entity][0].0.as_str().into();
        let count = match self.below(4) {
            0 => Expression::Binary(Binary::Modulo, Box::new([own, 4.into()])),
            1 => match self.parameter_of(Kind::Integer) {
                Some(name) => Expression::Name(name),
                None => 1.into(),
            },
            _ => Expression::Number(self.below(4).into()),
        };
        Some(vec![Action::Repeat { count: Some(count), body: self.inner(depth) }])
    }

    fn set(&mut self, _: u32) -> Option<Vec<Action>> {
        let all = self.attributes[self.entity].iter().chain(&self.variables).cloned().collect::<Vec<_>>();
        let (name, kind) = self.of(&all);
        let value = match kind {
            Kind::Integer if self.chance(4) => self.choice(),
            Kind::Time if self.chance(3) => self.law(),
            kind => Value::Expression(self.expression(kind, 3, false)),
        };
        Some(vec![Action::Set { name, value }])
    }

    fn tally(&mut self, _: u32) -> Option<Vec<Action>> {
        let (kind, name) =
            self.of(&[(Kind::Integer, "integers"), (Kind::Time, "times"), (Kind::Real, "reals")]);
        let (value, name) = match self.below(3) {
            0 => (None, "ages"),
            _ => (Some(self.varying(kind, 3, false)), name),
        };
        // A constant has no kind of its own.
        let value = value.map(|value| match value {
            Expression::Number(_) => {
                let convert = match kind {
                    Kind::Integer => Unary::Integer,
                    Kind::Time => Unary::Time,
                    _ => Unary::Real,
                };
                Expression::Unary(convert, Box::new(value))
            }
            value => value,
        });
        Some(vec![Action::Tally { name: name.to_owned(), value }])
    }

    fn count(&mut self, _: u32) -> Option<Vec<Action>> {
        let by = self.some(2, |make| match make.below(3) {
            0 => make.expression(Kind::Integer, 2, false),
            _ => Expression::Number(make.below(4).into()),
        });
        let by = if self.chance(60) { Some((-3).into()) } else { by };
        Some(vec![Action::Count { name: self.of(&["n0", "n1"]).to_owned(), by }])
    }

    /// Ends, or goes to a block; what is held is released before, with few exceptions.
    fn leave(&mut self, depth: u32) -> Option<Vec<Action>> {
        if depth == 0 || self.is_confined {
            return None;
        }
        let mut actions: Vec<_> = match self.chance(10) {
            true => Vec::new(),
            false => self.releases().into_iter().map(|statement| statement.action).collect(),
        };
        let blocks = self.blocks.clone();
        actions.push(match !blocks.is_empty() && self.chance(2) {
            true => Action::Go { block: self.of(&blocks) },
            false => Action::End,
        });
        Some(actions)
    }

    /// A seize and a release that happen on some ways only: the program has to count.
    fn unmatched(&mut self, depth: u32) -> Option<Vec<Action>> {
        if self.is_interruptible {
            return None;
        }
        let requests = vec![Request { resource: self.resource(), units: 1.into() }];
        let seize = Action::Seize { requests: requests.clone(), waiting: Waiting::default() };
        let conditions = match self.below(3) {
            0 => [self.condition(1, false), self.condition(1, false)],
            _ => {
                let own: Expression = self.attributes[self.entity][0].0.as_str().into();
                let same = Expression::Binary(Binary::Less, Box::new([own, 2.into()]));
                [same.clone(), same]
            }
        };
        let between = self.chance(2).then(|| self.delay(depth)).flatten().unwrap_or_default();
        let [seize, release] =
            [seize, Action::Release { requests }].map(|action| vec![self.statement(action)]);
        let [first, second] = conditions;
        let of = |condition, block, otherwise| Action::If { arms: vec![(condition, block)], otherwise };
        let otherwise = self.inner(depth);
        let mut actions = vec![of(first, seize, otherwise)];
        actions.extend(between);
        actions.push(of(second, release, Vec::new()));
        Some(actions)
    }
}
