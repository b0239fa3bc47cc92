//! Makes a model smaller that fails: removes what is not needed for the failure.

use eventhorizon::process::ir::*;

use crate::walk::{blocks_mut, expressions_mut, waiting_mut};

/// The smallest model that fails which is found by removing one thing after the other.
pub fn reduce(model: &ProcessModel, fails: &mut dyn FnMut(&ProcessModel) -> bool) -> ProcessModel {
    let mut best = model.clone();
    let mut at = 0;
    // Each edit that is accepted makes the model smaller.
    while let Some(smaller) = edit(&best, at) {
        if smaller != best && fails(&smaller) {
            best = smaller;
        } else {
            at += 1;
        }
    }
    best
}

/// The model after the edit with this number; `None` behind the last.
fn edit(model: &ProcessModel, number: usize) -> Option<ProcessModel> {
    let mut edited = model.clone();
    let mut left = number;
    let done =
        parts(&mut edited, &mut left) || statements(&mut edited, &mut left) || values(&mut edited, &mut left);
    done.then_some(edited)
}

/// Counts edits down; true for the one to do.
fn is_due(left: &mut usize) -> bool {
    let due = *left == 0;
    *left = left.wrapping_sub(1);
    due
}

/// Removes entities, sources, blocks, attributes' values and what is declared.
fn parts(model: &mut ProcessModel, left: &mut usize) -> bool {
    macro_rules! drop_one {
        ($table:expr) => {
            for index in (0..$table.len()).rev() {
                if is_due(left) {
                    $table.shift_remove_index(index);
                    return true;
                }
            }
        };
    }
    drop_one!(model.entities);
    drop_one!(model.schedules);
    drop_one!(model.resources);
    drop_one!(model.containers);
    drop_one!(model.stores);
    drop_one!(model.signals);
    drop_one!(model.variables);
    drop_one!(model.parameters);
    for schedule in model.schedules.values_mut() {
        if schedule.preempts && is_due(left) {
            schedule.preempts = false;
            return true;
        }
        for index in (1..schedule.periods.len()).rev() {
            if is_due(left) {
                schedule.periods.remove(index);
                return true;
            }
        }
    }
    for entity in model.entities.values_mut() {
        drop_one!(entity.blocks);
        drop_one!(entity.attributes);
        for attribute in entity.attributes.values_mut() {
            if attribute.value.is_some() && is_due(left) {
                attribute.value = None;
                return true;
            }
        }
        for index in (0..entity.sources.len()).rev() {
            if is_due(left) {
                entity.sources.remove(index);
                return true;
            }
        }
    }
    false
}

/// Removes statements and parts of them, or puts their blocks in their place.
fn statements(model: &mut ProcessModel, left: &mut usize) -> bool {
    let mut done = false;
    for entity in model.entities.values_mut() {
        let blocks = [&mut entity.statements].into_iter().chain(entity.blocks.values_mut());
        for block in blocks {
            done = done || in_block(block, left);
        }
    }
    done
}

fn in_block(block: &mut Vec<Statement>, left: &mut usize) -> bool {
    for index in (0..block.len()).rev() {
        if is_due(left) {
            block.remove(index);
            return true;
        }
        for inner in 0..blocks_mut(&mut block[index].action).len() {
            if is_due(left) {
                let inner = std::mem::take(blocks_mut(&mut block[index].action)[inner]);
                block.splice(index..=index, inner);
                return true;
            }
        }
        if block[index].label.is_some() && is_due(left) {
            block[index].label = None;
            return true;
        }
        if fewer(&mut block[index].action, left) {
            return true;
        }
        if let Some(waiting) = waiting_mut(&mut block[index].action)
            && lighter(waiting, left)
        {
            return true;
        }
        for inner in blocks_mut(&mut block[index].action) {
            if in_block(inner, left) {
                return true;
            }
        }
    }
    false
}

/// Removes one of several things that a statement names.
fn fewer(action: &mut Action, left: &mut usize) -> bool {
    macro_rules! drop_one {
        ($list:expr) => {
            for index in (0..$list.len()).rev() {
                if $list.len() > 1 && is_due(left) {
                    $list.remove(index);
                    return true;
                }
            }
        };
    }
    match action {
        Action::WaitAny { arms, .. } => drop_one!(arms),
        Action::Select { among, .. } => drop_one!(among),
        Action::If { arms, .. } | Action::With { arms, .. } => drop_one!(arms),
        Action::Seize { requests, .. } | Action::Use { requests, .. } | Action::Release { requests } => {
            drop_one!(requests);
        }
        _ => {}
    }
    false
}

fn lighter(waiting: &mut Waiting, left: &mut usize) -> bool {
    if waiting.patience.is_some() && is_due(left) {
        waiting.patience = None;
        return true;
    }
    if waiting.tally.is_some() && is_due(left) {
        waiting.tally = None;
        return true;
    }
    if waiting.preempted != Preempted::Resume && is_due(left) {
        waiting.preempted = Preempted::Resume;
        return true;
    }
    if !waiting.then.is_empty() && is_due(left) {
        waiting.then.clear();
        return true;
    }
    if waiting.priority.is_some() && is_due(left) {
        waiting.priority = None;
        return true;
    }
    match &mut waiting.patience {
        Some(patience) if patience.when.is_some() && is_due(left) => {
            patience.when = None;
            true
        }
        _ => false,
    }
}

/// Puts an operand in the place of an expression.
fn values(model: &mut ProcessModel, left: &mut usize) -> bool {
    for entity in model.entities.values_mut() {
        let blocks = [&mut entity.statements].into_iter().chain(entity.blocks.values_mut());
        for block in blocks {
            if values_in(block, left) {
                return true;
            }
        }
    }
    false
}

fn values_in(block: &mut [Statement], left: &mut usize) -> bool {
    for statement in block {
        for expression in expressions_mut(&mut statement.action) {
            if simpler(expression, left) {
                return true;
            }
        }
        for inner in blocks_mut(&mut statement.action) {
            if values_in(inner, left) {
                return true;
            }
        }
    }
    false
}

fn simpler(expression: &mut Expression, left: &mut usize) -> bool {
    let operands: Vec<Expression> = match expression {
        Expression::Number(_) => return false,
        Expression::Name(_) | Expression::Reading(_) => vec![1.into()],
        Expression::Unary(_, operand) => vec![(**operand).clone(), 1.into()],
        Expression::Binary(_, operands) => operands.iter().cloned().chain([1.into()]).collect(),
        Expression::Select(operands) => operands.iter().cloned().chain([1.into()]).collect(),
    };
    for operand in operands {
        if is_due(left) {
            *expression = operand;
            return true;
        }
    }
    match expression {
        Expression::Number(_) | Expression::Name(_) | Expression::Reading(_) => false,
        Expression::Unary(_, operand) => simpler(operand, left),
        Expression::Binary(_, operands) => operands.iter_mut().any(|operand| simpler(operand, left)),
        Expression::Select(operands) => operands.iter_mut().any(|operand| simpler(operand, left)),
    }
}
