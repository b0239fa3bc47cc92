//! Functions and statements as operations.

use naga::valid::FunctionInfo;
use naga::{
    AddressSpace, AtomicFunction, Block, Expression as E, Handle, Span, Statement as S, SwitchCase,
    SwitchValue, TypeInner as T,
};

use super::op::{Argument, Base, Function, Lanes, Op, Out, Parameter, Pointer, Returned, Slot};
use super::runs::runs;
use super::scalar;
use crate::native::source::{Refused, Source};

/// The largest stack of one call from the host.
const STACK_BYTES: u32 = 16 << 20;
/// The deepest nesting of blocks and calls: each takes some 200 bytes of the thread's stack.
const DEPTH: u32 = 1000;

pub(super) type Compiled<T> = Result<T, Refused>;

pub(super) fn refused<T>(what: impl Into<String>) -> Compiled<T> {
    Err(Refused { what: what.into(), span: Span::UNDEFINED })
}

/// What an expression is.
#[derive(Clone, Copy, Debug)]
pub(super) enum Value {
    Slot(Slot),
    Pointer(Pointer),
}

/// Compiles one function after those that it calls.
pub(super) struct Compiler<'a> {
    pub(super) source: &'a Source<'a>,
    pub(super) function: &'a naga::Function,
    pub(super) info: &'a FunctionInfo,
    pub(super) functions: &'a [Function],
    pub(super) constants: &'a mut Vec<u8>,
    /// By expression.
    pub(super) values: Vec<Option<Value>>,
    /// By local variable.
    pub(super) locals: Vec<u32>,
    pub(super) ops: Vec<Op>,
    frame: u32,
    stack: u32,
    depth: u32,
    deepest: u32,
}

pub(super) fn compile(
    source: &Source<'_>,
    handle: Handle<naga::Function>,
    functions: &[Function],
    constants: &mut Vec<u8>,
) -> Compiled<Function> {
    let function = &source.module.functions[handle];
    let compiler = Compiler {
        source,
        function,
        info: &source.info[handle],
        functions,
        constants,
        values: vec![None; function.expressions.len()],
        locals: Vec::new(),
        ops: Vec::new(),
        frame: 0,
        stack: 0,
        depth: 0,
        deepest: 0,
    };
    let whole = source.module.functions.get_span(handle);
    compiler.whole().map_err(|refused| Refused {
        span: if refused.span.is_defined() { refused.span } else { whole },
        ..refused
    })
}

