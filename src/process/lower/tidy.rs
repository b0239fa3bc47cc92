//! Passes over the steps: what conditions watch, words that count what is held, and fewer steps.

use indexmap::IndexMap;

use super::super::error::ProcessError;
use super::super::program::{Act, EntityLayout, EntityWord, Node, Program, StepId};
use super::held;
use super::lowering::number;

/// Gives a bit to everything that conditions read.
pub(super) fn watches(program: &mut Program) {
    let mut bits: IndexMap<Node, u32> = IndexMap::new();
    let mut conditions = std::mem::take(&mut program.conditions);
    for condition in &mut conditions {
        condition.holds.any(&mut |node| {
            let shared = matches!(
                node,
                Node::Global(_) | Node::InUse(_) | Node::Units(_) | Node::Length(_) | Node::Content(_)
            );
            if shared {
                let bit = 1 << (bits.len() % 32);
                condition.watch |= *bits.entry(node.clone()).or_insert(bit);
            }
            false
        });
    }
    program.conditions = conditions;
    let bit = |node: Node| bits.get(&node).copied().unwrap_or(0);
    for (line, of) in (0..).zip(&mut program.lines) {
        of.watch = bit(Node::Length(line));
    }
    for (resource, of) in (0..).zip(&mut program.resources) {
        of.watch = bit(Node::InUse(resource)) | bit(Node::Units(resource));
    }
    for (container, of) in (0..).zip(&mut program.containers) {
        of.watch = bit(Node::Content(container));
    }
    for of in &mut program.variables {
        of.watch = bit(Node::Global(of.word));
    }
}

/// Gives words to what has to be counted in runs, and checks what need not.
pub(super) fn count_held(program: &mut Program, entries: &[Vec<StepId>]) -> Result<(), ProcessError> {
    let counted = held::counted(program, entries)?;
    let first = program.entity.words;
    let most = number(counted.iter().map(indexmap::IndexSet::len).max().unwrap_or(0));
    program.entity.words = first + most;
    program.entity.stride = EntityLayout::stride_of(first + most);
    for step in &mut program.steps {
        let counted = &counted[step.process as usize];
        let word = |resource: u32| -> Option<EntityWord> {
            counted.get_index_of(&resource).map(|index| first + number(index))
        };
        match &mut step.act {
            Act::Seize { resource, wait, .. } | Act::Hold { resource, wait, .. } => {
                wait.held = word(*resource)
            }
            Act::Release { resource, held, .. } => *held = word(*resource),
            Act::End { children, held } => {
                *children = program.processes[step.process as usize].children;
                *held = counted.iter().filter_map(|resource| Some((*resource, word(*resource)?))).collect();
            }
            _ => {}
        }
    }
    Ok(())
}

/// Joins steps that only follow each other, and removes those that nothing reaches.
pub(super) fn tidy(program: &mut Program, entries: &[Vec<StepId>]) -> Result<(), ProcessError> {
    let entries: Vec<StepId> = entries.iter().flatten().copied().collect();
    let mut ways = vec![0_u32; program.steps.len()];
    let reached = reached(program, &entries);
    entries.iter().for_each(|entry| ways[usize::from(*entry)] += 2);
    for (step, _) in program.steps.iter().zip(&reached).filter(|(_, reached)| **reached) {
        step.successors().iter().for_each(|next| ways[usize::from(*next)] += 1);
    }
    for at in 0..program.steps.len() {
        // Bounded: a step that is taken has one way to it, and is not taken again.
        while let Act::Jump { next } = program.steps[at].act {
            let next = usize::from(next);
            if next == at || ways[at] == 0 || (ways[next] != 1 && !empty_jump(program, next)) {
                break;
            }
            if ways[next] != 1 {
                // A jump to a jump: where that leads, once.
                let Act::Jump { next: far } = program.steps[next].act else { break };
                if usize::from(far) == next || usize::from(far) == at {
                    break;
                }
                ways[next] -= 1;
                ways[usize::from(far)] += 1;
                program.steps[at].act = Act::Jump { next: far };
                continue;
            }
            ways[next] = 0;
            let taken = program.steps[next].clone();
            let step = &mut program.steps[at];
            step.statement =
                match (step.ops.is_empty(), taken.ops.is_empty() && matches!(taken.act, Act::Jump { .. })) {
                    (true, _) => taken.statement,
                    (_, true) => std::mem::take(&mut step.statement),
                    _ if step.statement == taken.statement => taken.statement,
                    _ => format!("{}; {}", step.statement, taken.statement),
                };
            step.place = if taken.place.line == 0 { step.place } else { taken.place };
            step.ops.extend(taken.ops);
            step.act = taken.act;
            step.interrupted = taken.interrupted;
        }
    }
    renumber(program, &entries)
}

fn empty_jump(program: &Program, step: usize) -> bool {
    program.steps[step].ops.is_empty() && matches!(program.steps[step].act, Act::Jump { .. })
}

fn reached(program: &Program, entries: &[StepId]) -> Vec<bool> {
    let mut reached = vec![false; program.steps.len()];
    let mut work = entries.to_vec();
    while let Some(step) = work.pop() {
        if !std::mem::replace(&mut reached[usize::from(step)], true) {
            work.extend(program.steps[usize::from(step)].successors());
        }
    }
    reached
}

fn renumber(program: &mut Program, entries: &[StepId]) -> Result<(), ProcessError> {
    let reached = reached(program, entries);
    let mut numbers = vec![0; program.steps.len()];
    let used = numbers.iter_mut().zip(&reached).filter(|(_, reached)| **reached);
    for (count, (number, _)) in used.enumerate() {
        let most = usize::from(StepId::MAX);
        *number =
            StepId::try_from(count).map_err(|_| ProcessError::TooMany { what: "steps", count, most })?;
    }
    let mut kept = reached.iter();
    program.steps.retain(|_| kept.next().copied().unwrap_or(false));
    let to = |step: &mut StepId| *step = numbers[usize::from(*step)];
    for step in &mut program.steps {
        step.steps_mut().into_iter().for_each(to);
    }
    program.sources.iter_mut().for_each(|source| to(&mut source.entry));
    Ok(())
}
