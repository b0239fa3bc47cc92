//! Walks through statements and expressions.

use super::super::ir::{Action, Expression, Patience, Reading, Statement, Value, Waiting};

/// The blocks of a statement, with the statement behind whose patience they are.
pub(super) fn blocks(action: &Action) -> Vec<&[Statement]> {
    let mut all: Vec<&[Statement]> = match action {
        Action::Use { body, .. } | Action::While { body, .. } | Action::Repeat { body, .. } => vec![body],
        Action::If { arms, otherwise } | Action::With { arms, otherwise } => {
            arms.iter().map(|(_, block)| &block[..]).chain([&otherwise[..]]).collect()
        }
        _ => Vec::new(),
    };
    all.extend(patience(action).map(|patience| &patience.otherwise[..]));
    all
}

/// How a statement waits.
pub(super) fn waiting(action: &Action) -> Option<&Waiting> {
    match action {
        Action::Seize { waiting, .. }
        | Action::Use { waiting, .. }
        | Action::Put { waiting, .. }
        | Action::Get { waiting, .. }
        | Action::Give { waiting, .. }
        | Action::Take { waiting, .. }
        | Action::Wait { waiting, .. }
        | Action::WaitUntil { waiting, .. } => Some(waiting),
        _ => None,
    }
}

fn patience(action: &Action) -> Option<&Patience> {
    waiting(action)?.patience.as_ref()
}

/// Whether a condition holds for any of these statements and those inside.
pub(in crate::process) fn any(statements: &[Statement], holds: &mut impl FnMut(&Action) -> bool) -> bool {
    statements.iter().any(|statement| {
        holds(&statement.action) || blocks(&statement.action).into_iter().any(|block| any(block, holds))
    })
}

/// Whether a statement itself draws.
pub(super) fn draws(action: &Action) -> bool {
    let drawn = |value: &Value| !matches!(value, Value::Expression(_));
    let own = match action {
        Action::Delay(value) | Action::Set { value, .. } => drawn(value),
        Action::Use { time, .. } => time.as_ref().is_some_and(drawn),
        Action::With { .. } => true,
        _ => false,
    };
    own || patience(action).is_some_and(|patience| drawn(&patience.time))
}

/// Whether a statement itself reads how long the last wait was.
pub(super) fn reads_waited(action: &Action) -> bool {
    let mut found = false;
    let mut see = |expression: &Expression| found |= reads(expression, &Reading::Waited);
    let value = |value: &Value, see: &mut dyn FnMut(&Expression)| {
        if let Value::Expression(expression) = value {
            see(expression);
        }
    };
    match action {
        Action::Delay(time) | Action::Set { value: time, .. } => value(time, &mut see),
        Action::Use { time, requests, .. } => {
            time.iter().for_each(|time| value(time, &mut see));
            requests.iter().for_each(|request| see(&request.units));
        }
        Action::Seize { requests, .. } | Action::Release { requests } => {
            requests.iter().for_each(|request| see(&request.units));
        }
        Action::Put { amount, .. } | Action::Get { amount, .. } => see(amount),
        Action::WaitUntil { condition, .. } | Action::While { condition, .. } => see(condition),
        Action::Spawn { count, set, .. } => {
            see(count);
            set.iter().for_each(|(_, value)| see(value));
        }
        Action::If { arms, .. } => arms.iter().for_each(|(condition, _)| see(condition)),
        Action::Repeat { count: Some(count), .. } => see(count),
        Action::Tally { value: Some(value), .. } => see(value),
        Action::Count { by: Some(by), .. } => see(by),
        _ => {}
    }
    if let Some(waiting) = waiting(action) {
        waiting.priority.iter().for_each(&mut see);
        if let Some(patience) = &waiting.patience {
            patience.when.iter().for_each(&mut see);
            value(&patience.time, &mut see);
        }
    }
    found
}

fn reads(expression: &Expression, what: &Reading) -> bool {
    match expression {
        Expression::Reading(reading) => reading == what,
        Expression::Number(_) | Expression::Name(_) => false,
        Expression::Unary(_, operand) => reads(operand, what),
        Expression::Binary(_, operands) => operands.iter().any(|operand| reads(operand, what)),
        Expression::Select(operands) => operands.iter().any(|operand| reads(operand, what)),
    }
}