impl Compiler<'_> {
    fn whole(mut self) -> Compiled<Function> {
        let returned = self.returned()?;
        let parameters = self.parameters()?;
        self.locals()?;
        let function = self.function;
        self.block(&function.body)?;
        let frame = self.frame.next_multiple_of(16);
        let stack = frame.saturating_add(self.stack);
        if stack > STACK_BYTES || self.deepest > DEPTH {
            return refused(format!("a stack of {stack} bytes, {} blocks deep", self.deepest));
        }
        Ok(Function { frame, stack, depth: self.deepest, parameters, returned, body: self.ops })
    }

    fn returned(&mut self) -> Compiled<Returned> {
        let Some(result) = &self.function.result else { return Ok(Returned::Nothing) };
        let bytes = self.source.bytes(result.ty);
        let at = self.alloc(bytes)?;
        // A function whose last loop ran out of fuel ends without a result.
        self.ops.push(Op::Zero { at, bytes });
        Ok(match self.source.inner(result.ty) {
            T::Scalar(scalar) => Returned::Scalar { width: scalar.width },
            inner => Returned::Bytes { runs: runs(self.source, inner) },
        })
    }

    fn parameters(&mut self) -> Compiled<Vec<Parameter>> {
        let mut parameters = Vec::new();
        for (i, argument) in self.function.arguments.iter().enumerate() {
            let at;
            let (parameter, value) = match self.source.inner(argument.ty) {
                T::Pointer { .. } | T::ValuePointer { .. } => {
                    at = self.alloc(8)?;
                    let pointer = Pointer { base: Base::Address(at), offset: 0 };
                    (Parameter::Pointer { at }, Value::Pointer(pointer))
                }
                inner => {
                    let bytes = self.source.bytes(argument.ty);
                    at = self.alloc(bytes)?;
                    let parameter = match inner {
                        T::Scalar(scalar) => Parameter::Scalar { at, width: scalar.width },
                        _ => Parameter::Bytes { at, bytes },
                    };
                    (parameter, Value::Slot(Slot { constant: false, at }))
                }
            };
            parameters.push(parameter);
            for (handle, expression) in self.function.expressions.iter() {
                if matches!(expression, E::FunctionArgument(index) if *index as usize == i) {
                    self.values[handle.index()] = Some(value);
                }
            }
        }
        Ok(parameters)
    }

    fn locals(&mut self) -> Compiled<()> {
        let function = self.function;
        for (_, variable) in function.local_variables.iter() {
            let bytes = self.source.bytes(variable.ty);
            let at = self.alloc(bytes)?;
            self.locals.push(at);
            match variable.init {
                Some(init) => {
                    let from = self.slot(init)?;
                    self.ops.push(Op::Copy { from, at, bytes });
                }
                None => self.ops.push(Op::Zero { at, bytes }),
            }
        }
        Ok(())
    }

    /// Bytes of the frame for a value.
    pub(super) fn alloc(&mut self, bytes: u32) -> Compiled<u32> {
        let at = self.frame.next_multiple_of(8);
        self.frame = at.saturating_add(bytes);
        if self.frame > STACK_BYTES {
            return refused(format!("a frame of {} bytes", self.frame));
        }
        Ok(at)
    }

    /// The operations of a block inside the current one.
    fn inner(&mut self, block: &Block) -> Compiled<Vec<Op>> {
        let outer = std::mem::take(&mut self.ops);
        self.depth += 1;
        self.deepest = self.deepest.max(self.depth);
        let result = self.block(block);
        self.depth -= 1;
        result.map(|()| std::mem::replace(&mut self.ops, outer))
    }

    fn block(&mut self, block: &Block) -> Compiled<()> {
        for (statement, span) in block.span_iter() {
            self.statement(statement).map_err(|refused| Refused {
                span: if refused.span.is_defined() { refused.span } else { *span },
                ..refused
            })?;
        }
        Ok(())
    }

    fn statement(&mut self, statement: &S) -> Compiled<()> {
        let op = match statement {
            S::Emit(range) => {
                for handle in range.clone() {
                    let value = self.expression(handle).map_err(|refused| Refused {
                        span: self.function.expressions.get_span(handle),
                        ..refused
                    })?;
                    self.values[handle.index()] = Some(value);
                }
                return Ok(());
            }
            S::Block(block) => Op::Block(self.inner(block)?),
            S::If { condition, accept, reject } => Op::If {
                condition: self.slot(*condition)?,
                accept: self.inner(accept)?,
                reject: self.inner(reject)?,
            },
            S::Switch { selector, cases } => self.switch(*selector, cases)?,
            S::Loop { body, continuing, break_if } => self.repeat(body, continuing, *break_if)?,
            S::Break => Op::Break,
            S::Continue => Op::Continue,
            S::Return { value } => {
                if let Some(value) = value {
                    let (from, bytes) = (self.slot(*value)?, self.value_bytes(*value));
                    self.ops.push(Op::Copy { from, at: 0, bytes });
                }
                Op::Return
            }
            S::Store { pointer, value } => return self.store(*pointer, *value),
            S::Call { function, arguments, result } => self.call(*function, arguments, *result)?,
            S::Atomic { pointer, fun, value, result } => self.atomic(*pointer, fun, *value, *result)?,
            S::WorkGroupUniformLoad { pointer, result } => {
                let (from, bytes) = (self.pointer(*pointer)?, self.value_bytes(*result));
                Op::Load { from, at: self.result(*result, bytes)?, bytes }
            }
            // One invocation waits for no other.
            S::ControlBarrier(_) | S::MemoryBarrier(_) => return Ok(()),
            other => return refused(format!("the statement {}", kind(other))),
        };
        self.ops.push(op);
        Ok(())
    }

    fn store(&mut self, pointer: Handle<E>, value: Handle<E>) -> Compiled<()> {
        let (from, to) = (self.slot(value)?, self.pointer(pointer)?);
        for (at, bytes) in runs(self.source, self.ty(value)) {
            let to = Pointer { offset: to.offset + at, ..to };
            self.ops.push(Op::Store { from: from.plus(at), to, bytes });
        }
        Ok(())
    }

    fn switch(&mut self, selector: Handle<E>, cases: &[SwitchCase]) -> Compiled<Op> {
        let selector = self.slot(selector)?;
        let (mut values, mut default, mut bodies) = (Vec::new(), cases.len(), Vec::new());
        for (i, case) in cases.iter().enumerate() {
            match case.value {
                SwitchValue::I32(value) => values.push((value as u32, i)),
                SwitchValue::U32(value) => values.push((value, i)),
                SwitchValue::Default => default = i,
            }
            bodies.push((self.inner(&case.body)?, case.fall_through));
        }
        Ok(Op::Switch { selector, values, default, bodies })
    }

    fn repeat(&mut self, body: &Block, continuing: &Block, break_if: Option<Handle<E>>) -> Compiled<Op> {
        let body = self.inner(body)?;
        let continuing = self.inner(continuing)?;
        let break_if = break_if.map(|condition| self.slot(condition)).transpose()?;
        Ok(Op::Loop { body, continuing, break_if })
    }

    fn call(
        &mut self,
        callee: Handle<naga::Function>,
        arguments: &[Handle<E>],
        result: Option<Handle<E>>,
    ) -> Compiled<Op> {
        let function = callee.index();
        let Some(compiled) = self.functions.get(function) else {
            return refused("a call of a function that comes later");
        };
        self.stack = self.stack.max(compiled.stack);
        self.deepest = self.deepest.max(self.depth + compiled.depth + 1);
        let mut passed = Vec::new();
        for (parameter, argument) in compiled.parameters.iter().zip(arguments) {
            passed.push(match *parameter {
                Parameter::Pointer { at } => {
                    let bytes = self.pointee_bytes(*argument);
                    Argument::Pointer { pointer: self.pointer(*argument)?, at, bytes }
                }
                Parameter::Scalar { at, .. } | Parameter::Bytes { at, .. } => {
                    Argument::Value { from: self.slot(*argument)?, at, bytes: self.value_bytes(*argument) }
                }
            });
        }
        let result = match result {
            Some(result) => {
                let bytes = self.value_bytes(result);
                Some((self.result(result, bytes)?, bytes))
            }
            None => None,
        };
        Ok(Op::Call { function, arguments: passed, result })
    }

    /// Bytes of what a pointer points to.
    fn pointee_bytes(&self, pointer: Handle<E>) -> u32 {
        match *self.ty(pointer) {
            T::Pointer { base, .. } => self.source.bytes(base),
            T::ValuePointer { size, scalar, .. } => {
                size.map_or(1, |size| size as u32) * u32::from(scalar.width)
            }
            _ => 0,
        }
    }

    /// A slot for what a statement yields.
    fn result(&mut self, result: Handle<E>, bytes: u32) -> Compiled<u32> {
        let at = self.alloc(bytes)?;
        self.values[result.index()] = Some(Value::Slot(Slot { constant: false, at }));
        Ok(at)
    }

    fn atomic(
        &mut self,
        pointer: Handle<E>,
        fun: &AtomicFunction,
        value: Handle<E>,
        result: Option<Handle<E>>,
    ) -> Compiled<Op> {
        let of = self.scalar(value)?;
        let pointer = self.pointer(pointer)?;
        let value = Lanes { slot: self.slot(value)?, width: of.width, step: 0 };
        let (bytes, offsets) = match result.map(|result| self.ty(result)) {
            Some(T::Struct { members, span }) => (*span, [members[0].offset, members[1].offset]),
            _ => (8, [0, 0]),
        };
        let old = match result {
            Some(result) => self.result(result, bytes)?,
            None => self.alloc(bytes)?,
        };
        if let AtomicFunction::Exchange { compare: Some(compare) } = fun {
            let compare = self.slot(*compare)?;
            let (old, exchanged) = (old + offsets[0], old + offsets[1]);
            return Ok(Op::CompareExchange { pointer, compare, value, old, exchanged });
        }
        use naga::{BinaryOperator as B, MathFunction as M};
        let f = match fun {
            AtomicFunction::Add => scalar::binary(B::Add, of),
            AtomicFunction::Subtract => scalar::binary(B::Subtract, of),
            AtomicFunction::And => scalar::binary(B::And, of),
            AtomicFunction::ExclusiveOr => scalar::binary(B::ExclusiveOr, of),
            AtomicFunction::InclusiveOr => scalar::binary(B::InclusiveOr, of),
            AtomicFunction::Min => scalar::math2(M::Min, of),
            AtomicFunction::Max => scalar::math2(M::Max, of),
            AtomicFunction::Exchange { .. } => Some((|_, new| new) as super::component::Binary),
        };
        match f {
            Some(f) => Ok(Op::Atomic { f, pointer, value, old }),
            None => refused(format!("the atomic function {fun:?} of {of:?}")),
        }
    }

    /// The place of a module's variable.
    pub(super) fn global(&self, handle: Handle<naga::GlobalVariable>) -> Compiled<Pointer> {
        let variable = &self.source.module.global_variables[handle];
        let at = self.source.globals[handle.index()];
        match (variable.space, at) {
            (AddressSpace::Storage { .. }, Some(at)) => Ok(Pointer { base: Base::Buffer(at), offset: 0 }),
            (AddressSpace::Private | AddressSpace::WorkGroup | AddressSpace::Uniform, Some(at)) => {
                Ok(Pointer { base: Base::Block, offset: at })
            }
            (space, _) => refused(format!("a variable in the address space {space:?}")),
        }
    }

    /// The lanes of a vector or scalar that starts at a slot.
    pub(super) fn lanes(slot: Slot, width: u8) -> Lanes {
        Lanes { slot, width, step: width.into() }
    }

    pub(super) fn out(&mut self, count: u32, width: u8) -> Compiled<Out> {
        Ok(Out { at: self.alloc(count * u32::from(width))?, width })
    }
}

fn kind(statement: &S) -> &'static str {
    match statement {
        S::Kill => "`discard`",
        S::ImageStore { .. } | S::ImageAtomic { .. } => "of textures",
        S::RayQuery { .. } | S::RayPipelineFunction(_) => "of rays",
        S::CooperativeStore { .. } => "of cooperative matrices",
        _ => "of subgroups",
    }
}
