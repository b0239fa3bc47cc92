//! Functions and statements.

use std::rc::Rc;

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{
    AbiParam, Block as Label, BlockArg, InstBuilder, Signature, StackSlotData, StackSlotKind, Value, types,
};
use cranelift_codegen::isa::CallConv;
use cranelift_frontend::Switch;
use cranelift_module::{FuncId, Linkage, Module as _};
use naga::{
    Block, Expression as E, Function, Handle, LocalVariable, Statement as S, SwitchCase, SwitchValue,
    TypeInner as T,
};

use super::STACK_BYTES;
use super::refusal::{Translated, failed, refused};
use super::types::register;
use super::value::{At, Frame, Place, Shared, Translator, Val};
use crate::native::source::Refused;

impl<'m> Translator<'_, 'm> {
    /// The entry of the host: `extern "C" fn(block, arguments) -> result`.
    pub(super) fn entry(&mut self, handle: Handle<Function>) -> Translated<()> {
        let function = &self.shared.source.module.functions[handle];
        let parameters = self.begin();
        let (mut values, words) = (Vec::new(), parameters[1]);
        for (argument, i) in function.arguments.iter().zip(0..) {
            let inner = self.shared.types.inner(argument.ty);
            let word = |t: &mut Self| t.b.ins().load(types::I64, Place::flags(false), words, 8 * i);
            values.push(match inner {
                T::Scalar(scalar) => {
                    let (ty, word) = (register(*scalar)?, word(self));
                    Val::Scalars(vec![self.narrow(word, ty)])
                }
                T::Pointer { .. } | T::ValuePointer { .. } => Val::Pointer(Place::memory(word(self))),
                inner => {
                    let place = Place::memory(word(self));
                    self.load(&place, inner)?
                }
            });
        }
        let value = self.inline(handle, values)?;
        let result = match (value, &function.result) {
            (Some(value), Some(result)) => match self.shared.types.inner(result.ty) {
                T::Scalar(_) => {
                    let value = value.scalar()?;
                    self.widen(value)
                }
                inner => {
                    let at = 8 * function.arguments.len() as i32;
                    let address = self.b.ins().load(types::I64, Place::flags(false), words, at);
                    self.store(&Place::memory(address), inner, &value)?;
                    self.word(0)
                }
            },
            _ => self.word(0),
        };
        self.b.ins().return_(&[result]);
        Ok(())
    }

    /// A function that other machine code calls.
    pub(super) fn whole(&mut self, handle: Handle<Function>) -> Translated<()> {
        let function = &self.shared.source.module.functions[handle];
        let parameters = self.begin();
        let (mut values, mut next) = (Vec::new(), 1);
        for argument in &function.arguments {
            let inner = self.shared.types.inner(argument.ty);
            let pointer = matches!(inner, T::Pointer { .. } | T::ValuePointer { .. });
            values.push(if pointer || self.shared.types.is_large(inner) {
                let place = Place::memory(parameters[next]);
                next += 1;
                if pointer { Val::Pointer(place) } else { Val::Large(place) }
            } else {
                let count = self.shared.types.leaves(inner)?.len();
                next += count;
                Val::Scalars(parameters[next - count..next].to_vec())
            });
        }
        let results = match self.inline(handle, values)? {
            None => Vec::new(),
            Some(Val::Scalars(values)) => values,
            Some(value) => {
                if let (Some(result), Some(address)) = (&function.result, parameters.last()) {
                    let inner = self.shared.types.inner(result.ty);
                    self.store(&Place::memory(*address), inner, &value)?;
                }
                Vec::new()
            }
        };
        self.b.ins().return_(&results);
        Ok(())
    }

    fn begin(&mut self) -> Vec<Value> {
        let start = self.b.create_block();
        self.b.append_block_params_for_function_params(start);
        self.enter(start);
        let parameters = self.b.block_params(start).to_vec();
        self.block = parameters[0];
        parameters
    }

    /// Continues in a block that nothing else will jump to.
    fn enter(&mut self, label: Label) {
        self.b.switch_to_block(label);
        self.b.seal_block(label);
    }

    /// The body of a function here; its end is the current block then.
    fn inline(&mut self, handle: Handle<Function>, arguments: Vec<Val>) -> Translated<Option<Val>> {
        let source = self.shared.source;
        let function = &source.module.functions[handle];
        let end = self.b.create_block();
        let mut result = None;
        if let Some(returned) = &function.result {
            let inner = self.shared.types.inner(returned.ty);
            if self.shared.types.is_large(inner) {
                result = Some(self.slot(inner)?);
            } else {
                for leaf in self.shared.types.leaves(inner)? {
                    self.b.append_block_param(end, register(leaf.scalar)?);
                }
            }
        }
        let values = vec![None; function.expressions.len()];
        let (locals, info) = (Vec::new(), &source.info[handle]);
        let (breaks, continues) = (Vec::new(), Vec::new());
        let mut frame = Frame { function, info, values, arguments, locals, end, result, breaks, continues };
        self.body(&mut frame, handle).map_err(|refused| Refused {
            span: if refused.span.is_defined() {
                refused.span
            } else {
                source.module.functions.get_span(handle)
            },
            ..refused
        })?;
        self.enter(end);
        Ok(function.result.as_ref().map(|_| match frame.result {
            Some(place) => Val::Large(place),
            None => Val::Scalars(self.b.block_params(end).to_vec()),
        }))
    }

    fn body(&mut self, frame: &mut Frame<'m>, handle: Handle<Function>) -> Translated<()> {
        let function = frame.function;
        for (local, variable) in function.local_variables.iter() {
            let place = self.local(handle, local, variable)?;
            let inner = self.shared.types.inner(variable.ty);
            match variable.init {
                Some(init) => {
                    let value = self.expression(frame, init)?;
                    self.store(&place, inner, &value)?;
                }
                None => self.zero(&place, inner)?,
            }
            frame.locals.push(place);
        }
        if self.statements(frame, &function.body)? {
            // The end of a function without a result, or after a loop that ran out of fuel.
            self.leave(frame, None)?;
        }
        Ok(())
    }

    fn local(
        &mut self,
        handle: Handle<Function>,
        local: Handle<LocalVariable>,
        variable: &LocalVariable,
    ) -> Translated<Place> {
        let inner = self.shared.types.inner(variable.ty);
        if self.shared.types.is_large(inner) || self.shared.plan.locals[handle.index()][local.index()] {
            return self.slot(inner);
        }
        let mut variables = Vec::new();
        for leaf in self.shared.types.leaves(inner)? {
            variables.push(self.b.declare_var(register(leaf.scalar)?));
        }
        Ok(Place { at: At::Variables { variables: Rc::from(variables), first: 0 }, buffer: None })
    }

    /// Memory in the stack for a value.
    pub(super) fn slot(&mut self, inner: &T) -> Translated<Place> {
        let bytes = self.shared.types.bytes(inner);
        if u64::from(bytes) > STACK_BYTES {
            return refused(format!("a value of {bytes} bytes in the stack (at most {STACK_BYTES})"));
        }
        let data = StackSlotData::new(StackSlotKind::ExplicitSlot, bytes, 4);
        let slot = self.b.create_sized_stack_slot(data);
        Ok(Place::memory(self.b.ins().stack_addr(types::I64, slot, 0)))
    }

    /// Returns from a function; its result is zero where there is no value.
    fn leave(&mut self, frame: &mut Frame<'m>, value: Option<Val>) -> Translated<()> {
        let mut passed = Vec::new();
        if let Some(returned) = &frame.function.result {
            let inner = self.shared.types.inner(returned.ty);
            match (frame.result.clone(), value) {
                (Some(place), Some(value)) => self.store(&place, inner, &value)?,
                (Some(place), None) => self.zero(&place, inner)?,
                (None, Some(value)) => passed = value.scalars()?,
                (None, None) => passed = self.zeros(inner)?,
            }
        }
        let passed: Vec<_> = passed.into_iter().map(BlockArg::from).collect();
        self.b.ins().jump(frame.end, &passed);
        Ok(())
    }

    /// Whether control reaches the end of the block.
    fn statements(&mut self, frame: &mut Frame<'m>, block: &'m Block) -> Translated<bool> {
        for (statement, span) in block.span_iter() {
            let open = self.statement(frame, statement).map_err(|refused| Refused {
                span: if refused.span.is_defined() { refused.span } else { *span },
                ..refused
            })?;
            if !open {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn statement(&mut self, frame: &mut Frame<'m>, statement: &'m S) -> Translated<bool> {
        match statement {
            S::Emit(range) => {
                for handle in range.clone() {
                    let value = self.compute(frame, handle).map_err(|refused| Refused {
                        span: frame.function.expressions.get_span(handle),
                        ..refused
                    })?;
                    frame.values[handle.index()] = Some(value);
                }
            }
            S::Block(block) => return self.statements(frame, block),
            S::If { condition, accept, reject } => return self.branch(frame, *condition, accept, reject),
            S::Switch { selector, cases } => return self.switch(frame, *selector, cases),
            S::Loop { body, continuing, break_if } => self.repeat(frame, body, continuing, *break_if)?,
            S::Break => return self.jump(frame.breaks.last().copied()),
            S::Continue => return self.jump(frame.continues.last().copied()),
            S::Return { value } => {
                let value = value.map(|value| self.expression(frame, value)).transpose()?;
                self.leave(frame, value)?;
                return Ok(false);
            }
            S::Store { pointer, value } => {
                let value = self.expression(frame, *value)?;
                let (place, inner) = self.pointer(frame, *pointer)?;
                self.store(&place, &inner, &value)?;
            }
            S::Call { function, arguments, result } => self.call(frame, *function, arguments, *result)?,
            S::Atomic { pointer, fun, value, result } => {
                self.atomic(frame, *pointer, fun, *value, *result)?
            }
            S::WorkGroupUniformLoad { pointer, result } => {
                let (place, inner) = self.pointer(frame, *pointer)?;
                frame.values[result.index()] = Some(self.load(&place, &inner)?);
            }
            // One invocation waits for no other.
            S::ControlBarrier(_) | S::MemoryBarrier(_) => {}
            S::Kill => return refused("`discard`"),
            S::ImageStore { .. } | S::ImageAtomic { .. } => return refused("a texture"),
            _ => return refused("a statement of subgroups, rays or matrices"),
        }
        Ok(true)
    }

    fn jump(&mut self, label: Option<Label>) -> Translated<bool> {
        let Some(label) = label else { return refused("a jump from here") };
        self.b.ins().jump(label, &[]);
        Ok(false)
    }

    fn branch(
        &mut self,
        frame: &mut Frame<'m>,
        condition: Handle<E>,
        accept: &'m Block,
        reject: &'m Block,
    ) -> Translated<bool> {
        if let Some(known) = self.known(frame, condition) {
            return self.statements(frame, if known { accept } else { reject });
        }
        let condition = self.expression(frame, condition)?.scalar()?;
        let [yes, no, end] = [(); 3].map(|()| self.b.create_block());
        self.b.ins().brif(condition, yes, &[], no, &[]);
        let mut open = false;
        for (label, block) in [(yes, accept), (no, reject)] {
            self.enter(label);
            if self.statements(frame, block)? {
                self.b.ins().jump(end, &[]);
                open = true;
            }
        }
        if open {
            self.enter(end);
        }
        Ok(open)
    }

    fn switch(
        &mut self,
        frame: &mut Frame<'m>,
        selector: Handle<E>,
        cases: &'m [SwitchCase],
    ) -> Translated<bool> {
        let selector = self.expression(frame, selector)?.scalar()?;
        let end = self.b.create_block();
        let labels: Vec<_> = cases.iter().map(|_| self.b.create_block()).collect();
        let (mut switch, mut default) = (Switch::new(), end);
        for (case, label) in cases.iter().zip(&labels) {
            match case.value {
                SwitchValue::U32(value) => switch.set_entry(value.into(), *label),
                SwitchValue::I32(value) => switch.set_entry(value.cast_unsigned().into(), *label),
                SwitchValue::Default => default = *label,
            }
        }
        switch.emit(&mut self.b, selector, default);
        frame.breaks.push(end);
        for (i, case) in cases.iter().enumerate() {
            self.enter(labels[i]);
            if self.statements(frame, &case.body)? {
                let next = if case.fall_through { labels.get(i + 1) } else { None };
                self.b.ins().jump(*next.unwrap_or(&end), &[]);
            }
        }
        frame.breaks.pop();
        // (Nothing may reach it.)
        self.enter(end);
        Ok(true)
    }

    fn repeat(
        &mut self,
        frame: &mut Frame<'m>,
        body: &'m Block,
        continuing: &'m Block,
        break_if: Option<Handle<E>>,
    ) -> Translated<()> {
        let [head, inside, next, end] = [(); 4].map(|()| self.b.create_block());
        self.b.ins().jump(head, &[]);
        self.b.switch_to_block(head);
        // The fuel is all that this region holds: other stores leave it as it is.
        let flags = Place::fuel();
        let left = self.b.ins().load(types::I64, flags, self.block, 0);
        let left = self.b.ins().iadd_imm(left, -1);
        self.b.ins().store(flags, left, self.block, 0);
        let cut = self.b.ins().icmp_imm(IntCC::SignedLessThan, left, 0);
        self.b.ins().brif(cut, end, &[], inside, &[]);
        self.enter(inside);
        frame.breaks.push(end);
        frame.continues.push(next);
        if self.statements(frame, body)? {
            self.b.ins().jump(next, &[]);
        }
        frame.continues.pop();
        self.enter(next);
        if self.statements(frame, continuing)? {
            match break_if {
                Some(condition) => {
                    let condition = self.expression(frame, condition)?.scalar()?;
                    self.b.ins().brif(condition, end, &[], head, &[]);
                }
                None => {
                    self.b.ins().jump(head, &[]);
                }
            }
        }
        frame.breaks.pop();
        self.b.seal_block(head);
        self.enter(end);
        Ok(())
    }

    fn call(
        &mut self,
        frame: &mut Frame<'m>,
        callee: Handle<Function>,
        arguments: &[Handle<E>],
        result: Option<Handle<E>>,
    ) -> Translated<()> {
        let arguments =
            arguments.iter().map(|a| self.expression(frame, *a)).collect::<Translated<Vec<_>>>()?;
        let value = match self.shared.plan.inlined[callee.index()] {
            true => self.inline(callee, arguments)?,
            false => self.outside(callee, &arguments)?,
        };
        if let Some(result) = result {
            frame.values[result.index()] = value;
        }
        Ok(())
    }

    /// A call of a function of its own.
    fn outside(&mut self, callee: Handle<Function>, arguments: &[Val]) -> Translated<Option<Val>> {
        let id = self.declare(callee)?;
        let mut words = vec![self.block];
        for argument in arguments {
            match argument {
                Val::Scalars(values) => words.extend(values),
                Val::Large(place) | Val::Pointer(place) => words.push(self.address(place)?),
            }
        }
        let returned = self.shared.source.module.functions[callee].result.as_ref();
        let inner = returned.map(|returned| self.shared.types.inner(returned.ty));
        let large = match inner {
            Some(inner) if self.shared.types.is_large(inner) => Some(self.slot(inner)?),
            _ => None,
        };
        if let Some(place) = &large {
            words.push(self.address(place)?);
        }
        let callee = self.shared.jit.declare_func_in_func(id, self.b.func);
        let call = self.b.ins().call(callee, &words);
        let results = self.b.inst_results(call).to_vec();
        Ok(inner.map(|_| large.map_or(Val::Scalars(results), Val::Large)))
    }

    fn declare(&mut self, handle: Handle<Function>) -> Translated<FuncId> {
        if let Some(id) = self.shared.declared.get(&handle) {
            return Ok(*id);
        }
        let signature = self.shared.signature(handle)?;
        let name = format!("f{}", handle.index());
        let id = self.shared.jit.declare_function(&name, Linkage::Local, &signature).map_err(failed)?;
        self.shared.declared.insert(handle, id);
        self.shared.waiting.push(handle);
        Ok(id)
    }
}

impl Shared<'_> {
    /// The signature of a function that machine code calls.
    pub(super) fn signature(&self, handle: Handle<Function>) -> Translated<Signature> {
        let function = &self.source.module.functions[handle];
        let mut signature = Signature::new(CallConv::Tail);
        let address = AbiParam::new(types::I64);
        signature.params.push(address);
        for argument in &function.arguments {
            match self.registers(argument.ty)? {
                Some(registers) => signature.params.extend(registers),
                None => signature.params.push(address),
            }
        }
        if let Some(result) = &function.result {
            match self.registers(result.ty)? {
                Some(registers) => signature.returns.extend(registers),
                None => signature.params.push(address),
            }
        }
        Ok(signature)
    }

    /// `None`: passed by address.
    fn registers(&self, ty: Handle<naga::Type>) -> Translated<Option<Vec<AbiParam>>> {
        let inner = self.types.inner(ty);
        if matches!(inner, T::Pointer { .. } | T::ValuePointer { .. }) || self.types.is_large(inner) {
            return Ok(None);
        }
        let leaves = self.types.leaves(inner)?;
        leaves
            .into_iter()
            .map(|leaf| Ok(AbiParam::new(register(leaf.scalar)?)))
            .collect::<Translated<_>>()
            .map(Some)
    }
}
