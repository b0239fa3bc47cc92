//! Makes steps of statements. A statement is compiled at a step that is already numbered, with the
//! step that follows it.

use super::super::error::ProcessError;
use super::super::ir::{self, Action, Arguments, Binary, Expression, Kind, Order, Place, Statement, Value};
use super::super::program::{
    Act, ConstantKind, DRAWN_HASH, Draw, EntityWord, Expr, FIRST_COUNT, Node, Op, Slot, Step, StepId,
    SumKind, Time,
};
use super::bounds::not_preempted;
use super::expression::Expressions;
use super::lowering::{CREATED, Lowering, number, take};
use super::names::index;
use super::walk;
use crate::random::mix;

/// Where a statement is compiled.
#[derive(Clone, Copy)]
pub(super) struct Here {
    pub(super) process: u32,
    /// The word that counts the rounds of the innermost loop that draws.
    pub(super) visit: Option<EntityWord>,
    /// Where it continues when it is interrupted.
    pub(super) interrupted: Option<StepId>,
    /// The resource that a statement around it chose.
    pub(super) selected: Option<u32>,
}

impl Here {
    fn of(process: u32) -> Self {
        Self { process, visit: None, interrupted: None, selected: None }
    }
}

/// A statement's text, for faults and random streams.
pub(super) struct Named<'s> {
    /// `use doctor`.
    pub(super) text: String,
    /// `patient/use doctor#1`.
    pub(super) key: String,
    pub(super) place: Place,
    pub(super) here: &'s Here,
}

