//! What statements have inside: how they wait, their blocks, their expressions.

use eventhorizon::process::ir::{Action, Awaited, Expression, Preempted, Statement, Value, Waiting};

/// Defines a function that finds how a statement waits, and one that finds its blocks, for
/// references that are shared or not.
macro_rules! walks {
    ($waiting:ident, $blocks:ident, $iter:ident, $option:ident, $($mutable:tt)?) => {
        /// How a statement waits, if it does.
        pub fn $waiting(action: &$($mutable)? Action) -> Option<&$($mutable)? Waiting> {
            match action {
                Action::Seize { waiting, .. }
                | Action::Use { waiting, .. }
                | Action::Put { waiting, .. }
                | Action::Get { waiting, .. }
                | Action::Give { waiting, .. }
                | Action::Take { waiting, .. }
                | Action::Wait { waiting, .. }
                | Action::WaitUntil { waiting, .. }
                | Action::WaitAny { waiting, .. }
                | Action::Batch { waiting, .. } => Some(waiting),
                _ => None,
            }
        }

        /// The blocks of a statement, in the order of their names: `else` of a patience first,
        /// `preempted` last.
        pub fn $blocks(action: &$($mutable)? Action) -> Vec<&$($mutable)? Vec<Statement>> {
            fn around<'a>(
                waiting: &'a $($mutable)? Waiting,
                own: Vec<&'a $($mutable)? Vec<Statement>>,
            ) -> Vec<&'a $($mutable)? Vec<Statement>> {
                let otherwise =
                    waiting.patience.$option().map(|patience| &$($mutable)? patience.otherwise);
                let lost = match &$($mutable)? waiting.preempted {
                    Preempted::Lose(block) => Some(block),
                    Preempted::Resume | Preempted::Repeat | Preempted::Restart => None,
                };
                otherwise.into_iter().chain(own).chain(lost).chain([&$($mutable)? waiting.then]).collect()
            }
            match action {
                Action::Use { body, waiting, .. } | Action::Batch { body, waiting, .. } => {
                    around(waiting, vec![body])
                }
                Action::WaitAny { arms, waiting } => {
                    around(waiting, arms.$iter().map(|(_, block)| block).collect())
                }
                Action::While { body, .. } | Action::Repeat { body, .. } | Action::Select { body, .. } => {
                    vec![body]
                }
                Action::Interruptible { body, handler } => vec![body, handler],
                Action::If { arms, otherwise } | Action::With { arms, otherwise } => {
                    arms.$iter().map(|(_, block)| block).chain([otherwise]).collect()
                }
                action => match $waiting(action) {
                    Some(waiting) => around(waiting, Vec::new()),
                    None => Vec::new(),
                },
            }
        }
    };
}

walks!(waiting, blocks, iter, as_ref,);
walks!(waiting_mut, blocks_mut, iter_mut, as_mut, mut);

/// Whether this holds for any statement of a block, or inside of one.
pub fn any(block: &[Statement], holds: &dyn Fn(&Action) -> bool) -> bool {
    block.iter().any(|statement| {
        holds(&statement.action) || blocks(&statement.action).into_iter().any(|block| any(block, holds))
    })
}

/// The expressions of a statement itself.
pub fn expressions_mut(action: &mut Action) -> Vec<&mut Expression> {
    fn of_value(value: &mut Value) -> Option<&mut Expression> {
        match value {
            Value::Expression(expression) => Some(expression),
            _ => None,
        }
    }
    match action {
        Action::Delay(value) | Action::Set { value, .. } => of_value(value).into_iter().collect(),
        Action::Seize { requests, .. } | Action::Release { requests } => {
            requests.iter_mut().map(|request| &mut request.units).collect()
        }
        Action::Use { requests, time, .. } => {
            let units = requests.iter_mut().map(|request| &mut request.units);
            units.chain(time.as_mut().and_then(of_value)).collect()
        }
        Action::Put { amount, .. } | Action::Get { amount, .. } => vec![amount],
        Action::Resize { units, .. } => vec![units],
        Action::Batch { size, .. } => vec![size],
        Action::Interrupt { number, .. } => vec![number],
        Action::WaitAny { arms, .. } => arms
            .iter_mut()
            .filter_map(|(awaited, _)| match awaited {
                Awaited::Until(condition) => Some(condition),
                Awaited::Signal(_) => None,
            })
            .collect(),
        Action::WaitUntil { condition, .. } | Action::While { condition, .. } => vec![condition],
        Action::Spawn { count, set, .. } => {
            [count].into_iter().chain(set.iter_mut().map(|(_, value)| value)).collect()
        }
        Action::If { arms, .. } => arms.iter_mut().map(|(condition, _)| condition).collect(),
        Action::Repeat { count, .. } => count.iter_mut().collect(),
        Action::Tally { value, .. } => value.iter_mut().collect(),
        Action::Count { by, .. } => by.iter_mut().collect(),
        Action::Note { value, .. } => value.iter_mut().collect(),
        _ => Vec::new(),
    }
}
