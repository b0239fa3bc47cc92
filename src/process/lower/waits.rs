//! How statements wait: seizing, patience, and what is done after a wait.

use super::super::error::ProcessError;
use super::super::ir::{Action, Binary, Expression, Kind, Order, Patience, Request, Waiting};
use super::super::program::{self, Act, EntityWord, Expr, Node, Op, Slot, StepId, Wait};
use super::constants::evaluate;
use super::lowering::{Lowering, first_point, words_of};
use super::names::{self, Scope, resource};
use super::statements::{Here, Named, binary, literal};
use super::walk;

impl Lowering<'_> {
    /// The words of taken entities that are copied: the attributes have the same places in all
    /// types that are given to the store.
    pub(super) fn copies(
        &mut self,
        named: &Named<'_>,
        store: &str,
        into: &[(String, String)],
    ) -> Result<Vec<[EntityWord; 2]>, ProcessError> {
        let (model, place) = (self.model, named.place);
        let gives = |action: &Action| matches!(action, Action::Give { store: to, .. } if to == store);
        let givers: Vec<usize> = (model.entities.values().enumerate())
            .filter(|(_, entity)| {
                let mut all = entity.blocks.values().map(|block| &block[..]).chain([&entity.statements[..]]);
                all.any(|block| walk::any(block, &mut gives.clone()))
            })
            .map(|(index, _)| index)
            .collect();
        let mut copies: Vec<[EntityWord; 2]> = Vec::new();
        for (own, theirs) in into {
            let (slot, kind) = self.scopes[named.here.process as usize].slot(own, place)?;
            for &giver in &givers {
                let (from, found) = self.scopes[giver].slot(theirs, place)?;
                if found != kind {
                    let (what, expected) = (format!("`{theirs}`"), kind);
                    let remedy = "declare both attributes with the same kind";
                    return Err(ProcessError::Kinds { place, what, expected, found, remedy });
                }
                let (Slot::Attribute(to), Slot::Attribute(from)) = (slot, from) else {
                    return Err(ProcessError::Unsupported {
                        place,
                        what: "copying from or to a variable".to_owned(),
                        remedy: "name attributes",
                    });
                };
                let words: Vec<_> = (0..words_of(kind)).map(|word| [from + word, to + word]).collect();
                if words.iter().any(|[from, to]| copies.iter().any(|[f, t]| t == to && f != from)) {
                    return Err(ProcessError::Unsupported {
                        place,
                        what: format!(
                            "taking `{theirs}` of several types with different attributes before it"
                        ),
                        remedy: "declare their common attributes first, in the same order",
                    });
                }
                copies.extend(words.into_iter().filter(|word| !copies.contains(word)).collect::<Vec<_>>());
            }
        }
        Ok(copies)
    }

    pub(super) fn release(
        &mut self,
        named: &Named<'_>,
        requests: &[Request],
        at: StepId,
        next: StepId,
    ) -> Result<(), ProcessError> {
        let mut at = at;
        for (index, request) in requests.iter().enumerate() {
            let (resource, units) = self.request(named, request)?;
            let following = if index + 1 == requests.len() { next } else { self.reserve()? };
            let act = Act::Release { resource, units, held: None, next: following };
            self.put(at, named, Vec::new(), act);
            at = following;
        }
        if requests.is_empty() {
            self.put(at, named, Vec::new(), Act::Jump { next });
        }
        Ok(())
    }

    /// A step that releases what was taken, in the opposite order, and continues at `next`.
    pub(super) fn unwound(
        &mut self,
        named: &Named<'_>,
        taken: &[Request],
        next: StepId,
    ) -> Result<StepId, ProcessError> {
        if taken.is_empty() {
            return Ok(next);
        }
        let first = self.reserve()?;
        let backwards: Vec<Request> = taken.iter().rev().cloned().collect();
        self.release(named, &backwards, first, next)?;
        Ok(first)
    }

    /// Requests whose units are computed once, when the statement begins, and a step at which it
    /// continues: it gives back what it took.
    pub(super) fn computed_once(
        &mut self,
        named: &Named<'_>,
        requests: &[Request],
        at: StepId,
    ) -> Result<(Vec<Request>, StepId), ProcessError> {
        let (mut computed, mut ops) = (requests.to_vec(), Vec::new());
        for request in &mut computed {
            if evaluate(&request.units, &first_point(self.model)).is_some() {
                continue;
            }
            let (_, units) = self.request(named, request)?;
            let process = named.here.process;
            let slot = Slot::Attribute(self.hidden(process, Kind::Integer));
            let name = Scope::hidden(slot);
            self.scopes[process as usize].names.insert(name.clone(), names::Named::Slot(slot, Kind::Integer));
            ops.push(Op::Set(slot, units));
            request.units = Expression::Name(name);
        }
        if ops.is_empty() {
            return Ok((computed, at));
        }
        let next = self.reserve()?;
        self.put(at, named, ops, Act::Jump { next });
        Ok((computed, next))
    }

    pub(super) fn request(
        &mut self,
        named: &Named<'_>,
        request: &Request,
    ) -> Result<(u32, Expr), ProcessError> {
        let resource = resource(self.model, &request.resource, named.here.selected, named.place)?;
        let preempts = self.resources[resource as usize].holders.is_some();
        if preempts && request.units != Expression::Number(1.0) {
            return Err(ProcessError::Unsupported {
                place: named.place,
                what: format!("several units of `{}`, which has preemption,", request.resource),
                remedy: "take one unit, or declare it with `queue = \"priority\"`",
            });
        }
        let what = format!("the units of `{}`", request.resource);
        Ok((resource, self.integer(named, &request.units, &what)?))
    }

    /// Seizes one after the other. Who gives up one releases those before it, and so does who is
    /// interrupted, if they are `used`. `behind` is the step after the whole statement.
    pub(super) fn seize(
        &mut self,
        named: &Named<'_>,
        requests: &[Request],
        waiting: &Waiting,
        [at, next, behind]: [StepId; 3],
        used: bool,
    ) -> Result<(), ProcessError> {
        let several = requests.len() > 1;
        let (mut at, process) = (at, named.here.process);
        let mut begin = None;
        if several && waiting.tally.is_some() {
            let (word, first) = (self.hidden(process, Kind::Time), self.reserve()?);
            let now = Expr { kind: Kind::Time, node: Node::Now };
            self.put(at, named, vec![Op::Set(Slot::Attribute(word), now)], Act::Jump { next: first });
            (begin, at) = (Some(word), first);
        }
        // The statements of `else` are compiled once.
        let gives_up = waiting.patience.as_ref().map(|patience| self.otherwise(named, patience, behind));
        let gives_up = gives_up.transpose()?;
        for (index, request) in requests.iter().enumerate() {
            let (resource, units) = self.request(named, request)?;
            let line = self.resources[resource as usize].line;
            let order = self.lines[line as usize].order;
            let otherwise = match gives_up {
                Some(step) if index > 0 => Some(self.unwound(named, &requests[..index], step)?),
                step => step,
            };
            let last = index + 1 == requests.len();
            let following = if last { next } else { self.reserve()? };
            let mut granted = following;
            let mut ops = self.waited_ops(process);
            match (&waiting.tally, begin) {
                (Some(name), None) => {
                    let waited = Expr { kind: Kind::Time, node: Node::Waited };
                    ops.extend(self.observed(name, waited, named.place)?);
                }
                (Some(name), Some(word)) if last => {
                    let [now, begin] =
                        [Node::Now, Node::Attribute(word)].map(|node| Expr { kind: Kind::Time, node });
                    let waited = binary(Binary::Minus, Kind::Time, now, begin);
                    ops.extend(self.observed(name, waited, named.place)?);
                }
                _ => {}
            }
            let uses = self.costs.iter().find(|cost| cost.resource == resource).and_then(|cost| cost.uses);
            ops.extend(uses.map(|uses| Op::Count(uses, literal(1))));
            let since = ops.iter().any(
                |op| matches!(op, Op::Set(_, value) | Op::Tally(_, value) if value.node == Node::Waited),
            );
            if !ops.is_empty() {
                granted = self.reserve()?;
                self.put(granted, named, ops, Act::Jump { next: following });
            }
            let interrupted = match named.here.interrupted {
                Some(handler) if used => Some(self.unwound(named, &requests[..index], handler)?),
                handler => handler,
            };
            let here = Here { interrupted, ..*named.here };
            let key = Named {
                key: format!("{}/{}", named.key, request.resource),
                text: named.text.clone(),
                here: &here,
                ..*named
            };
            let wait = self.wait_at(&key, waiting, line, order, otherwise, since)?;
            self.put(at, &key, Vec::new(), Act::Seize { resource, units, wait, next: granted });
            at = following;
        }
        if requests.is_empty() {
            self.put(at, named, Vec::new(), Act::Jump { next });
        }
        Ok(())
    }

    /// How a statement with one line waits, and the step after it.
    pub(super) fn wait(
        &mut self,
        named: &Named<'_>,
        waiting: &Waiting,
        line: u32,
        order: Order,
        next: StepId,
        behind: StepId,
    ) -> Result<(Wait, StepId), ProcessError> {
        let otherwise = waiting.patience.as_ref().map(|patience| self.otherwise(named, patience, behind));
        let otherwise = otherwise.transpose()?;
        let mut ops = self.waited_ops(named.here.process);
        if let Some(name) = &waiting.tally {
            let waited = Expr { kind: Kind::Time, node: Node::Waited };
            ops.extend(self.observed(name, waited, named.place)?);
        }
        let since = !ops.is_empty();
        let mut granted = next;
        if since {
            granted = self.reserve()?;
            self.put(granted, named, ops, Act::Jump { next });
        }
        Ok((self.wait_at(named, waiting, line, order, otherwise, since)?, granted))
    }

    fn wait_at(
        &mut self,
        named: &Named<'_>,
        waiting: &Waiting,
        line: u32,
        order: Order,
        otherwise: Option<StepId>,
        since: bool,
    ) -> Result<Wait, ProcessError> {
        if waiting.priority.is_some() && order == Order::Fifo {
            return Err(ProcessError::Setting {
                place: named.place,
                what: "`priority`".to_owned(),
                value: "given for a line that is first come, first served".to_owned(),
                remedy: "declare it with `queue = \"priority\"`, or remove it".to_owned(),
            });
        }
        let priority =
            waiting.priority.as_ref().map(|priority| self.integer(named, priority, "the priority"));
        let patience = match (&waiting.patience, otherwise) {
            (Some(patience), Some(otherwise)) => {
                let when = patience.when.as_ref().map(|when| self.condition(named, when)).transpose()?;
                let time = self.time(named, &patience.time, "the patience")?;
                Some(program::Patience { when, time, otherwise })
            }
            _ => None,
        };
        Ok(Wait { line, priority: priority.transpose()?, patience, held: None, since })
    }

    /// The first step after patience ended.
    fn otherwise(
        &mut self,
        named: &Named<'_>,
        patience: &Patience,
        behind: StepId,
    ) -> Result<StepId, ProcessError> {
        let at = self.reserve()?;
        let begin = self.reserve()?;
        let ops = self.waited_ops(named.here.process);
        self.put(at, named, ops, Act::Jump { next: begin });
        let next = if patience.continues { behind } else { self.end(named.here, named.place)? };
        self.block(named.here, &patience.otherwise, begin, next)?;
        Ok(at)
    }

    /// Keeps the length of the wait, if the type reads it.
    fn waited_ops(&self, process: u32) -> Vec<Op> {
        let waited = Expr { kind: Kind::Time, node: Node::Waited };
        self.waited[process as usize].map(|word| Op::Set(Slot::Attribute(word), waited)).into_iter().collect()
    }
}
