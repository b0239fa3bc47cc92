//! What entities hold at each step, where the text alone says it.
//!
//! Where all ways to a step hold the same, nothing is counted in runs, and a wrong release or end
//! is an error of the description. Of other resources a word of the entity counts units.

use indexmap::{IndexMap, IndexSet};

use super::super::error::ProcessError;
use super::super::program::{Act, EntityWord, Expr, Node, Program, Step, StepId};

/// What is held of one resource: amounts that do not change while a run lasts, or unknown.
#[derive(Debug, Clone, PartialEq)]
enum Held {
    Known(Vec<Node>),
    Varies,
}

/// Resources that are held, by number; without those that are not.
type State = IndexMap<u32, Held>;

/// The resources whose units a word has to count, for each type of entity.
pub(super) fn counted(
    program: &Program,
    entries: &[Vec<StepId>],
) -> Result<Vec<IndexSet<u32>>, ProcessError> {
    entries.iter().map(|entries| counted_of(program, entries)).collect()
}

/// How many units an entity holds.
#[derive(Debug, Clone, PartialEq)]
pub(in super::super) enum Amount {
    /// The sum of amounts that do not change while a run lasts.
    Known(Vec<Node>),
    /// In this word of the entity; perhaps none.
    Counted(EntityWord),
}

/// The words of entities of a type that count units, by resource.
fn words_of(program: &Program, process: u32) -> IndexMap<u32, EntityWord> {
    let own = program.steps.iter().filter(|step| step.process == process);
    let word = |step: &Step| match &step.act {
        Act::Seize { resource, wait, .. } => Some((*resource, wait.held?)),
        Act::Release { resource, held, .. } => Some((*resource, (*held)?)),
        _ => None,
    };
    own.filter_map(word).collect()
}

/// The resources that an entity may hold when it comes to a step, for each step.
pub(in super::super) fn held_at(program: &Program) -> Vec<IndexMap<u32, Amount>> {
    let mut entries = vec![IndexSet::new(); program.processes.len()];
    for source in &program.sources {
        entries[source.process as usize].insert(source.entry);
    }
    for step in &program.steps {
        if let Act::Spawn { process, entry, .. } = &step.act {
            entries[*process as usize].insert(*entry);
        }
    }
    let mut found = vec![IndexMap::new(); program.steps.len()];
    for (process, entries) in (0..).zip(entries) {
        let words = words_of(program, process);
        let amount = |(resource, held): (u32, Held)| match (words.get(&resource), held) {
            (Some(word), _) => Some((resource, Amount::Counted(*word))),
            (None, Held::Known(held)) => Some((resource, Amount::Known(held))),
            (None, Held::Varies) => None,
        };
        for (step, state) in states_of(program, &entries.into_iter().collect::<Vec<_>>()) {
            found[usize::from(step)] = state.into_iter().filter_map(amount).collect();
        }
    }
    found
}

/// What is held when an entity comes to each step that it can reach.
fn states_of(program: &Program, entries: &[StepId]) -> IndexMap<StepId, State> {
    let mut states: IndexMap<StepId, State> = entries.iter().map(|&entry| (entry, State::new())).collect();
    let mut work: Vec<StepId> = entries.to_vec();
    // Each state of a resource changes at most twice, so this ends.
    while let Some(step) = work.pop() {
        let state = states[&step].clone();
        for (next, state) in after(&program.steps[usize::from(step)], &state) {
            let merged = match states.get(&next) {
                Some(known) => merge(known, &state),
                None => state,
            };
            if states.get(&next) != Some(&merged) {
                states.insert(next, merged);
                work.push(next);
            }
        }
    }
    states
}

fn counted_of(program: &Program, entries: &[StepId]) -> Result<IndexSet<u32>, ProcessError> {
    let states = states_of(program, entries);
    let mut counted = IndexSet::new();
    for (step, state) in &states {
        let step = &program.steps[usize::from(*step)];
        counted
            .extend(state.iter().filter(|(_, held)| **held == Held::Varies).map(|(resource, _)| *resource));
        let name = |resource: u32| program.resources[resource as usize].name.clone();
        let entity = || program.processes[step.process as usize].name.clone();
        let gives = match &step.act {
            Act::Release { resource, units, .. } => Some((resource, constant(units))),
            Act::Hold { resource, .. } => Some((resource, Some(Node::Literal(1)))),
            _ => None,
        };
        if let Some((resource, units)) = gives {
            match (state.get(resource), units) {
                (Some(Held::Varies), _) => {}
                (Some(Held::Known(held)), Some(units)) if less(held, &units).is_some() => {}
                (held, Some(Node::Literal(units))) if held.is_none_or(|held| total(held) < Some(units)) => {
                    let held = held.and_then(total).and_then(|held| u32::try_from(held).ok());
                    let held = held.unwrap_or_default();
                    return Err(ProcessError::NotHeld {
                        place: step.place,
                        entity: entity(),
                        resource: name(*resource),
                        held,
                    });
                }
                _ => {
                    counted.insert(*resource);
                }
            }
        }
        if let Act::End { .. } = &step.act {
            let held = state.iter().find(|(_, held)| matches!(held, Held::Known(_)));
            if let Some((resource, _)) = held {
                let (place, entity, resource) = (step.place, entity(), name(*resource));
                return Err(ProcessError::Holding { place, entity, resource });
            }
        }
    }
    Ok(counted)
}

