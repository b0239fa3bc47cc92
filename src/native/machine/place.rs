//! Places in memory and in SSA variables: loads, stores, elements, atomics.

use std::borrow::Cow;

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, MemFlags, Value, types};
use naga::{
    ArraySize, AtomicFunction as A, BinaryOperator as B, Expression as E, Handle, MathFunction as M,
    TypeInner as T,
};

use super::refusal::{Translated, refused};
use super::types::{Leaf, column_stride, register, scalar};
use super::value::{At, Frame, Place, Translator, Val, zero};

impl<'m> Translator<'_, 'm> {
    pub(super) fn pointer(
        &mut self,
        frame: &mut Frame<'m>,
        pointer: Handle<E>,
    ) -> Translated<(Place, Cow<'m, T>)> {
        let inner = self.shared.types.pointee(self.ty(frame, pointer))?;
        match self.expression(frame, pointer)? {
            Val::Pointer(place) => Ok((place, inner)),
            _ => refused("a pointer of this kind"),
        }
    }

    pub(super) fn address(&mut self, place: &Place) -> Translated<Value> {
        match place.at {
            At::Memory { base, offset: 0, .. } => Ok(base),
            At::Memory { base, offset, .. } => Ok(self.b.ins().iadd_imm(base, i64::from(offset))),
            At::Variables { .. } => refused("the address of this variable"),
        }
    }

    pub(super) fn load(&mut self, place: &Place, inner: &T) -> Translated<Val> {
        if self.shared.types.is_large(inner) {
            let (from, copy) = (self.address(place)?, self.slot(inner)?);
            let to = self.address(&copy)?;
            self.copy(from, to, inner);
            return Ok(Val::Large(copy));
        }
        let leaves = self.shared.types.leaves(inner)?;
        match &place.at {
            At::Memory { base, offset, read_only } => {
                self.load_leaves(*base, *offset, place.access(*read_only), &leaves).map(Val::Scalars)
            }
            At::Variables { variables, first } => {
                let variables = &variables[*first..*first + leaves.len()];
                Ok(Val::Scalars(variables.iter().map(|variable| self.b.use_var(*variable)).collect()))
            }
        }
    }

    fn load_leaves(
        &mut self,
        base: Value,
        offset: i32,
        flags: MemFlags,
        leaves: &[Leaf],
    ) -> Translated<Vec<Value>> {
        let mut values = Vec::with_capacity(leaves.len());
        while let Some(leaf) = leaves.get(values.len()) {
            let at = offset + leaf.offset as i32;
            if leaf.pair {
                let pair = self.b.ins().load(types::I64, flags, base, at);
                values.extend(self.split(pair));
            } else {
                values.push(self.b.ins().load(register(leaf.scalar)?, flags, base, at));
            }
        }
        Ok(values)
    }

    pub(super) fn store(&mut self, place: &Place, inner: &T, value: &Val) -> Translated<()> {
        let values = match value {
            Val::Scalars(values) => values,
            Val::Large(from) => {
                let (from, to) = (self.address(from)?, self.address(place)?);
                self.copy(from, to, inner);
                return Ok(());
            }
            Val::Pointer(_) => return refused("a pointer as a value"),
        };
        match &place.at {
            At::Memory { base, offset, .. } => {
                let (leaves, mut i) = (self.shared.types.leaves(inner)?, 0);
                while let Some(leaf) = leaves.get(i) {
                    let at = *offset + leaf.offset as i32;
                    let value = if leaf.pair { self.join(values[i], values[i + 1]) } else { values[i] };
                    self.b.ins().store(place.access(false), value, *base, at);
                    i += if leaf.pair { 2 } else { 1 };
                }
            }
            At::Variables { variables, first } => {
                for (variable, value) in variables[*first..].iter().zip(values) {
                    self.b.def_var(*variable, *value);
                }
            }
        }
        Ok(())
    }

    /// Stores zeros.
    pub(super) fn zero(&mut self, place: &Place, inner: &T) -> Translated<()> {
        if self.shared.types.is_large(inner) {
            let to = self.address(place)?;
            self.clear(to, self.shared.types.bytes(inner));
            return Ok(());
        }
        let values = self.zeros(inner)?;
        self.store(place, inner, &Val::Scalars(values))
    }

    pub(super) fn zeros(&mut self, inner: &T) -> Translated<Vec<Value>> {
        let leaves = self.shared.types.leaves(inner)?;
        leaves.into_iter().map(|leaf| Ok(zero(&mut self.b, register(leaf.scalar)?))).collect()
    }

    /// The halves of a number.
    pub(super) fn split(&mut self, pair: Value) -> [Value; 2] {
        let low = self.b.ins().ireduce(types::I32, pair);
        let high = self.b.ins().ushr_imm(pair, 32);
        let high = self.b.ins().ireduce(types::I32, high);
        self.pairs.insert((low, high), pair);
        [low, high]
    }

    /// A number of two halves.
    pub(super) fn join(&mut self, low: Value, high: Value) -> Value {
        if let Some(pair) = self.pairs.get(&(low, high)) {
            return *pair;
        }
        if let Some(whole) = self.halved(low, high) {
            return whole;
        }
        let low = self.b.ins().uextend(types::I64, low);
        let high = self.b.ins().uextend(types::I64, high);
        let high = self.b.ins().ishl_imm(high, 32);
        self.b.ins().bor(low, high)
    }

    /// The member, element, column or component of a constant number.
    pub(super) fn member(&mut self, place: &Place, inner: &Cow<'m, T>, index: u32) -> Translated<Place> {
        if let (T::Array { size: ArraySize::Dynamic, .. }, 1..) = (&**inner, index) {
            let index = self.b.ins().iconst(types::I32, i64::from(index));
            return self.element(place, inner, index);
        }
        let part = self.shared.types.part(inner, index)?;
        let mut place = place.clone();
        match &mut place.at {
            At::Memory { offset, .. } => *offset = moved(*offset, part.offset.into())?,
            At::Variables { first, .. } => *first += part.first,
        }
        Ok(place)
    }

    /// An element in memory; an index beyond the end means the last one.
    pub(super) fn element(&mut self, place: &Place, inner: &T, index: Value) -> Translated<Place> {
        let At::Memory { base, offset, read_only } = place.at else {
            return refused("a computed index into this variable");
        };
        let (stride, count) = match inner {
            T::Vector { size, scalar } => (u32::from(scalar.width), Some(*size as u32)),
            T::Matrix { columns, rows, scalar } => (column_stride(*rows, *scalar), Some(*columns as u32)),
            T::Array { size: ArraySize::Constant(size), stride, .. } => (*stride, Some(size.get())),
            T::Array { size: ArraySize::Dynamic, stride, .. } => (*stride, None),
            _ => return refused("an index into this type"),
        };
        if let (Some(count), Some(known)) = (count, self.constant_word(index)) {
            let bytes = u64::from((known as u32).min(count - 1)) * u64::from(stride);
            let offset = moved(offset, bytes)?;
            return Ok(Place { at: At::Memory { base, offset, read_only }, buffer: place.buffer });
        }
        let last = match (count, place.buffer) {
            (Some(count), _) => self.b.ins().iconst(types::I32, i64::from(count - 1)),
            (None, Some(words)) => self.b.ins().load(types::I32, Place::flags(true), self.block, words + 20),
            (None, None) => return refused("an array without a size outside a buffer"),
        };
        let index = match self.b.func.dfg.value_type(index) {
            types::I32 => index,
            _ => return refused("an index of this type"),
        };
        let index = self.b.ins().umin(index, last);
        let index = self.b.ins().uextend(types::I64, index);
        let bytes = self.b.ins().imul_imm(index, i64::from(stride));
        let base = self.b.ins().iadd(base, bytes);
        Ok(Place { at: At::Memory { base, offset, read_only }, buffer: place.buffer })
    }

    /// An element of a value.
    pub(super) fn pick(&mut self, value: Val, inner: &Cow<'m, T>, index: Value) -> Translated<Val> {
        let element = self.shared.types.part(inner, 0)?.inner;
        let place = match value {
            Val::Large(place) => place,
            Val::Pointer(_) => return refused("a pointer as a value"),
            Val::Scalars(values) => {
                let each = self.shared.types.leaves(&element)?.len().max(1);
                if values.len() <= 4 * each {
                    return Ok(Val::Scalars(self.choose(&values, each, index)));
                }
                let place = self.slot(inner)?;
                self.store(&place, inner, &Val::Scalars(values))?;
                place
            }
        };
        let place = self.element(&place, inner, index)?;
        self.load(&place, &element)
    }

    fn choose(&mut self, values: &[Value], each: usize, index: Value) -> Vec<Value> {
        let count = values.len() / each;
        let mut chosen = values[(count - 1) * each..].to_vec();
        for i in (0..count - 1).rev() {
            let is = self.b.ins().icmp_imm(IntCC::Equal, index, i as i64);
            for (chosen, value) in chosen.iter_mut().zip(&values[i * each..]) {
                *chosen = self.b.ins().select(is, *value, *chosen);
            }
        }
        chosen
    }

    /// The number of elements of a buffer's runtime-sized array.
    pub(super) fn array_length(&mut self, frame: &mut Frame<'m>, array: Handle<E>) -> Translated<Value> {
        let (place, inner) = self.pointer(frame, array)?;
        match (place.buffer, &*inner) {
            (Some(words), T::Array { size: ArraySize::Dynamic, .. }) => {
                Ok(self.b.ins().load(types::I32, Place::flags(true), self.block, words + 16))
            }
            _ => refused("the length of this array"),
        }
    }

    pub(super) fn atomic(
        &mut self,
        frame: &mut Frame<'m>,
        pointer: Handle<E>,
        fun: &A,
        value: Handle<E>,
        result: Option<Handle<E>>,
    ) -> Translated<()> {
        let of = scalar(self.ty(frame, value))?;
        let value = self.expression(frame, value)?.scalar()?;
        let (place, inner) = self.pointer(frame, pointer)?;
        let old = self.load(&place, &inner)?.scalar()?;
        let mut results = vec![old];
        let new = match fun {
            A::Add => self.binary(B::Add, of, old, value)?,
            A::Subtract => self.binary(B::Subtract, of, old, value)?,
            A::And => self.binary(B::And, of, old, value)?,
            A::ExclusiveOr => self.binary(B::ExclusiveOr, of, old, value)?,
            A::InclusiveOr => self.binary(B::InclusiveOr, of, old, value)?,
            A::Min => self.function(M::Min, of, &[old, value])?,
            A::Max => self.function(M::Max, of, &[old, value])?,
            A::Exchange { compare: None } => value,
            A::Exchange { compare: Some(compare) } => {
                let compare = self.expression(frame, *compare)?.scalar()?;
                let equal = self.binary(B::Equal, of, old, compare)?;
                results.push(equal);
                self.b.ins().select(equal, value, old)
            }
        };
        self.store(&place, &inner, &Val::Scalars(vec![new]))?;
        if let Some(result) = result {
            frame.values[result.index()] = Some(Val::Scalars(results));
        }
        Ok(())
    }
}

/// An offset of bytes behind another one.
fn moved(offset: i32, bytes: u64) -> Translated<i32> {
    match i32::try_from(bytes).ok().and_then(|bytes| offset.checked_add(bytes)) {
        Some(moved) => Ok(moved),
        None => refused("an index of this size"),
    }
}
