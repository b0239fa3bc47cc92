//! Which functions are translated, which are inlined, and which variables need an address.

use naga::{Block, Expression as E, Function, Handle, Module, Statement as S, TypeInner as T};

use super::refusal::{Translated, refused_at};

/// Functions of at most this number of expressions are inlined at every call.
const SMALL: usize = 60;
/// The longest function with what is put into it.
const LONGEST: usize = 20_000;
/// The deepest nesting of blocks and calls that a call adds: the translator recurses into them.
const DEEPEST: usize = 64;
/// The longest function of a text; the most expressions of all that is translated.
const OWN: usize = 30_000;
const TOTAL: usize = 400_000;

/// By function of the module.
pub(super) struct Plan {
    pub(super) inlined: Vec<bool>,
    /// By local variable: whether it lies in memory.
    pub(super) locals: Vec<Vec<bool>>,
    /// By argument: whether what it points to lies in memory.
    arguments: Vec<Vec<bool>>,
    /// Expressions of all that is translated.
    pub(super) total: usize,
}

impl Plan {
    pub(super) fn new(module: &Module, entries: &[Handle<Function>]) -> Translated<Self> {
        let count = module.functions.len();
        let mut calls = vec![0_usize; count];
        entries.iter().for_each(|entry| calls[entry.index()] += 1);
        // Callees come before their callers.
        for (handle, function) in module.functions.iter().rev() {
            if calls[handle.index()] > 0 {
                each_call(&function.body, &mut |callee, _| calls[callee.index()] += 1);
            }
        }
        let mut plan = Self {
            inlined: vec![false; count],
            locals: vec![Vec::new(); count],
            arguments: vec![Vec::new(); count],
            total: 0,
        };
        plan.choose(module, &calls, entries)?;
        for (handle, function) in module.functions.iter() {
            if calls[handle.index()] > 0 {
                plan.escapes(handle, function, module);
            }
        }
        Ok(plan)
    }

    fn choose(&mut self, module: &Module, calls: &[usize], entries: &[Handle<Function>]) -> Translated<()> {
        let (mut sizes, mut depths) = (vec![0_usize; calls.len()], vec![0_usize; calls.len()]);
        let mut barred = vec![false; calls.len()];
        for (handle, function) in module.functions.iter() {
            if calls[handle.index()] == 0 {
                continue;
            }
            let own = function.expressions.len();
            if own > OWN {
                let what = format!("a function of {own} expressions (at most {OWN})");
                return refused_at(module.functions.get_span(handle), what);
            }
            let nesting = nesting(&function.body);
            let mut callees = Vec::new();
            each_call(&function.body, &mut |callee, _| callees.push(callee));
            callees.sort_unstable_by_key(|callee| sizes[callee.index()]);
            let (mut size, mut depth) = (own, nesting);
            for callee in callees.into_iter().map(Handle::index) {
                let fits = size + sizes[callee] <= LONGEST && nesting + depths[callee] < DEEPEST;
                if self.inlined[callee] && fits {
                    size += sizes[callee];
                    depth = depth.max(nesting + depths[callee] + 1);
                } else {
                    barred[callee] = true;
                }
            }
            (sizes[handle.index()], depths[handle.index()]) = (size, depth);
            self.inlined[handle.index()] = own <= SMALL || calls[handle.index()] == 1;
        }
        for (inlined, barred) in self.inlined.iter_mut().zip(&barred) {
            *inlined &= !barred;
        }
        let emitted = module.functions.iter().map(|(handle, _)| handle.index());
        let emitted = emitted.filter(|i| calls[*i] > 0 && !self.inlined[*i]).map(|i| sizes[i]).sum::<usize>();
        self.total = emitted + entries.iter().map(|entry| sizes[entry.index()]).sum::<usize>();
        match entries.first() {
            Some(entry) if self.total > TOTAL => {
                let what = format!("a program of {} expressions (at most {TOTAL})", self.total);
                refused_at(module.functions.get_span(*entry), what)
            }
            _ => Ok(()),
        }
    }

    /// Finds what is indexed by computed numbers, or passed to functions that are called.
    fn escapes(&mut self, handle: Handle<Function>, function: &Function, module: &Module) {
        let mut locals = vec![false; function.local_variables.len()];
        let mut arguments = vec![false; function.arguments.len()];
        let mut roots = vec![None; function.expressions.len()];
        let mut mark = |root| match root {
            Some(Root::Local(i)) => locals[i] = true,
            Some(Root::Argument(i)) => arguments[i] = true,
            None => {}
        };
        for (expression, kind) in function.expressions.iter() {
            roots[expression.index()] = match *kind {
                E::LocalVariable(local) => Some(Root::Local(local.index())),
                E::FunctionArgument(i) => {
                    let inner = &module.types[function.arguments[i as usize].ty].inner;
                    let pointer = matches!(inner, T::Pointer { .. } | T::ValuePointer { .. });
                    pointer.then_some(Root::Argument(i as usize))
                }
                E::AccessIndex { base, .. } => roots[base.index()],
                E::Access { base, .. } => {
                    mark(roots[base.index()]);
                    roots[base.index()]
                }
                _ => None,
            };
        }
        each_call(&function.body, &mut |callee, passed| {
            for (i, argument) in passed.iter().enumerate() {
                if !self.inlined[callee.index()] || self.arguments[callee.index()][i] {
                    mark(roots[argument.index()]);
                }
            }
        });
        each_statement(&function.body, &mut |statement| {
            if let S::Atomic { pointer, .. } | S::WorkGroupUniformLoad { pointer, .. } = statement {
                mark(roots[pointer.index()]);
            }
        });
        self.locals[handle.index()] = locals;
        self.arguments[handle.index()] = arguments;
    }
}

#[derive(Clone, Copy)]
enum Root {
    Local(usize),
    Argument(usize),
}

fn each_call(block: &Block, f: &mut impl FnMut(Handle<Function>, &[Handle<E>])) {
    each_statement(block, &mut |statement| {
        if let S::Call { function, arguments, .. } = statement {
            f(*function, arguments);
        }
    });
}

/// How deep the blocks inside a block are nested.
fn nesting(block: &Block) -> usize {
    let inner = |statement: &S| match statement {
        S::Block(block) => 1 + nesting(block),
        S::If { accept, reject, .. } => 1 + nesting(accept).max(nesting(reject)),
        S::Switch { cases, .. } => 1 + cases.iter().map(|case| nesting(&case.body)).max().unwrap_or(0),
        S::Loop { body, continuing, .. } => 1 + nesting(body).max(nesting(continuing)),
        _ => 0,
    };
    block.iter().map(inner).max().unwrap_or(0)
}

fn each_statement(block: &Block, f: &mut impl FnMut(&S)) {
    for statement in block {
        f(statement);
        match statement {
            S::Block(block) => each_statement(block, f),
            S::If { accept, reject, .. } => [accept, reject].into_iter().for_each(|b| each_statement(b, f)),
            S::Switch { cases, .. } => cases.iter().for_each(|case| each_statement(&case.body, f)),
            S::Loop { body, continuing, .. } => {
                [body, continuing].into_iter().for_each(|b| each_statement(b, f));
            }
            _ => {}
        }
    }
}