/// The states of the steps that follow.
fn after(step: &Step, state: &State) -> Vec<(StepId, State)> {
    let changed = match &step.act {
        Act::Seize { resource, units, next, .. } => {
            let held = match (state.get(resource), constant(units)) {
                (None, Some(units)) => Held::Known(vec![units]),
                (Some(Held::Known(held)), Some(units)) => {
                    Held::Known(held.iter().cloned().chain([units]).collect())
                }
                _ => Held::Varies,
            };
            Some((next, *resource, Some(held)))
        }
        Act::Release { resource, units, next, .. } => {
            let held = match (state.get(resource), constant(units)) {
                (Some(Held::Known(held)), Some(units)) => match less(held, &units) {
                    Some(held) => Some(Held::Known(held)).filter(|held| total(held) != Some(0)),
                    None => Some(Held::Varies),
                },
                (None, Some(_)) => None,
                _ => Some(Held::Varies),
            };
            Some((next, *resource, held))
        }
        Act::Hold { resource, next, .. } => {
            let held = match state.get(resource) {
                Some(Held::Known(held)) => match less(held, &Node::Literal(1)) {
                    Some(held) => Some(Held::Known(held)).filter(|held| total(held) != Some(0)),
                    None => Some(Held::Varies),
                },
                _ => Some(Held::Varies),
            };
            Some((next, *resource, held))
        }
        _ => None,
    };
    let follow = |next: StepId| match &changed {
        Some((behind, resource, held)) if **behind == next => {
            let mut state = state.clone();
            match held {
                Some(held) => {
                    state.insert(*resource, held.clone());
                    state.sort_unstable_keys();
                }
                None => {
                    state.shift_remove(resource);
                }
            }
            (next, state)
        }
        _ => (next, state.clone()),
    };
    let patience = step.act.wait().and_then(|wait| wait.patience.as_ref()).map(|patience| patience.otherwise);
    let mut all: Vec<_> = step.act.successors().into_iter().map(follow).collect();
    // A wait that is given up, and leads where a grant leads.
    if let (Some(otherwise), Some((next, ..))) = (patience, &changed)
        && otherwise == **next
    {
        all.pop();
        all.push((otherwise, state.clone()));
    }
    all.extend(step.interrupted.map(|handler| (handler, state.clone())));
    all
}

fn merge(a: &State, b: &State) -> State {
    let resources: IndexSet<u32> = a.keys().chain(b.keys()).copied().collect();
    let of = |resource: u32| match (a.get(&resource), b.get(&resource)) {
        (Some(Held::Known(x)), Some(Held::Known(y))) if x == y || equal(x, y) => Held::Known(x.clone()),
        _ => Held::Varies,
    };
    let mut merged: State = resources.into_iter().map(|resource| (resource, of(resource))).collect();
    merged.sort_unstable_keys();
    merged
}

fn equal(a: &[Node], b: &[Node]) -> bool {
    let [a, b] = [a, b].map(|held| total(&Held::Known(held.to_vec())));
    a.is_some() && a == b
}

/// An amount that does not change while a run lasts.
fn constant(units: &Expr) -> Option<Node> {
    matches!(units.node, Node::Literal(_) | Node::Param(_)).then(|| units.node.clone())
}

/// The sum of literals.
fn total(held: &Held) -> Option<i64> {
    let Held::Known(held) = held else { return None };
    held.iter().map(|node| if let Node::Literal(units) = node { Some(*units) } else { None }).sum()
}

/// What remains of an amount.
fn less(held: &[Node], units: &Node) -> Option<Vec<Node>> {
    if let Some(at) = held.iter().rposition(|node| node == units) {
        let mut rest = held.to_vec();
        rest.remove(at);
        return Some(rest);
    }
    let (Some(sum), Node::Literal(units)) = (total(&Held::Known(held.to_vec())), units) else { return None };
    (sum >= *units).then(|| if sum == *units { Vec::new() } else { vec![Node::Literal(sum - units)] })
}
