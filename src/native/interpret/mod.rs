//! A plain interpreter of naga IR: the engine where machine code cannot be made, and the oracle of
//! the tests. Functions become trees of operations on the bytes of a frame.

mod compile;
pub(super) mod component;
pub(super) mod constant;
mod expression;
pub(super) mod float;
mod math;
pub(super) mod op;
mod run;
pub(super) mod runs;
pub(super) mod scalar;

use std::ptr;

use naga::{Function as NagaFunction, Handle, Statement};

use super::source::{Refused, Source};
use op::{Function, Parameter, Returned};
use run::Run;

/// The functions of a module that entries reach.
#[derive(Debug)]
pub(super) struct Interpreter {
    /// By function of the module; those that no entry reaches are empty.
    pub(super) functions: Vec<Function>,
    pub(super) constants: Vec<u8>,
    pub(super) entries: Vec<usize>,
    stack: usize,
}

impl Interpreter {
    pub(super) fn new(source: &Source<'_>, entries: &[Handle<NagaFunction>]) -> Result<Self, Refused> {
        let module = source.module;
        let mut reached = vec![false; module.functions.len()];
        entries.iter().for_each(|entry| reached[entry.index()] = true);
        // Callees come before their callers.
        for (handle, function) in module.functions.iter().rev() {
            if reached[handle.index()] {
                callees(&function.body, &mut |callee| reached[callee.index()] = true);
            }
        }
        let (mut functions, mut constants) = (Vec::new(), Vec::new());
        for (handle, _) in module.functions.iter() {
            let function = match reached[handle.index()] {
                true => compile::compile(source, handle, &functions, &mut constants)?,
                false => Function::default(),
            };
            functions.push(function);
        }
        let entries: Vec<_> = entries.iter().map(|entry| entry.index()).collect();
        let stack = entries.iter().map(|entry| functions[*entry].stack).max().unwrap_or(0) as usize;
        Ok(Self { functions, constants, entries, stack })
    }

    /// Bytes of memory that a call takes.
    pub(super) fn stack_bytes(&self) -> usize {
        self.stack
    }

    /// Calls an entry.
    ///
    /// # Safety
    /// `block` is laid out as the module says, with buffers bound to valid memory; `stack` has
    /// [`stack_bytes`](Self::stack_bytes); addresses in `arguments` are valid for their types.
    pub(super) unsafe fn call(&self, block: *mut u8, stack: *mut u8, entry: usize, arguments: &[u64]) -> u64 {
        let run = Run { functions: &self.functions, constants: self.constants.as_ptr(), block };
        // SAFETY: as the caller says.
        unsafe { self.pass(stack, entry, arguments, |function| run.function(stack, function)) }
    }

    /// Passes arguments to a frame, runs an entry there, and returns what it left.
    ///
    /// # Safety
    /// As [`call`](Self::call); `run` runs the entry on the frame at `stack`.
    pub(super) unsafe fn pass(
        &self,
        stack: *mut u8,
        entry: usize,
        arguments: &[u64],
        run: impl FnOnce(&Function),
    ) -> u64 {
        let function = &self.functions[self.entries[entry]];
        let held = |address: u64| ptr::with_exposed_provenance_mut::<u8>(address as usize);
        // SAFETY: as the caller says; the frame has room for parameters and the result.
        unsafe {
            for (parameter, argument) in function.parameters.iter().zip(arguments) {
                match *parameter {
                    Parameter::Scalar { at, width } => run::write(stack.add(at as usize), width, *argument),
                    Parameter::Pointer { at } => run::write(stack.add(at as usize), 8, *argument),
                    Parameter::Bytes { at, bytes } => {
                        run::copy(held(*argument), stack.add(at as usize), bytes);
                    }
                }
            }
            run(function);
            match &function.returned {
                Returned::Nothing => 0,
                Returned::Scalar { width } => run::read(stack, *width),
                Returned::Bytes { runs } => {
                    let to = held(arguments[function.parameters.len()]);
                    for (at, bytes) in runs {
                        run::copy(stack.add(*at as usize), to.add(*at as usize), *bytes);
                    }
                    0
                }
            }
        }
    }
}

/// Calls `f` with each function that a block calls.
fn callees(block: &naga::Block, f: &mut impl FnMut(Handle<NagaFunction>)) {
    for statement in block {
        match statement {
            Statement::Block(block) => callees(block, f),
            Statement::If { accept, reject, .. } => [accept, reject].into_iter().for_each(|b| callees(b, f)),
            Statement::Switch { cases, .. } => cases.iter().for_each(|case| callees(&case.body, f)),
            Statement::Loop { body, continuing, .. } => {
                [body, continuing].into_iter().for_each(|b| callees(b, f));
            }
            Statement::Call { function, .. } => f(*function),
            _ => {}
        }
    }
}