impl Lowering<'_> {
    /// Compiles all types. Returns the first steps of each.
    pub(super) fn entities(&mut self) -> Result<Vec<Vec<StepId>>, ProcessError> {
        let model = self.model;
        for (process, entity) in (0..).zip(model.entities.values()) {
            let body = self.reserve()?;
            let blocks = entity.blocks.keys().map(|name| Ok((name.clone(), self.reserve()?)));
            let blocks = blocks.collect::<Result<_, ProcessError>>()?;
            self.bodies.push(body);
            self.blocks.push(blocks);
            let all = || entity.blocks.values().map(|block| &block[..]).chain([&entity.statements[..]]);
            let waited = all().any(|block| walk::any(block, &mut walk::reads_waited))
                || entity.attributes.values().any(walk::first_reads_waited);
            let waited = waited.then(|| self.hidden(process, Kind::Time));
            self.waited.push(waited);
        }
        let mut count = FIRST_COUNT + number(model.entities.len());
        for (process, entity) in (0..).zip(model.entities.values()) {
            let here = Here::of(process);
            let body = self.bodies[process as usize];
            let end = self.end(&here, entity.statements.last().map_or(entity.place, |last| last.place))?;
            self.block(&here, &entity.statements, body, end)?;
            for (name, block) in &entity.blocks {
                let at = self.blocks[process as usize][name];
                let end = self.end(&here, block.last().map_or(entity.place, |last| last.place))?;
                self.rounds(&here, block, at, end, entity.place)?;
            }
            self.sources(process, count)?;
            count += number(entity.sources.len());
        }
        Ok((0..).zip(model.entities.values()).map(|(process, _)| self.entries_of(process)).collect())
    }

    fn entries_of(&self, process: u32) -> Vec<StepId> {
        let own = self.preludes.iter().filter(|((of, _), _)| *of == process).map(|(_, step)| *step);
        let copies = self.copies.iter().filter(|(of, _)| *of == process).map(|(_, step)| *step);
        own.chain(copies).collect()
    }

    /// The first step of an entity whose attributes `given` have values: it makes the others.
    pub(super) fn entry(&mut self, process: u32, given: &[String]) -> Result<StepId, ProcessError> {
        let key = (process, given.to_vec());
        if let Some(step) = self.preludes.get(&key) {
            return Ok(*step);
        }
        let model = self.model;
        let (name, entity) = model.entities.get_index(process as usize).expect("a type of the model");
        let here = Here::of(process);
        let mut at = self.reserve()?;
        self.preludes.insert(key, at);
        for (attribute, written) in entity.attributes.iter().filter(|(name, _)| !given.contains(name)) {
            let Some(value) = &written.value else { continue };
            let next = self.reserve()?;
            let (text, key) = (format!("set {attribute}"), format!("{name}/{attribute}"));
            let named = Named { text, key, place: written.place, here: &here };
            self.set(&named, attribute, value, at, next)?;
            at = next;
        }
        let body = self.bodies[process as usize];
        let named = Named { text: "begin".to_owned(), key: String::new(), place: entity.place, here: &here };
        self.put(at, &named, Vec::new(), Act::Jump { next: body });
        Ok(self.preludes[&(process, given.to_vec())])
    }

    pub(super) fn reserve(&mut self) -> Result<StepId, ProcessError> {
        let (count, most) = (self.steps.len(), usize::from(StepId::MAX));
        self.steps.push(None);
        StepId::try_from(count).map_err(|_| ProcessError::TooMany { what: "steps", count, most })
    }

    pub(super) fn put(&mut self, at: StepId, named: &Named<'_>, ops: Vec<Op>, act: Act) {
        let (process, statement, place) = (named.here.process, named.text.clone(), named.place);
        let waits = act.wait().is_some() || matches!(act, Act::Delay { .. } | Act::Join { .. });
        let interrupted = named.here.interrupted.filter(|_| waits);
        self.steps[usize::from(at)] = Some(Step { ops, act, interrupted, process, statement, place });
    }

    pub(super) fn end(&mut self, here: &Here, place: Place) -> Result<StepId, ProcessError> {
        let at = self.reserve()?;
        let named = Named { text: "end".to_owned(), key: String::new(), place, here };
        self.put(at, &named, Vec::new(), Act::End { children: None, held: Vec::new() });
        Ok(at)
    }

    /// A word of an entity without a name.
    pub(super) fn hidden(&mut self, process: u32, kind: Kind) -> EntityWord {
        take(&mut self.words[process as usize], kind)
    }

    pub(super) fn children(&mut self, process: u32) -> EntityWord {
        let known = self.processes[process as usize].children;
        let word = known.unwrap_or_else(|| self.hidden(process, Kind::Integer));
        self.processes[process as usize].children = Some(word);
        word
    }

    /// A draw with this name.
    pub(super) fn draw(
        &mut self,
        name: &str,
        law: Option<&ir::Law>,
        visit: Option<EntityWord>,
        place: Place,
    ) -> Result<u32, ProcessError> {
        let law = law.map(|law| self.law(law, place)).transpose()?;
        let hash = (mix(DRAWN_HASH, name.bytes().map(u32::from)) >> 32) as u32;
        let draw = Draw { law, hash, visit, name: name.to_owned() };
        let same =
            |other: &Draw| ProcessError::SameStreams { first: other.name.clone(), second: name.to_owned() };
        if let Some((index, _, known)) = self.draws.get_full(name) {
            return if *known == draw { Ok(number(index)) } else { Err(same(known)) };
        }
        if let Some(other) = self.draws.values().find(|other| other.hash == hash) {
            return Err(same(other));
        }
        self.draws.insert(name.to_owned(), draw);
        Ok(number(self.draws.len() - 1))
    }

    fn expressions(&mut self, here: &Here) -> Expressions<'_> {
        Expressions {
            model: self.model,
            resolution: self.resolution,
            constants: &mut self.constants,
            variables: &self.variables,
            stores: &self.stores,
            containers: &self.containers,
            resources: &self.resources,
            processes: &self.processes,
            selected: here.selected,
            signals: &self.signals,
            lines: &self.lines,
            created: CREATED,
            waited: self.waited[here.process as usize],
        }
    }

    pub(super) fn of(
        &mut self,
        named: &Named<'_>,
        written: &Expression,
        kind: Kind,
        what: &str,
    ) -> Result<Expr, ProcessError> {
        let scope = self.scopes[named.here.process as usize].clone();
        self.expressions(named.here).of(&scope, written, kind, what, named.place)
    }

    pub(super) fn integer(
        &mut self,
        named: &Named<'_>,
        written: &Expression,
        what: &str,
    ) -> Result<Expr, ProcessError> {
        self.of(named, written, Kind::Integer, what)
    }

    pub(super) fn condition(
        &mut self,
        named: &Named<'_>,
        written: &Expression,
    ) -> Result<Expr, ProcessError> {
        self.of(named, written, Kind::Condition, "the condition")
    }

    /// How long, computed or drawn.
    pub(super) fn time(
        &mut self,
        named: &Named<'_>,
        value: &Value,
        what: &str,
    ) -> Result<Time, ProcessError> {
        match value {
            Value::Expression(written) => Ok(Time::Computed(self.of(named, written, Kind::Time, what)?)),
            Value::Law(ir::Law { name, arguments: Arguments::One(time) }) if name == "constant" => {
                Ok(Time::Computed(self.of(named, time, Kind::Time, what)?))
            }
            Value::Law(law) => {
                let key = format!("{}/{what}", named.key);
                Ok(Time::Drawn(self.draw(&key, Some(law), named.here.visit, named.place)?))
            }
            Value::Choice(_) => Err(ProcessError::Unsupported {
                place: named.place,
                what: format!("a choice as {what}"),
                remedy: "set an attribute to the choice, and use `time(attribute)`",
            }),
        }
    }

    pub(super) fn block(
        &mut self,
        here: &Here,
        all: &[Statement],
        at: StepId,
        next: StepId,
    ) -> Result<(), ProcessError> {
        let model = self.model;
        let Some((last, before)) = all.split_last() else {
            let named =
                Named { text: "continue".to_owned(), key: String::new(), place: Place::default(), here };
            self.put(at, &named, Vec::new(), Act::Jump { next });
            return Ok(());
        };
        let mut at = at;
        for (statement, behind) in before.iter().zip(&all[1..]) {
            if matches!(
                statement.action,
                Action::End | Action::Go { .. } | Action::Repeat { count: None, .. }
            ) {
                let entity = model.entities.get_index(here.process as usize).map(|(name, _)| name.clone());
                return Err(ProcessError::Unreachable {
                    place: behind.place,
                    entity: entity.unwrap_or_default(),
                });
            }
            let following = self.reserve()?;
            self.statement(here, statement, at, following)?;
            at = following;
        }
        self.statement(here, last, at, next)
    }

    /// A block that may be entered repeatedly: counts its rounds if it draws.
    pub(super) fn rounds(
        &mut self,
        here: &Here,
        all: &[Statement],
        at: StepId,
        next: StepId,
        place: Place,
    ) -> Result<(), ProcessError> {
        if !walk::any(all, &mut walk::draws) {
            return self.block(here, all, at, next);
        }
        let word = self.hidden(here.process, Kind::Integer);
        let begin = self.reserve()?;
        let named = Named { text: "round".to_owned(), key: String::new(), place, here };
        let ops = vec![Op::Set(Slot::Attribute(word), plus(word, 1))];
        self.put(at, &named, ops, Act::Jump { next: begin });
        self.block(&Here { visit: Some(word), ..*here }, all, begin, next)
    }

    fn named<'s>(&mut self, here: &'s Here, statement: &Statement) -> Named<'s> {
        let text = walk::text(&statement.action);
        let entity = self.processes[here.process as usize].name.clone();
        let key = match &statement.label {
            Some(label) => format!("{entity}/{label}"),
            None => {
                let count = self.occurrences.entry((here.process, text.clone())).or_default();
                *count += 1;
                format!("{entity}/{text}#{count}")
            }
        };
        Named { text, key, place: statement.place, here }
    }

    fn statement(
        &mut self,
        here: &Here,
        statement: &Statement,
        at: StepId,
        next: StepId,
    ) -> Result<(), ProcessError> {
        let model = self.model;
        let named = self.named(here, statement);
        let place = named.place;
        if let (Some(waiting), false) =
            (walk::waiting(&statement.action), matches!(statement.action, Action::Use { .. }))
        {
            not_preempted(waiting, place)?;
        }
        match &statement.action {
            Action::Delay(value) => {
                let time = self.time(&named, value, "the delay")?;
                self.put(at, &named, Vec::new(), Act::Delay { time, next });
            }
            Action::Seize { requests, waiting } => {
                let (requests, at) = match requests.len() {
                    1 => (requests.clone(), at),
                    _ => self.computed_once(&named, requests, at)?,
                };
                self.seize(&named, &requests, waiting, [at, next, next], false)?;
            }
            Action::Release { requests } => self.release(&named, requests, at, next)?,
            Action::Use { requests, waiting, body, time } => {
                let (requests, at) = self.computed_once(&named, requests, at)?;
                self.used(&named, &requests, waiting, body, time.as_ref(), at, next)?;
            }
            Action::Put { container, amount, waiting } | Action::Get { container, amount, waiting } => {
                let container = index(&model.containers, container, "a container", place)?;
                let amount = self.integer(&named, amount, "the amount")?;
                let of = &self.containers[container as usize];
                let puts = matches!(statement.action, Action::Put { .. });
                let line = if puts { of.putters } else { of.getters };
                let order = self.lines[line as usize].order;
                let (wait, next) = self.wait(&named, waiting, line, order, next, next)?;
                let act = match puts {
                    true => Act::Put { container, amount, wait, next },
                    false => Act::Get { container, amount, wait, next },
                };
                self.put(at, &named, Vec::new(), act);
            }
            Action::Give { store, waiting } => {
                let store = index(&model.stores, store, "a store", place)?;
                let (line, items) = (self.stores[store as usize].givers, self.stores[store as usize].items);
                let order = self.lines[items as usize].order;
                let (wait, next) = self.wait(&named, waiting, line, order, next, next)?;
                self.put(at, &named, Vec::new(), Act::Give { store, wait, next });
            }
            Action::Take { store, into, waiting } => {
                let copies = self.copies(&named, store, into)?;
                let store = index(&model.stores, store, "a store", place)?;
                let line = self.stores[store as usize].takers;
                let (wait, next) = self.wait(&named, waiting, line, Order::Fifo, next, next)?;
                self.put(at, &named, Vec::new(), Act::Take { store, copies, wait, next });
            }
            Action::Wait { signal, waiting } => {
                let signal = index(&model.signals, signal, "a signal", place)?;
                let line = self.signals[signal as usize];
                let (wait, next) = self.wait(&named, waiting, line, Order::Fifo, next, next)?;
                self.put(at, &named, Vec::new(), Act::Wait { signal, wait, next });
            }
            Action::WaitUntil { condition, waiting } => {
                let holds = self.condition(&named, condition)?;
                self.wait_until(&named, holds, waiting, at, next, next)?;
            }
            Action::WaitAny { arms, waiting } => self.wait_any(&named, arms, waiting, at, next)?,
            Action::Select { among, by, body } => self.select(&named, among, *by, body, at, next)?,
            Action::Interruptible { body, handler } => {
                let first = self.reserve()?;
                self.block(&Here { interrupted: Some(first), ..*here }, body, at, next)?;
                self.block(here, handler, first, next)?;
            }
            Action::Batch { size, body, permanent, waiting } => {
                self.batch(&named, size, (body, *permanent), waiting, at, next)?;
            }
            Action::Clone { count, body, joined } => self.copied(&named, count, body, *joined, at, next)?,
            Action::Interrupt { entity, number } => {
                let process = index(&model.entities, entity, "an entity", place)?;
                let number = self.integer(&named, number, "the number of the entity")?;
                self.put(at, &named, Vec::new(), Act::Interrupt { process, number, next });
            }
            Action::Resize { resource, units } => {
                let resource = self.resource(&named, resource)?;
                let units = self.integer(&named, units, "the units")?;
                self.put(at, &named, Vec::new(), Act::Resize { resource, units, next });
            }
            Action::Send { signal: signal_name } => {
                let signal = index(&model.signals, signal_name, "a signal", place)?;
                let sent = self.sent.get_index_of(signal_name).map(|index| self.sent[index]);
                let ops = sent.map(|variable| self.counted(variable)).into_iter().collect();
                self.put(at, &named, ops, Act::Send { signal, next });
            }
            Action::Spawn { entity, count, set, joined } => {
                let process = index(&model.entities, entity, "an entity", place)?;
                let given: Vec<String> = set.iter().map(|(name, _)| name.clone()).collect();
                let entry = self.entry(process, &given)?;
                let count = self.integer(&named, count, "the number of entities")?;
                let scope = self.scopes[process as usize].clone();
                let mut values = Vec::new();
                for (name, value) in set {
                    let (Slot::Attribute(word), kind) = scope.slot(name, place)? else {
                        return Err(ProcessError::Unsupported {
                            place,
                            what: format!("setting the variable `{name}` of a new entity"),
                            remedy: "set it by a statement of its own",
                        });
                    };
                    values.push((word, self.of(&named, value, kind, name)?));
                }
                let ops = self.read_before(here, process, &mut values);
                let joined = joined.then(|| self.children(here.process));
                let act = Act::Spawn { process, entry, count, set: values, joined, next };
                self.put(at, &named, ops, act);
            }
            Action::Join => {
                let children = self.children(here.process);
                self.put(at, &named, Vec::new(), Act::Join { children, next });
            }
            Action::If { arms, otherwise } => {
                let mut at = at;
                for (condition, block) in arms {
                    let condition = self.condition(&named, condition)?;
                    let (yes, no) = (self.reserve()?, self.reserve()?);
                    self.put(at, &named, Vec::new(), Act::Branch { condition, yes, no });
                    self.block(here, block, yes, next)?;
                    at = no;
                }
                self.block(here, otherwise, at, next)?;
            }
            Action::With { arms, otherwise } => {
                let draw = self.draw(&format!("{}/arm", named.key), None, here.visit, place)?;
                let mut ways = Vec::new();
                for (index, (_, block)) in arms.iter().enumerate() {
                    let parts = arms[..=index].iter().map(|(probability, _)| probability.clone()).collect();
                    let (kind, step) = (ConstantKind::Probability(parts), self.reserve()?);
                    ways.push((self.constants.constant(kind, "the sum of probabilities", place), step));
                    self.block(here, block, step, next)?;
                }
                let rest = self.reserve()?;
                self.block(here, otherwise, rest, next)?;
                self.put(at, &named, Vec::new(), Act::Chance { draw, arms: ways, otherwise: rest });
            }
            Action::While { condition, body } => {
                let condition = self.condition(&named, condition)?;
                let begin = self.reserve()?;
                self.put(at, &named, Vec::new(), Act::Branch { condition, yes: begin, no: next });
                self.rounds(here, body, begin, at, place)?;
            }
            Action::Repeat { count: None, body } => self.rounds(here, body, at, at, place)?,
            Action::Repeat { count: Some(count), body } => {
                let count = self.integer(&named, count, "the number of rounds")?;
                let word = self.hidden(here.process, Kind::Integer);
                let (test, less, begin) = (self.reserve()?, self.reserve()?, self.reserve()?);
                let slot = Slot::Attribute(word);
                self.put(at, &named, vec![Op::Set(slot, count)], Act::Jump { next: test });
                let condition = binary(Binary::Greater, Kind::Condition, attribute(word), literal(0));
                self.put(test, &named, Vec::new(), Act::Branch { condition, yes: less, no: next });
                self.put(less, &named, vec![Op::Set(slot, plus(word, -1))], Act::Jump { next: begin });
                self.rounds(here, body, begin, test, place)?;
            }
            Action::Set { name, value } => self.set(&named, name, value, at, next)?,
            Action::Tally { name, value } => {
                let age = Expression::Reading(ir::Reading::Age);
                let scope = self.scopes[here.process as usize].clone();
                let written = value.as_ref().unwrap_or(&age);
                let value = self.expressions(here).any(&scope, written, "the observation", place)?;
                if value.kind == Kind::Condition {
                    return Err(ProcessError::Kinds {
                        place,
                        what: "the observation".to_owned(),
                        expected: Kind::Integer,
                        found: Kind::Condition,
                        remedy: "use `if(condition, 1, 0)`",
                    });
                }
                let ops = self.observed(name, value, place)?;
                self.put(at, &named, ops, Act::Jump { next });
            }
            Action::Count { name, by } => {
                let by =
                    self.integer(&named, by.as_ref().unwrap_or(&Expression::Number(1.0)), "the count")?;
                let sum = self.sum(name, SumKind::Counter, place)?;
                self.put(at, &named, vec![Op::Count(sum, by)], Act::Jump { next });
            }
            Action::Note { name, value } => {
                let value = value.as_ref().unwrap_or(&Expression::Number(0.0));
                let value = self.integer(&named, value, "the value of the note")?;
                let ops = self.note(name, here.process, value);
                self.put(at, &named, ops, Act::Jump { next });
            }
            Action::Go { block } => {
                let blocks = &self.blocks[here.process as usize];
                let found = blocks.get(block).copied().ok_or_else(|| ProcessError::Unknown {
                    place,
                    name: block.clone(),
                    what: "a block of the entity",
                    known: blocks.keys().cloned().collect(),
                })?;
                self.put(at, &named, Vec::new(), Act::Jump { next: found });
            }
            Action::End => self.put(at, &named, Vec::new(), Act::End { children: None, held: Vec::new() }),
        }
        Ok(())
    }

    /// Keeps the number of the last entity of a type for values that read it: it changes when
    /// others start, before the values are stored.
    fn read_before(&mut self, here: &Here, process: u32, values: &mut [(EntityWord, Expr)]) -> Vec<Op> {
        let last = Node::Global(self.processes[process as usize].count);
        if !values.iter().any(|(_, value)| value.any(&mut |node| *node == last)) {
            return Vec::new();
        }
        let word = self.hidden(here.process, Kind::Integer);
        values.iter_mut().for_each(|(_, value)| value.replace(&last, &Node::Attribute(word)));
        vec![Op::Set(Slot::Attribute(word), Expr { kind: Kind::Integer, node: last })]
    }

    fn set(
        &mut self,
        named: &Named<'_>,
        name: &str,
        value: &Value,
        at: StepId,
        next: StepId,
    ) -> Result<(), ProcessError> {
        let place = named.place;
        let (to, kind) = self.scopes[named.here.process as usize].slot(name, place)?;
        let fits = |expected: Kind| match kind == expected {
            true => Ok(()),
            false => Err(ProcessError::Kinds {
                place,
                what: format!("`{name}`"),
                expected: kind,
                found: expected,
                remedy: "declare it with the other kind",
            }),
        };
        let act = match value {
            Value::Expression(written) => {
                let value = self.of(named, written, kind, name)?;
                self.put(at, named, vec![Op::Set(to, value)], Act::Jump { next });
                return Ok(());
            }
            Value::Law(law) => {
                fits(Kind::Time)?;
                let draw = self.draw(&format!("{}/value", named.key), Some(law), named.here.visit, place)?;
                Act::Draw { draw, to, next }
            }
            Value::Choice(values) => {
                fits(Kind::Integer)?;
                let draw = self.draw(&format!("{}/value", named.key), None, named.here.visit, place)?;
                let parts = |upto: usize| values[..=upto].iter().map(|(_, p)| p.clone()).collect();
                let mut arms = Vec::new();
                for (index, (value, _)) in values.iter().enumerate() {
                    let last = index + 1 == values.len();
                    let kind = match last {
                        true => ConstantKind::Certainty(parts(index)),
                        false => ConstantKind::Probability(parts(index)),
                    };
                    arms.push((self.constants.constant(kind, "the sum of probabilities", place), *value));
                }
                let Some((_, otherwise)) = arms.last().copied() else {
                    return Err(ProcessError::Setting {
                        place,
                        what: "the choice".to_owned(),
                        value: "empty".to_owned(),
                        remedy: "write values with probabilities".to_owned(),
                    });
                };
                Act::Choose { draw, arms, otherwise, to, next }
            }
        };
        self.put(at, named, Vec::new(), act);
        Ok(())
    }
}

pub(super) fn literal(value: i64) -> Expr {
    Expr { kind: Kind::Integer, node: Node::Literal(value) }
}

pub(super) fn attribute(word: EntityWord) -> Expr {
    Expr { kind: Kind::Integer, node: Node::Attribute(word) }
}

pub(super) fn binary(binary: Binary, kind: Kind, a: Expr, b: Expr) -> Expr {
    Expr { kind, node: Node::Binary(binary, Box::new([a, b])) }
}

pub(super) fn plus(word: EntityWord, value: i64) -> Expr {
    binary(Binary::Plus, Kind::Integer, attribute(word), literal(value))
}

pub(super) fn reads_time(value: &Expr) -> bool {
    value.any(&mut |node| matches!(node, Node::Now | Node::Waited))
}

pub(super) fn reads_attributes(value: &Expr) -> bool {
    value.any(&mut |node| matches!(node, Node::Attribute(_)))
}
