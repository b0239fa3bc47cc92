//! Expressions.

use std::borrow::Cow;

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{InstBuilder, Value, types};
use naga::{
    AddressSpace, Arena, ArraySize, BinaryOperator as B, Expression as E, GlobalVariable, Handle, Literal,
    RelationalFunction, Scalar, ScalarKind as K, StorageAccess, Type, TypeInner as T, UnaryOperator as U,
};

use super::super::interpret::constant;
use super::refusal::{Translated, refused};
use super::types::{register, scalar};
use super::value::{At, BITS, Frame, Place, Translator, Val, zero};

/// The longest constant.
const CONSTANT_BYTES: usize = 16 << 20;

impl<'m> Translator<'_, 'm> {
    pub(super) fn ty(&self, frame: &Frame<'m>, handle: Handle<E>) -> &'m T {
        frame.info[handle].ty.inner_with(&self.shared.types.module.types)
    }

    /// The value of an expression, which was computed before unless it needs no statement.
    pub(super) fn expression(&mut self, frame: &mut Frame<'m>, handle: Handle<E>) -> Translated<Val> {
        match &frame.values[handle.index()] {
            Some(value) => Ok(value.clone()),
            None => self.compute(frame, handle),
        }
    }

    pub(super) fn compute(&mut self, frame: &mut Frame<'m>, handle: Handle<E>) -> Translated<Val> {
        let function = frame.function;
        let scalars = match function.expressions[handle] {
            E::Literal(literal) => vec![self.literal(literal)?],
            E::Constant(_) | E::Override(_) | E::ZeroValue(_) => {
                let inner = Cow::Borrowed(self.ty(frame, handle));
                return self.constant(&function.expressions, handle, &inner);
            }
            E::Compose { ty, ref components } => return self.compose(frame, ty, components),
            E::Splat { size, value } => {
                let value = self.expression(frame, value)?.scalar()?;
                vec![value; size as usize]
            }
            E::Swizzle { size, vector, pattern } => {
                let vector = self.expression(frame, vector)?.scalars()?;
                pattern[..size as usize].iter().map(|component| vector[*component as usize]).collect()
            }
            E::FunctionArgument(i) => return Ok(frame.arguments[i as usize].clone()),
            E::LocalVariable(local) => return Ok(Val::Pointer(frame.locals[local.index()].clone())),
            E::GlobalVariable(global) => return self.global(global).map(Val::Pointer),
            E::Load { pointer } => {
                let (place, inner) = self.pointer(frame, pointer)?;
                return self.load(&place, &inner);
            }
            E::AccessIndex { base, index } => return self.access_index(frame, base, index),
            E::Access { base, index } => return self.access(frame, base, index),
            E::ArrayLength(array) => vec![self.array_length(frame, array)?],
            E::Unary { op, expr } => {
                let of = scalar(self.ty(frame, expr))?;
                let values = self.expression(frame, expr)?.scalars()?;
                values.into_iter().map(|value| self.unary(op, of, value)).collect()
            }
            E::Binary { op, left, right } => self.operation(frame, op, left, right)?,
            E::Select { condition, accept, reject } => {
                let [condition, accept, reject] =
                    [condition, accept, reject].map(|value| self.expression(frame, value));
                self.select(&condition?.scalars()?, &accept?.scalars()?, &reject?.scalars()?)
            }
            E::Relational { fun, argument } => {
                let values = self.expression(frame, argument)?.scalars()?;
                vec![self.relational(fun, &values)?]
            }
            E::Math { fun, arg, arg1, arg2, arg3 } => {
                let arguments: Vec<_> = [Some(arg), arg1, arg2, arg3].into_iter().flatten().collect();
                self.math(frame, fun, handle, &arguments)?
            }
            E::As { expr, kind, convert } => {
                let from = scalar(self.ty(frame, expr))?;
                let values = self.expression(frame, expr)?.scalars()?;
                let to = Scalar { kind, width: convert.unwrap_or(from.width) };
                let convert = convert.is_some();
                values
                    .into_iter()
                    .map(|value| self.cast(value, from, to, convert))
                    .collect::<Translated<_>>()?
            }
            E::Derivative { .. } => return refused("a derivative"),
            E::ImageSample { .. } | E::ImageLoad { .. } | E::ImageQuery { .. } => {
                return refused("a texture");
            }
            _ => return refused("an expression of this kind"),
        };
        Ok(Val::Scalars(scalars))
    }

    /// What a condition is that is constant.
    pub(super) fn known(&self, frame: &Frame<'m>, condition: Handle<E>) -> Option<bool> {
        let mut byte = [0];
        let function = frame.function;
        match function.expressions[condition] {
            E::Literal(_) | E::Constant(_) | E::Override(_) => {
                constant::write(self.shared.types.module, &function.expressions, condition, &mut byte)?;
                Some(byte[0] != 0)
            }
            _ => None,
        }
    }

    fn literal(&mut self, literal: Literal) -> Translated<Value> {
        let b = self.b.ins();
        Ok(match literal {
            Literal::U32(x) => b.iconst(types::I32, i64::from(x)),
            Literal::I32(x) => b.iconst(types::I32, i64::from(x.cast_unsigned())),
            Literal::U64(x) => b.iconst(types::I64, x.cast_signed()),
            Literal::I64(x) => b.iconst(types::I64, x),
            Literal::F32(x) => b.f32const(x),
            Literal::F64(x) => b.f64const(x),
            Literal::Bool(x) => b.iconst(types::I8, i64::from(x)),
            _ => return refused("a number of this type"),
        })
    }

    /// A constant: scalars, or memory where there are many.
    fn constant(&mut self, arena: &Arena<E>, handle: Handle<E>, inner: &Cow<'m, T>) -> Translated<Val> {
        let Some(bytes) = self.constant_bytes(arena, handle, inner) else {
            return refused("a constant of this size, or one that is computed from overrides");
        };
        if self.shared.types.is_large(inner) {
            return Ok(Val::Large(self.data(&bytes)));
        }
        let leaves = self.shared.types.leaves(inner)?;
        let values = leaves.into_iter().map(|leaf| {
            let at = leaf.offset as usize;
            let four = |at: usize| u32::from_ne_bytes([0, 1, 2, 3].map(|i| bytes[at + i]));
            let eight = |at: usize| u64::from_ne_bytes([0, 1, 2, 3, 4, 5, 6, 7].map(|i| bytes[at + i]));
            let ty = register(leaf.scalar)?;
            Ok(match ty {
                types::F32 => self.b.ins().f32const(f32::from_bits(four(at))),
                types::F64 => self.b.ins().f64const(f64::from_bits(eight(at))),
                types::I64 => self.b.ins().iconst(ty, eight(at).cast_signed()),
                types::I8 => self.b.ins().iconst(ty, i64::from(bytes[at])),
                _ => self.b.ins().iconst(ty, i64::from(four(at))),
            })
        });
        values.collect::<Translated<_>>().map(Val::Scalars)
    }

    fn constant_bytes(&self, arena: &Arena<E>, handle: Handle<E>, inner: &T) -> Option<Vec<u8>> {
        let count = self.shared.types.bytes(inner) as usize;
        if count > CONSTANT_BYTES {
            return None;
        }
        let mut bytes = vec![0; count];
        constant::write(self.shared.types.module, arena, handle, &mut bytes)?;
        Some(bytes)
    }

    /// Memory that holds a constant while the code lives.
    fn data(&mut self, bytes: &[u8]) -> Place {
        let words = bytes.chunks(8).map(|chunk| {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            u64::from_ne_bytes(word)
        });
        let base = self.constant_words(words.collect());
        Place { at: At::Memory { base, offset: 0, read_only: true }, buffer: None }
    }

    /// The address of words that stay while the code lives.
    pub(super) fn constant_words(&mut self, words: Box<[u64]>) -> Value {
        // (The words of a box stay where they are when the box moves.)
        let address = words.as_ptr().expose_provenance() as u64;
        let address = *self.shared.constants.entry(words).or_insert(address);
        self.word(address)
    }

    fn compose(
        &mut self,
        frame: &mut Frame<'m>,
        ty: Handle<Type>,
        components: &[Handle<E>],
    ) -> Translated<Val> {
        let inner = self.shared.types.inner(ty);
        if self.shared.types.is_large(inner) {
            let (whole, place) = (Cow::Borrowed(inner), self.slot(inner)?);
            for (component, i) in components.iter().zip(0..) {
                let value = self.expression(frame, *component)?;
                let (part, to) = (self.shared.types.part(&whole, i)?.inner, self.member(&place, &whole, i)?);
                self.store(&to, &part, &value)?;
            }
            return Ok(Val::Large(place));
        }
        let mut values = Vec::new();
        for component in components {
            values.extend(self.expression(frame, *component)?.scalars()?);
        }
        Ok(Val::Scalars(values))
    }

    fn global(&mut self, handle: Handle<GlobalVariable>) -> Translated<Place> {
        let variable = &self.shared.types.module.global_variables[handle];
        let Some(at) = self.shared.source.globals[handle.index()].and_then(|at| i32::try_from(at).ok())
        else {
            return refused("a variable of this address space");
        };
        let AddressSpace::Storage { access } = variable.space else {
            let read_only = variable.space == AddressSpace::Uniform;
            return Ok(Place { at: At::Memory { base: self.block, offset: at, read_only }, buffer: None });
        };
        let base = self.b.ins().load(types::I64, Place::flags(true), self.block, at);
        let read_only = !access.contains(StorageAccess::STORE);
        Ok(Place { at: At::Memory { base, offset: 0, read_only }, buffer: Some(at) })
    }

    fn access_index(&mut self, frame: &mut Frame<'m>, base: Handle<E>, index: u32) -> Translated<Val> {
        match self.expression(frame, base)? {
            Val::Pointer(place) => {
                let inner = self.shared.types.pointee(self.ty(frame, base))?;
                Ok(Val::Pointer(self.member(&place, &inner, index)?))
            }
            value => {
                let inner = Cow::Borrowed(self.ty(frame, base));
                let part = self.shared.types.part(&inner, index)?;
                match value {
                    Val::Scalars(values) => {
                        let count = self.shared.types.leaves(&part.inner)?.len();
                        Ok(Val::Scalars(values[part.first..part.first + count].to_vec()))
                    }
                    Val::Large(place) | Val::Pointer(place) => {
                        let place = self.member(&place, &inner, index)?;
                        self.part_of_large(place, &part.inner)
                    }
                }
            }
        }
    }

    /// A part of a value in memory, which nothing else writes to.
    fn part_of_large(&mut self, place: Place, inner: &T) -> Translated<Val> {
        match self.shared.types.is_large(inner) {
            true => Ok(Val::Large(place)),
            false => self.load(&place, inner),
        }
    }

    fn access(&mut self, frame: &mut Frame<'m>, base: Handle<E>, index: Handle<E>) -> Translated<Val> {
        let index = self.expression(frame, index)?.scalar()?;
        let inner = self.ty(frame, base);
        if let T::Array { size: ArraySize::Constant(_), .. } = inner {
            let arena = &frame.function.expressions;
            let bytes = match frame.values[base.index()] {
                Some(Val::Large(_)) => None,
                _ => self.constant_bytes(arena, base, inner),
            };
            if let Some(bytes) = bytes {
                let (place, inner) = (self.data(&bytes), Cow::Borrowed(inner));
                let place = self.element(&place, &inner, index)?;
                let element = self.shared.types.part(&inner, 0)?.inner;
                return self.part_of_large(place, &element);
            }
        }
        match self.expression(frame, base)? {
            Val::Pointer(place) => {
                let inner = self.shared.types.pointee(inner)?;
                Ok(Val::Pointer(self.element(&place, &inner, index)?))
            }
            value => self.pick(value, &Cow::Borrowed(inner), index),
        }
    }

    fn unary(&mut self, op: U, of: Scalar, value: Value) -> Value {
        match op {
            U::Negate if of.kind == K::Float => self.b.ins().fneg(value),
            U::Negate => self.b.ins().ineg(value),
            U::BitwiseNot if of.kind != K::Bool => self.b.ins().bnot(value),
            U::LogicalNot | U::BitwiseNot => self.b.ins().bxor_imm(value, 1),
        }
    }

    fn select(&mut self, condition: &[Value], accept: &[Value], reject: &[Value]) -> Vec<Value> {
        let one = |i: usize| condition.get(i).copied().unwrap_or(condition[0]);
        if let ([a, b], [c, d]) = (accept, reject)
            && one(0) == one(1)
            && self.pairs.contains_key(&(*a, *b))
            && self.pairs.contains_key(&(*c, *d))
        {
            let (accept, reject) = (self.join(*a, *b), self.join(*c, *d));
            let pair = self.b.ins().select(one(0), accept, reject);
            return self.split(pair).to_vec();
        }
        let values = accept.iter().zip(reject).enumerate();
        values.map(|(i, (accept, reject))| self.b.ins().select(one(i), *accept, *reject)).collect()
    }

    fn relational(&mut self, fun: RelationalFunction, values: &[Value]) -> Translated<Value> {
        let all = match fun {
            RelationalFunction::All => true,
            RelationalFunction::Any => false,
            RelationalFunction::IsNan | RelationalFunction::IsInf => {
                return refused(format!("the function {fun:?}"));
            }
        };
        let combine = |t: &mut Self, a, b| if all { t.b.ins().band(a, b) } else { t.b.ins().bor(a, b) };
        Ok(values[1..].iter().fold(values[0], |a, b| combine(self, a, *b)))
    }

    fn operation(
        &mut self,
        frame: &mut Frame<'m>,
        op: B,
        left: Handle<E>,
        right: Handle<E>,
    ) -> Translated<Vec<Value>> {
        let (a, b) = (self.ty(frame, left), self.ty(frame, right));
        let of = scalar(a)?;
        let l = self.expression(frame, left)?.scalars()?;
        let r = self.expression(frame, right)?.scalars()?;
        if op == B::Multiply
            && let Some(product) = self.matrix_product(a, b, of, &l, &r)?
        {
            return Ok(product);
        }
        if let (B::InclusiveOr, Scalar::U64, [low], [high]) = (op, of, &l[..], &r[..])
            && let Some(pair) = self.joined(*low, *high)
        {
            return Ok(vec![pair]);
        }
        let count = l.len().max(r.len());
        let one = |values: &[Value], i: usize| values.get(i).copied().unwrap_or(values[0]);
        (0..count).map(|i| self.binary(op, of, one(&l, i), one(&r, i))).collect()
    }

    /// Products with matrices; `None`: component by component.
    fn matrix_product(
        &mut self,
        a: &T,
        b: &T,
        of: Scalar,
        l: &[Value],
        r: &[Value],
    ) -> Translated<Option<Vec<Value>>> {
        // (Columns lie one after another.)
        let (height, inner, width) = match (a, b) {
            (T::Matrix { rows, columns, .. }, T::Vector { .. }) => (*rows as usize, *columns as usize, 1),
            (T::Matrix { rows, columns, .. }, T::Matrix { columns: width, .. }) => {
                (*rows as usize, *columns as usize, *width as usize)
            }
            (T::Vector { .. }, T::Matrix { columns, rows, .. }) => (1, *rows as usize, *columns as usize),
            _ => return Ok(None),
        };
        let mut product = Vec::new();
        for column in 0..width {
            for row in 0..height {
                let pairs = (0..inner).map(|i| (l[i * height + row], r[column * inner + i]));
                product.push(self.dot(of, &pairs.collect::<Vec<_>>())?);
            }
        }
        Ok(Some(product))
    }

    /// Products, added up from the first on.
    pub(super) fn dot(&mut self, of: Scalar, pairs: &[(Value, Value)]) -> Translated<Value> {
        let mut sum = None;
        for (a, b) in pairs {
            let product = self.binary(B::Multiply, of, *a, *b)?;
            sum = Some(match sum {
                Some(sum) => self.binary(B::Add, of, sum, product)?,
                None => product,
            });
        }
        Ok(sum.unwrap_or_else(|| zero(&mut self.b, types::I32)))
    }

    fn cast(&mut self, value: Value, from: Scalar, to: Scalar, convert: bool) -> Translated<Value> {
        let ty = register(to)?;
        if self.b.func.dfg.value_type(value) == ty && (!convert || from.kind == to.kind) {
            return Ok(value);
        }
        if !convert {
            return Ok(self.b.ins().bitcast(ty, BITS, value));
        }
        if to.kind == K::Bool && from.kind == K::Float {
            let zero = zero(&mut self.b, register(from)?);
            return Ok(self.b.ins().fcmp(FloatCC::NotEqual, value, zero));
        }
        let b = self.b.ins();
        Ok(match (from.kind, to.kind) {
            (_, K::Bool) => b.icmp_imm(IntCC::NotEqual, value, 0),
            (K::Float, K::Float) if from.width < to.width => b.fpromote(ty, value),
            (K::Float, K::Float) => b.fdemote(ty, value),
            (K::Float, K::Sint) => b.fcvt_to_sint_sat(ty, value),
            (K::Float, _) => b.fcvt_to_uint_sat(ty, value),
            (K::Sint, K::Float) => b.fcvt_from_sint(ty, value),
            (K::Bool, K::Float) => {
                let word = b.uextend(types::I32, value);
                self.b.ins().fcvt_from_uint(ty, word)
            }
            (_, K::Float) => b.fcvt_from_uint(ty, value),
            (K::Bool, _) => b.uextend(ty, value),
            _ if from.width == to.width => value,
            _ if from.width > to.width => b.ireduce(ty, value),
            (K::Sint, _) => b.sextend(ty, value),
            _ => b.uextend(ty, value),
        })
    }
}
