//! Finds loops without effect. A compiler removes such a loop even if it never ends, and then no
//! check reports it.

use std::collections::{HashMap, HashSet};

use naga::{Block, Expression, Function, Handle, LocalVariable, Span, Statement};

/// The effects of a block outside itself.
#[derive(Default)]
struct Effects {
    stored: HashSet<Handle<LocalVariable>>,
    /// How often each variable is loaded.
    loaded: HashMap<Handle<LocalVariable>, u32>,
    /// Whether it has other effects.
    others: bool,
}

/// The places of a function's loops that change nothing that is read after them. Of nested loops
/// only the outer one.
pub(super) fn loops(function: &Function) -> Vec<Span> {
    let mut all = Effects::default();
    all.of(function, &function.body);
    let mut found = Vec::new();
    search(function, &function.body, &all, &mut found);
    found
}

fn search(function: &Function, block: &Block, all: &Effects, found: &mut Vec<Span>) {
    for (statement, &span) in block.span_iter() {
        let inner: Vec<&Block> = match statement {
            Statement::Block(inner) => vec![inner],
            Statement::If { accept, reject, .. } => vec![accept, reject],
            Statement::Switch { cases, .. } => cases.iter().map(|case| &case.body).collect(),
            Statement::Loop { body, continuing, .. } => {
                let mut effects = Effects::default();
                effects.of(function, body);
                effects.of(function, continuing);
                let read_after = |variable| all.loaded.get(variable) > effects.loaded.get(variable);
                if !effects.others && !effects.stored.iter().any(read_after) {
                    found.push(span);
                    continue;
                }
                vec![body, continuing]
            }
            _ => continue,
        };
        inner.into_iter().for_each(|block| search(function, block, all, found));
    }
}

impl Effects {
    fn of(&mut self, function: &Function, block: &Block) {
        for statement in block {
            match statement {
                Statement::Emit(range) => {
                    for handle in range.clone() {
                        if let Expression::Load { pointer } = function.expressions[handle]
                            && let Some(variable) = local(function, pointer)
                        {
                            *self.loaded.entry(variable).or_default() += 1;
                        }
                    }
                }
                Statement::Block(inner) => self.of(function, inner),
                Statement::If { accept, reject, .. } => {
                    self.of(function, accept);
                    self.of(function, reject);
                }
                Statement::Switch { cases, .. } => {
                    cases.iter().for_each(|case| self.of(function, &case.body));
                }
                Statement::Loop { body, continuing, .. } => {
                    self.of(function, body);
                    self.of(function, continuing);
                }
                Statement::Break | Statement::Continue => {}
                Statement::Store { pointer, .. } => match local(function, *pointer) {
                    Some(variable) => drop(self.stored.insert(variable)),
                    None => self.others = true,
                },
                Statement::Call { arguments, .. } => {
                    self.others = true;
                    // A callee with the pointer may read.
                    for variable in arguments.iter().filter_map(|&argument| local(function, argument)) {
                        *self.loaded.entry(variable).or_default() += 1;
                    }
                }
                _ => self.others = true,
            }
        }
    }
}

/// The variable of the function that this expression points into.
fn local(function: &Function, mut at: Handle<Expression>) -> Option<Handle<LocalVariable>> {
    loop {
        match function.expressions[at] {
            Expression::Access { base, .. } | Expression::AccessIndex { base, .. } => at = base,
            Expression::LocalVariable(variable) => return Some(variable),
            _ => return None,
        }
    }
}
