//! Walks through statements and expressions.

use super::super::ir::{
    Action, Arguments, Awaited, Expression, Patience, Policy, Preempted, Reading, Request, Statement, Value,
    Variable, Waiting,
};

/// The blocks of a statement, with the statement behind whose patience they are.
pub(super) fn blocks(action: &Action) -> Vec<&[Statement]> {
    let mut all: Vec<&[Statement]> = match action {
        Action::Use { body, .. }
        | Action::While { body, .. }
        | Action::Repeat { body, .. }
        | Action::Batch { body, .. }
        | Action::Clone { body, .. }
        | Action::Select { body, .. } => vec![body],
        Action::Interruptible { body, handler } => vec![body, handler],
        Action::WaitAny { arms, .. } => arms.iter().map(|(_, block)| &block[..]).collect(),
        Action::If { arms, otherwise } | Action::With { arms, otherwise } => {
            arms.iter().map(|(_, block)| &block[..]).chain([&otherwise[..]]).collect()
        }
        _ => Vec::new(),
    };
    all.extend(patience(action).map(|patience| &patience.otherwise[..]));
    if let Some(waiting) = waiting(action) {
        all.push(&waiting.then);
        if let Preempted::Lose(block) = &waiting.preempted {
            all.push(block);
        }
    }
    all
}

/// The expressions of a statement itself, with those of its distributions.
pub(super) fn expressions(action: &Action) -> Vec<&Expression> {
    let mut all: Vec<&Expression> = match action {
        Action::Delay(time) | Action::Set { value: time, .. } => of_value(time),
        Action::Use { time, requests, .. } => {
            requests.iter().map(|request| &request.units).chain(time.iter().flat_map(of_value)).collect()
        }
        Action::Seize { requests, .. } | Action::Release { requests } => {
            requests.iter().map(|request| &request.units).collect()
        }
        Action::Put { amount, .. } | Action::Get { amount, .. } => vec![amount],
        Action::Resize { units, .. } => vec![units],
        Action::Batch { size, .. } => vec![size],
        Action::Interrupt { number, .. } => vec![number],
        Action::WaitAny { arms, .. } => arms
            .iter()
            .filter_map(|(awaited, _)| match awaited {
                Awaited::Until(condition) => Some(condition),
                Awaited::Signal(_) => None,
            })
            .collect(),
        Action::WaitUntil { condition, .. } | Action::While { condition, .. } => vec![condition],
        Action::Spawn { count, set, .. } => set.iter().map(|(_, value)| value).chain([count]).collect(),
        Action::If { arms, .. } | Action::With { arms, .. } => {
            arms.iter().map(|(condition, _)| condition).collect()
        }
        Action::Clone { count, .. } => vec![count],
        Action::Repeat { count, .. } => count.iter().collect(),
        Action::Tally { value, .. } => value.iter().collect(),
        Action::Count { by, .. } => by.iter().collect(),
        Action::Note { value, .. } => value.iter().collect(),
        _ => Vec::new(),
    };
    if let Some(waiting) = waiting(action) {
        all.extend(&waiting.priority);
        if let Some(patience) = &waiting.patience {
            all.extend(&patience.when);
            all.extend(of_value(&patience.time));
        }
    }
    all
}

/// The expressions of a value.
pub(super) fn of_value(value: &Value) -> Vec<&Expression> {
    match value {
        Value::Expression(expression) => vec![expression],
        Value::Law(law) => match &law.arguments {
            Arguments::One(one) => vec![one],
            Arguments::List(list) => list.iter().collect(),
            Arguments::Named(named) => named.values().collect(),
            Arguments::Whole(_) => Vec::new(),
        },
        Value::Choice(choice) => choice.iter().map(|(_, probability)| probability).collect(),
    }
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
        | Action::WaitUntil { waiting, .. }
        | Action::Batch { waiting, .. }
        | Action::WaitAny { waiting, .. } => Some(waiting),
        _ => None,
    }
}

/// When a statement gives up waiting.
pub(super) fn patience(action: &Action) -> Option<&Patience> {
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
        Action::With { .. } | Action::Select { by: Policy::Random, .. } => true,
        _ => false,
    };
    own || patience(action).is_some_and(|patience| drawn(&patience.time))
}

/// Whether a statement itself reads how long the last wait was.
pub(super) fn reads_waited(action: &Action) -> bool {
    expressions(action).into_iter().any(|expression| reads(expression, &Reading::Waited))
}

/// Whether the first value of an attribute reads how long the last wait was.
pub(super) fn first_reads_waited(attribute: &Variable) -> bool {
    matches!(&attribute.value, Some(Value::Expression(value)) if reads(value, &Reading::Waited))
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

/// The text of a statement: its action, and what it acts on.
pub(super) fn text(action: &Action) -> String {
    let all = |requests: &[Request]| {
        requests.iter().map(|request| &*request.resource).collect::<Vec<_>>().join(", ")
    };
    match action {
        Action::Delay(_) => "delay".to_owned(),
        Action::Seize { requests, .. } => format!("seize {}", all(requests)),
        Action::Release { requests } => format!("release {}", all(requests)),
        Action::Use { requests, .. } => format!("use {}", all(requests)),
        Action::Put { container, .. } => format!("put {container}"),
        Action::Get { container, .. } => format!("get {container}"),
        Action::Give { store, .. } => format!("give {store}"),
        Action::Take { store, .. } => format!("take {store}"),
        Action::Wait { signal, .. } => format!("wait {signal}"),
        Action::WaitUntil { .. } => "wait_until".to_owned(),
        Action::WaitAny { .. } => "wait_any".to_owned(),
        Action::Resize { resource, .. } => format!("resize {resource}"),
        Action::Select { among, .. } => format!("select {}", among.join(", ")),
        Action::Interruptible { .. } => "do".to_owned(),
        Action::Batch { .. } => "batch".to_owned(),
        Action::Interrupt { entity, .. } => format!("interrupt {entity}"),
        Action::Send { signal } => format!("send {signal}"),
        Action::Spawn { entity, .. } => format!("spawn {entity}"),
        Action::Clone { .. } => "clone".to_owned(),
        Action::Join => "join".to_owned(),
        Action::If { .. } => "if".to_owned(),
        Action::With { .. } => "with".to_owned(),
        Action::While { .. } => "while".to_owned(),
        Action::Repeat { .. } => "repeat".to_owned(),
        Action::Set { name, .. } => format!("set {name}"),
        Action::Tally { name, .. } => format!("tally {name}"),
        Action::Count { name, .. } => format!("count {name}"),
        Action::Note { name, .. } => format!("note {name}"),
        Action::Go { block } => format!("go {block}"),
        Action::End => "end".to_owned(),
    }
}
