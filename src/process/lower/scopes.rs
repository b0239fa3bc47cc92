//! Statements with blocks that know what is around them: resources in use, which may be taken away;
//! selected resources; and waits for the first of several.

use super::super::error::ProcessError;
use super::super::ir::{
    Action, Awaited, Binary, Expression, Kind, Order, Place, Policy, Preempted, Request, SELECTED, Statement,
    Value, Waiting,
};
use super::super::program::{
    self, Act, Condition, ConstantKind, EntityWord, Expr, MOST_ENTITIES, Node, Op, Slot, StepId, Time, Wait,
};
use super::bounds::not_preempted;
use super::lowering::{Lowering, number};
use super::names::{index, resource};
use super::statements::{Here, Named, attribute, binary, literal, plus, reads_attributes, reads_time};
use super::walk;

impl Lowering<'_> {
    pub(super) fn resource(&self, named: &Named<'_>, name: &str) -> Result<u32, ProcessError> {
        resource(self.model, name, named.here.selected, named.place)
    }

    /// Seizes, executes `body`, lets time pass and releases.
    #[expect(clippy::too_many_arguments, reason = "the parts of a statement, and two steps")]
    pub(super) fn used(
        &mut self,
        named: &Named<'_>,
        requests: &[Request],
        waiting: &Waiting,
        body: &[Statement],
        time: Option<&Value>,
        at: StepId,
        next: StepId,
    ) -> Result<(), ProcessError> {
        let release = self.reserve()?;
        let begin = self.reserve()?;
        let ending = if waiting.then.is_empty() { release } else { self.reserve()? };
        let mut held = None;
        for request in requests {
            let resource = self.resource(named, &request.resource)?;
            if time.is_some() && self.resources[resource as usize].holders.is_some() {
                held = Some(resource);
            }
        }
        if held.is_none() {
            not_preempted(waiting, named.place)?;
        }
        self.seize(named, requests, waiting, [at, begin, next], true)?;
        let interrupted = named.here.interrupted.map(|handler| self.unwound(named, requests, handler));
        let here = Here { interrupted: interrupted.transpose()?, ..*named.here };
        let timing = if time.is_some() { self.reserve()? } else { ending };
        self.block(&here, body, begin, timing)?;
        let within = Named { here: &here, key: named.key.clone(), text: named.text.clone(), ..*named };
        match (time, held) {
            (None, _) => {}
            (Some(time), None) => {
                // Copies of a statement have the same words: that of a resource with preemption
                // has one for the rest of its time.
                if requests.iter().any(|request| request.resource == SELECTED) {
                    self.hidden(named.here.process, Kind::Time);
                }
                let time = self.time(&within, time, "the time")?;
                self.put(timing, &within, Vec::new(), Act::Delay { time, next: ending });
            }
            (Some(_), Some(_)) if requests.len() > 1 => {
                return Err(ProcessError::Unsupported {
                    place: named.place,
                    what: "using several resources, one of them with preemption,".to_owned(),
                    remedy: "use one inside the `do` of the other",
                });
            }
            (Some(time), Some(resource)) => {
                let steps = [timing, ending, next];
                self.hold(named, &within, (resource, requests), waiting, time, steps)?;
            }
        }
        if ending != release {
            self.block(&here, &waiting.then, ending, release)?;
        }
        let backwards: Vec<Request> = requests.iter().rev().cloned().collect();
        self.release(named, &backwards, release, next)
    }

    /// Lets time pass from the step `timing` to `ending`, unless the unit is taken away. `within`
    /// is the statement while it holds the unit.
    fn hold(
        &mut self,
        named: &Named<'_>,
        within: &Named<'_>,
        (resource, requests): (u32, &[Request]),
        waiting: &Waiting,
        time: &Value,
        [timing, ending, next]: [StepId; 3],
    ) -> Result<(), ProcessError> {
        let process = named.here.process;
        let rest = self.hidden(process, Kind::Time);
        let (hold, taken) = (self.reserve()?, self.reserve()?);
        let restarts = waiting.preempted == Preempted::Restart;
        let mut here = *within.here;
        let mut rounds = Vec::new();
        if restarts && !matches!(time, Value::Expression(_)) {
            let word = self.hidden(process, Kind::Integer);
            here.visit = Some(word);
            rounds.push(Op::Set(Slot::Attribute(word), plus(word, 1)));
        }
        let timed = Named { here: &here, key: within.key.clone(), text: within.text.clone(), ..*within };
        let to = Slot::Attribute(rest);
        match self.time(&timed, time, "the time")? {
            Time::Computed(value) => {
                rounds.push(Op::Set(to, value));
                self.put(timing, &timed, rounds, Act::Jump { next: hold });
            }
            Time::Drawn(draw) => self.put(timing, &timed, rounds, Act::Draw { draw, to, next: hold }),
        }
        let line = self.resources[resource as usize].holders.expect("it has preemption");
        let priority = waiting.priority.as_ref().map(|of| self.integer(within, of, "the priority"));
        let left = Expr { kind: Kind::Time, node: Node::Attribute(rest) };
        let patience =
            program::Patience { when: None, time: Time::Computed(left.clone()), otherwise: ending };
        let priority = priority.transpose()?;
        let wait = Wait { line, priority, patience: Some(patience), held: None, since: false };
        self.put(hold, within, Vec::new(), Act::Hold { resource, wait, next: taken });
        let mut target = hold;
        if let Preempted::Lose(block) = &waiting.preempted {
            return self.block(named.here, block, taken, next);
        }
        let again = self.reserve()?;
        match &waiting.preempted {
            Preempted::Resume => {
                let [passed, zero] =
                    [Node::Waited, Node::Literal(0)].map(|node| Expr { kind: Kind::Time, node });
                let ops = vec![Op::Set(to, binary(Binary::Minus, Kind::Time, left.clone(), passed))];
                let condition = binary(Binary::Greater, Kind::Condition, left, zero);
                let act = match waiting.then.is_empty() {
                    true => Act::Branch { condition, yes: again, no: next },
                    // What follows needs a unit, even if no time is left.
                    false => Act::Jump { next: again },
                };
                self.put(taken, named, ops, act);
            }
            Preempted::Repeat | Preempted::Lose(_) => {
                self.put(taken, named, Vec::new(), Act::Jump { next: again })
            }
            Preempted::Restart => {
                self.put(taken, named, Vec::new(), Act::Jump { next: again });
                target = timing;
            }
        }
        let waiting = Waiting { priority: waiting.priority.clone(), ..Waiting::default() };
        self.seize(named, requests, &waiting, [again, target, next], true)
    }

    /// Waits until this holds.
    pub(super) fn wait_until(
        &mut self,
        named: &Named<'_>,
        holds: Expr,
        waiting: &Waiting,
        at: StepId,
        next: StepId,
        behind: StepId,
    ) -> Result<(), ProcessError> {
        let unsupported = |what: &str, remedy| {
            Err(ProcessError::Unsupported { place: named.place, what: what.to_owned(), remedy })
        };
        if reads_time(&holds) {
            return unsupported("waiting until a condition of the time", "use a delay, or `patience`");
        }
        let counts: Vec<u32> = self.processes.iter().map(|process| process.count).collect();
        if holds.any(&mut |node| matches!(node, Node::Global(word) if counts.contains(word))) {
            return unsupported("waiting until a condition of `last()`", "set a variable, and wait for it");
        }
        let line = self.line(self.line_name(named), Order::Fifo);
        let own = reads_attributes(&holds);
        self.conditions.push(Condition { line, holds, watch: 0, own });
        let condition = number(self.conditions.len() - 1);
        let (wait, next) = self.wait(named, waiting, line, Order::Fifo, next, behind)?;
        self.put(at, named, Vec::new(), Act::WaitUntil { condition, wait, next });
        Ok(())
    }

    /// Waits for the first of several. A signal has a variable that counts its sendings, which the
    /// entity compares with what it was.
    pub(super) fn wait_any(
        &mut self,
        named: &Named<'_>,
        arms: &[(Awaited, Vec<Statement>)],
        waiting: &Waiting,
        at: StepId,
        next: StepId,
    ) -> Result<(), ProcessError> {
        let mut before = Vec::new();
        let mut conditions = Vec::new();
        for (awaited, _) in arms {
            conditions.push(match awaited {
                Awaited::Until(condition) => self.condition(named, condition)?,
                Awaited::Signal(signal) => {
                    index(&self.model.signals, signal, "a signal", named.place)?;
                    let now = self.global_integer(self.sent[signal]);
                    let word = self.hidden(named.here.process, Kind::Integer);
                    before.push(Op::Set(Slot::Attribute(word), now.clone()));
                    binary(Binary::Unequal, Kind::Condition, now, attribute(word))
                }
            });
        }
        // A grant changes it before the arms are tried again.
        let waited = self.waited[named.here.process as usize].map(Node::Attribute);
        let mut reads = |node: &Node| Some(node) == waited.as_ref();
        if conditions.iter().any(|condition| condition.any(&mut reads)) {
            return Err(ProcessError::Unsupported {
                place: named.place,
                what: "`waited` in `wait_any`".to_owned(),
                remedy: "set an attribute to it before",
            });
        }
        let or = |a, b| binary(Binary::Or, Kind::Condition, a, b);
        let Some(holds) = conditions.iter().cloned().reduce(or) else {
            return Err(ProcessError::Setting {
                place: named.place,
                what: "`wait_any`".to_owned(),
                value: "empty".to_owned(),
                remedy: "write what it waits for".to_owned(),
            });
        };
        let (wait, mut arm) = (self.reserve()?, self.reserve()?);
        self.put(at, named, before, Act::Jump { next: wait });
        self.wait_until(named, holds, waiting, wait, arm, next)?;
        for (index, ((_, block), condition)) in arms.iter().zip(conditions).enumerate() {
            if index + 1 == arms.len() {
                return self.block(named.here, block, arm, next);
            }
            let (yes, no) = (self.reserve()?, self.reserve()?);
            self.put(arm, named, Vec::new(), Act::Branch { condition, yes, no });
            self.block(named.here, block, yes, next)?;
            arm = no;
        }
        Ok(())
    }

    /// Waits until entities are together. The last one executes the block for all, unless the batch
    /// is permanent: then the others end.
    pub(super) fn batch(
        &mut self,
        named: &Named<'_>,
        size: &Expression,
        (body, permanent): (&[Statement], bool),
        waiting: &Waiting,
        at: StepId,
        next: StepId,
    ) -> Result<(), ProcessError> {
        let leaves = |action: &Action| match action {
            _ if permanent => false,
            Action::Go { .. } | Action::End | Action::Repeat { count: None, .. } => true,
            action => walk::patience(action).is_some_and(|patience| !patience.continues),
        };
        if walk::any(body, &mut leaves.clone()) {
            return Err(ProcessError::Unsupported {
                place: named.place,
                what: "leaving the `do` of a `batch`".to_owned(),
                remedy: "let it end behind its last statement, and patience `continue`",
            });
        }
        let kind = ConstantKind::Whole(size.clone(), [1, MOST_ENTITIES]);
        let size = self.constants.constant(kind, "the size of the batch", named.place);
        let members = self.hidden(named.here.process, Kind::Integer);
        let (begin, separate) = (self.reserve()?, self.reserve()?);
        let line = self.line(self.line_name(named), Order::Fifo);
        let behind = if permanent { self.end(named.here, named.place)? } else { next };
        let (wait, others) = self.wait(named, waiting, line, Order::Fifo, behind, next)?;
        if permanent {
            let act = Act::Batch { size, members, wait, next: others, begin: separate };
            self.put(at, named, Vec::new(), act);
            self.put(separate, named, Vec::new(), Act::Separate { members, next: begin });
            return self.block(named.here, body, begin, next);
        }
        self.put(at, named, Vec::new(), Act::Batch { size, members, wait, next: others, begin });
        self.put(separate, named, Vec::new(), Act::Separate { members, next });
        let mut here = *named.here;
        if let Some(handler) = here.interrupted {
            let first = self.reserve()?;
            self.put(first, named, Vec::new(), Act::Separate { members, next: handler });
            here.interrupted = Some(first);
        }
        self.block(&here, body, begin, separate)
    }

    /// Starts copies of the entity that execute the block and end.
    pub(super) fn copied(
        &mut self,
        named: &Named<'_>,
        count: &Expression,
        body: &[Statement],
        joined: bool,
        at: StepId,
        next: StepId,
    ) -> Result<(), ProcessError> {
        let process = named.here.process;
        let count = self.integer(named, count, "the number of copies")?;
        let attributes = self.processes[process as usize].attributes.iter();
        let set = attributes.map(|of| (of.word, Expr { kind: of.kind, node: Node::Attribute(of.word) }));
        let set = set.collect();
        let joined = joined.then(|| self.children(process));
        let entry = self.reserve()?;
        self.copies.push((process, entry));
        self.put(at, named, Vec::new(), Act::Spawn { process, entry, count, set, joined, next });
        // A copy has its own numbers, and is in no block around the statement.
        let here = Here { visit: None, interrupted: None, ..*named.here };
        let end = self.end(&here, body.last().map_or(named.place, |last| last.place))?;
        self.block(&here, body, entry, end)
    }

    /// The name of the line of a statement.
    fn line_name(&self, named: &Named<'_>) -> String {
        match named.here.selected {
            Some(resource) => format!("queue({}/{})", named.key, self.resources[resource as usize].name),
            None => format!("queue({})", named.key),
        }
    }

    /// Chooses a resource, and executes a copy of the block for it.
    pub(super) fn select(
        &mut self,
        named: &Named<'_>,
        among: &[String],
        by: Policy,
        body: &[Statement],
        at: StepId,
        next: StepId,
    ) -> Result<(), ProcessError> {
        let process = named.here.process;
        let resources = among.iter().map(|name| self.resource(named, name)).collect::<Result<Vec<_>, _>>()?;
        let Some((last, before)) = resources.split_last() else {
            return Err(ProcessError::Setting {
                place: named.place,
                what: "`select`".to_owned(),
                value: "empty".to_owned(),
                remedy: "name resources".to_owned(),
            });
        };
        // Copies have the same words, so what they share has its word before.
        let joins = |action: &Action| match action {
            Action::Join => true,
            Action::Spawn { joined, .. } | Action::Clone { joined, .. } => *joined,
            _ => false,
        };
        if walk::any(body, &mut joins.clone()) {
            self.children(process);
        }
        let chosen = self.hidden(process, Kind::Integer);
        let mut branch = self.reserve()?;
        self.choose(named, &resources, by, chosen, at, branch)?;
        let (words, occurrences) = (self.words[process as usize], self.occurrences.clone());
        for (choice, resource) in (0..).zip(before) {
            let (yes, no) = (self.reserve()?, self.reserve()?);
            let condition = binary(Binary::Equal, Kind::Condition, attribute(chosen), literal(choice));
            self.put(branch, named, Vec::new(), Act::Branch { condition, yes, no });
            self.block(&Here { selected: Some(*resource), ..*named.here }, body, yes, next)?;
            self.words[process as usize] = words;
            self.occurrences.clone_from(&occurrences);
            branch = no;
        }
        self.block(&Here { selected: Some(*last), ..*named.here }, body, branch, next)
    }

    /// Sets a word to the number of the chosen resource among these.
    fn choose(
        &mut self,
        named: &Named<'_>,
        resources: &[u32],
        by: Policy,
        chosen: EntityWord,
        at: StepId,
        next: StepId,
    ) -> Result<(), ProcessError> {
        let integer = |node| Expr { kind: Kind::Integer, node };
        let of = |operator, a, b| binary(operator, Kind::Integer, a, b);
        let to = Slot::Attribute(chosen);
        let mut ops = Vec::new();
        match by {
            Policy::Random => {
                let draw =
                    self.draw(&format!("{}/choice", named.key), None, named.here.visit, named.place)?;
                #[expect(clippy::cast_precision_loss, reason = "at most 1,024")]
                let share = |count: usize| (count as f64 / resources.len() as f64).into();
                let mut arms = Vec::new();
                for (choice, _) in (0..).zip(resources).skip(1) {
                    let below = ConstantKind::Probability(vec![share(arms.len() + 1)]);
                    arms.push((
                        self.constants.constant(below, "the share of a choice", named.place),
                        choice - 1,
                    ));
                }
                let otherwise = i32::try_from(arms.len()).expect("at most 1,024");
                self.put(at, named, ops, Act::Choose { draw, arms, otherwise, to, next });
                return Ok(());
            }
            Policy::InTurn => {
                let variable = self.turn(&named.key);
                let count = literal(resources.len().try_into().expect("at most 1,024"));
                let turn = self.global_integer(variable);
                ops.push(Op::Set(to, turn));
                let following = of(Binary::Modulo, plus(chosen, 1), count);
                ops.push(Op::Set(Slot::Variable(variable), following));
            }
            Policy::Shortest | Policy::MostFree => {
                let least = self.hidden(named.here.process, Kind::Integer);
                for (choice, &resource) in (0..).zip(resources) {
                    let line = self.resources[resource as usize].line;
                    let used = integer(Node::InUse(resource));
                    let cost = match by {
                        Policy::Shortest => of(Binary::Plus, integer(Node::Length(line)), used),
                        _ => of(Binary::Minus, used, integer(Node::Units(resource))),
                    };
                    let (mut value, mut lower) = (literal(choice), cost.clone());
                    if choice > 0 {
                        let less = binary(Binary::Less, Kind::Condition, cost.clone(), attribute(least));
                        value = integer(Node::Select(Box::new([less, value, attribute(chosen)])));
                        lower = of(Binary::Min, cost, attribute(least));
                    }
                    ops.push(Op::Set(to, value));
                    ops.push(Op::Set(Slot::Attribute(least), lower));
                }
            }
        }
        self.put(at, named, ops, Act::Jump { next });
        Ok(())
    }

    fn global_integer(&self, variable: u32) -> Expr {
        let node = Node::Global(self.variables[variable as usize].word);
        Expr { kind: Kind::Integer, node }
    }

    /// Adds 1 to a variable.
    pub(super) fn counted(&self, variable: u32) -> Op {
        let more = binary(Binary::Plus, Kind::Integer, self.global_integer(variable), literal(1));
        Op::Set(Slot::Variable(variable), more)
    }

    /// The variable with whose turn it is at a statement; its copies share it.
    fn turn(&mut self, key: &str) -> u32 {
        if let Some(known) = self.turns.get(key) {
            return *known;
        }
        let variable = self.free_turns.pop().expect("a variable for each statement");
        self.variables[variable as usize].name = format!("turn({key})");
        self.turns.insert(key.to_owned(), variable);
        variable
    }

    /// Variables without names: they have words before the rows of resources begin.
    pub(super) fn hidden_variables(&mut self) {
        let model = self.model;
        let (mut signals, mut turns) = (indexmap::IndexSet::new(), 0);
        let bodies = model.entities.values().flat_map(|entity| {
            entity.blocks.values().map(|block| &block[..]).chain([&entity.statements[..]])
        });
        for body in bodies {
            walk::any(body, &mut |action| {
                match action {
                    Action::WaitAny { arms, .. } => {
                        signals.extend(arms.iter().filter_map(|(of, _)| match of {
                            Awaited::Signal(signal) => Some(signal.clone()),
                            Awaited::Until(_) => None,
                        }))
                    }
                    Action::Select { by: Policy::InTurn, .. } => turns += 1,
                    _ => {}
                }
                false
            });
        }
        for signal in signals {
            let variable = self.hidden_variable(format!("sent({signal})"));
            self.sent.insert(signal, variable);
        }
        self.free_turns = (0..turns).map(|_| self.hidden_variable(String::new())).collect();
    }

    fn hidden_variable(&mut self, name: String) -> u32 {
        let kind = ConstantKind::Value(Kind::Integer, 0.into());
        let first = self.constants.constant(kind, "a hidden variable", Place::default());
        let word = self.word(Kind::Integer);
        let kind = Kind::Integer;
        self.variables.push(program::Variable { word, kind, first, level: None, watch: 0, name });
        number(self.variables.len() - 1)
    }
}
