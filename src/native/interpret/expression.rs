//! Expressions as operations.

use naga::{
    ArraySize, BinaryOperator as B, Expression as E, Handle, RelationalFunction, Scalar, ScalarKind as K,
    SwizzleComponent, Type, TypeInner as T, VectorSize,
};

use super::compile::{Compiled, Compiler, Value, refused};
use super::constant;
use super::op::{Base, Lanes, Length, Op, Out, Pointer, Slot};
use super::scalar;
use crate::native::source::column_stride;

impl<'a> Compiler<'a> {
    pub(super) fn ty(&self, handle: Handle<E>) -> &'a T {
        self.info[handle].ty.inner_with(&self.source.module.types)
    }

    /// Bytes of the value of an expression.
    pub(super) fn value_bytes(&self, handle: Handle<E>) -> u32 {
        self.ty(handle).size(self.source.module.to_ctx())
    }

    /// The type of the components of an expression.
    pub(super) fn scalar(&self, handle: Handle<E>) -> Compiled<Scalar> {
        match self.ty(handle).scalar() {
            Some(scalar) => Ok(scalar),
            None => refused("an operation on a value without components"),
        }
    }

    /// The number of components of a scalar or a vector.
    pub(super) fn count(&self, handle: Handle<E>) -> u32 {
        match self.ty(handle) {
            T::Vector { size, .. } => *size as u32,
            _ => 1,
        }
    }

    /// The components of a scalar or a vector; a scalar serves every component of the result.
    pub(super) fn operand(&mut self, handle: Handle<E>) -> Compiled<Lanes> {
        let width = self.scalar(handle)?.width;
        let step = if matches!(self.ty(handle), T::Vector { .. }) { u32::from(width) } else { 0 };
        Ok(Lanes { slot: self.slot(handle)?, width, step })
    }

    pub(super) fn slot(&mut self, handle: Handle<E>) -> Compiled<Slot> {
        match self.value(handle)? {
            Value::Slot(slot) => Ok(slot),
            Value::Pointer(_) => refused("a pointer as a value"),
        }
    }

    pub(super) fn pointer(&mut self, handle: Handle<E>) -> Compiled<Pointer> {
        match self.value(handle)? {
            Value::Pointer(pointer) => Ok(pointer),
            Value::Slot(_) => refused("a value as a pointer"),
        }
    }

    fn value(&mut self, handle: Handle<E>) -> Compiled<Value> {
        if let Some(value) = self.values[handle.index()] {
            return Ok(value);
        }
        // What needs no emission: constants and variables.
        let value = match self.function.expressions[handle] {
            E::GlobalVariable(variable) => Value::Pointer(self.global(variable)?),
            E::LocalVariable(variable) => Value::Pointer(Pointer {
                base: Base::Slot { constant: false },
                offset: self.locals[variable.index()],
            }),
            _ => self.constant(handle)?,
        };
        self.values[handle.index()] = Some(value);
        Ok(value)
    }

    fn constant(&mut self, handle: Handle<E>) -> Compiled<Value> {
        let mut bytes = vec![0; self.value_bytes(handle) as usize];
        let (module, expressions) = (self.source.module, &self.function.expressions);
        if constant::write(module, expressions, handle, &mut bytes).is_none() {
            return refused(format!("the constant {:?}", expressions[handle]));
        }
        let at = self.constants.len().next_multiple_of(8);
        self.constants.resize(at, 0);
        self.constants.extend(bytes);
        match u32::try_from(self.constants.len()) {
            Ok(_) => Ok(Value::Slot(Slot { constant: true, at: at as u32 })),
            Err(_) => refused("constants of 4 GiB"),
        }
    }

    /// What an expression yields where it is emitted.
    pub(super) fn expression(&mut self, handle: Handle<E>) -> Compiled<Value> {
        let function = self.function;
        let at = match &function.expressions[handle] {
            E::Access { base, index } => return self.access(*base, *index),
            E::AccessIndex { base, index } => return self.member(*base, *index),
            E::As { expr, kind, convert } => return self.cast(handle, *expr, *kind, *convert),
            E::Compose { ty, components } => self.compose(*ty, components)?,
            E::Splat { size, value } => {
                let (from, bytes) = (self.slot(*value)?, self.value_bytes(*value));
                self.gather((0..*size as u32).map(|_| from), bytes)?
            }
            E::Swizzle { size, vector, pattern } => self.swizzle(*size, *vector, pattern)?,
            E::Load { pointer } => {
                let bytes = self.value_bytes(handle);
                let (from, at) = (self.pointer(*pointer)?, self.alloc(bytes)?);
                self.ops.push(Op::Load { from, at, bytes });
                at
            }
            E::Unary { op, expr } => {
                let of = self.scalar(*expr)?;
                let f = scalar::unary(*op, of);
                self.columns(*expr, |compiler, a, count| {
                    let out = compiler.out(count, of.width)?;
                    compiler.map1(f, count, a, out)
                })?
            }
            E::Binary { op, left, right } => self.binary(*op, *left, *right)?,
            E::Select { condition, accept, reject } => self.select(*condition, *accept, *reject)?,
            E::Relational { fun, argument } => self.relational(*fun, *argument)?,
            E::Math { fun, arg, arg1, arg2, arg3 } => {
                let arguments: Vec<_> = [Some(*arg), *arg1, *arg2, *arg3].into_iter().flatten().collect();
                self.math(*fun, handle, &arguments)?
            }
            E::ArrayLength(array) => self.array_length(*array)?,
            E::Derivative { .. } => return refused("a derivative"),
            E::ImageSample { .. } | E::ImageLoad { .. } | E::ImageQuery { .. } => {
                return refused("a texture");
            }
            _ => return self.value(handle),
        };
        Ok(Value::Slot(Slot { constant: false, at }))
    }

    /// Copies parts of equal size to one value.
    pub(super) fn gather(&mut self, parts: impl ExactSizeIterator<Item = Slot>, bytes: u32) -> Compiled<u32> {
        let start = self.alloc(bytes * parts.len() as u32)?;
        self.ops.extend((0..).zip(parts).map(|(i, from)| Op::Copy { from, at: start + i * bytes, bytes }));
        Ok(start)
    }

    fn compose(&mut self, ty: Handle<Type>, components: &[Handle<E>]) -> Compiled<u32> {
        let start = self.alloc(self.source.bytes(ty))?;
        let (inner, mut end) = (self.source.inner(ty), 0);
        for (i, component) in components.iter().enumerate() {
            let bytes = self.value_bytes(*component);
            let offset = match inner {
                // Components may be vectors.
                T::Vector { .. } => end,
                inner => self.child(inner, i as u32)?,
            };
            end = offset + bytes;
            let from = self.slot(*component)?;
            self.ops.push(Op::Copy { from, at: start + offset, bytes });
        }
        Ok(start)
    }

    fn swizzle(
        &mut self,
        size: VectorSize,
        vector: Handle<E>,
        pattern: &[SwizzleComponent],
    ) -> Compiled<u32> {
        let (from, width) = (self.slot(vector)?, u32::from(self.scalar(vector)?.width));
        let parts = pattern[..size as usize].iter().map(|component| from.plus(*component as u32 * width));
        self.gather(parts, width)
    }

    /// The distance of the elements of what can be indexed.
    fn stride(&self, inner: &T) -> Compiled<u32> {
        match inner {
            T::Vector { scalar, .. } => Ok(scalar.width.into()),
            T::Matrix { rows, scalar, .. } => Ok(column_stride(*rows, *scalar)),
            T::Array { stride, .. } => Ok(*stride),
            T::ValuePointer { size: Some(_), scalar, .. } => Ok(scalar.width.into()),
            T::Pointer { base, .. } => self.stride(self.source.inner(*base)),
            other => refused(format!("an index into {other:?}")),
        }
    }

    /// Where a member, element, column or component starts.
    fn child(&self, inner: &T, index: u32) -> Compiled<u32> {
        match inner {
            T::Struct { members, .. } => Ok(members[index as usize].offset),
            T::Pointer { base, .. } => self.child(self.source.inner(*base), index),
            inner => {
                let offset = u64::from(self.stride(inner)?) * u64::from(index);
                u32::try_from(offset).or_else(|_| refused(format!("the index {index}")))
            }
        }
    }

    fn member(&mut self, base: Handle<E>, index: u32) -> Compiled<Value> {
        let offset = self.child(self.ty(base), index)?;
        Ok(match self.value(base)? {
            Value::Slot(slot) => Value::Slot(slot.plus(offset)),
            Value::Pointer(pointer) => match pointer.offset.checked_add(offset) {
                Some(offset) => Value::Pointer(Pointer { offset, ..pointer }),
                None => return refused(format!("the index {index}")),
            },
        })
    }

    fn access(&mut self, base: Handle<E>, index: Handle<E>) -> Compiled<Value> {
        let inner = self.ty(base);
        let (index, stride) = (self.slot(index)?, self.stride(inner)?);
        let (pointer, is_value) = match self.value(base)? {
            Value::Pointer(pointer) => (pointer, false),
            Value::Slot(Slot { constant, at }) => {
                (Pointer { base: Base::Slot { constant }, offset: at }, true)
            }
        };
        let length = self.length(inner, pointer)?;
        let at = self.alloc(8)?;
        self.ops.push(Op::Index { base: pointer, index, stride, length, at });
        let element = Pointer { base: Base::Address(at), offset: 0 };
        if !is_value {
            return Ok(Value::Pointer(element));
        }
        let bytes = match inner {
            T::Matrix { rows, scalar, .. } => *rows as u32 * u32::from(scalar.width),
            T::Array { base, .. } => self.source.bytes(*base),
            _ => stride,
        };
        let at = self.alloc(bytes)?;
        self.ops.push(Op::Load { from: element, at, bytes });
        Ok(Value::Slot(Slot { constant: false, at }))
    }

    fn length(&self, inner: &T, pointer: Pointer) -> Compiled<Length> {
        match inner {
            T::Vector { size, .. } | T::ValuePointer { size: Some(size), .. } => {
                Ok(Length::Fixed(*size as u32))
            }
            T::Matrix { columns, .. } => Ok(Length::Fixed(*columns as u32)),
            T::Array { size: ArraySize::Constant(size), .. } => Ok(Length::Fixed(size.get())),
            T::Array { size: ArraySize::Dynamic, .. } => match pointer.base {
                Base::Buffer(buffer) => Ok(Length::Bound { buffer }),
                _ => refused("an array without a size outside a buffer"),
            },
            T::Pointer { base, .. } => self.length(self.source.inner(*base), pointer),
            other => refused(format!("the length of {other:?}")),
        }
    }

    fn array_length(&mut self, array: Handle<E>) -> Compiled<u32> {
        let (inner, pointer) = (self.ty(array), self.pointer(array)?);
        let (length, at) = (self.length(inner, pointer)?, self.alloc(4)?);
        self.ops.push(Op::Length { length, at });
        Ok(at)
    }

    pub(super) fn map1(
        &mut self,
        f: Option<super::component::Unary>,
        count: u32,
        a: Lanes,
        out: Out,
    ) -> Compiled<u32> {
        let Some(f) = f else { return refused("an operation that this type lacks") };
        self.ops.push(Op::Map1 { f, count, a, out });
        Ok(out.at)
    }

    /// An operation on two vectors or scalars, whose result has components of `width` bytes.
    pub(super) fn map2(
        &mut self,
        f: Option<super::component::Binary>,
        count: u32,
        a: Lanes,
        b: Lanes,
        width: u8,
    ) -> Compiled<u32> {
        let Some(f) = f else { return refused("an operation that this type lacks") };
        let out = self.out(count, width)?;
        self.ops.push(Op::Map2 { f, count, a, b, out });
        Ok(out.at)
    }

    /// Applies `f` to a scalar, a vector, or each column of a matrix.
    fn columns(
        &mut self,
        value: Handle<E>,
        mut f: impl FnMut(&mut Self, Lanes, u32) -> Compiled<u32>,
    ) -> Compiled<u32> {
        let lanes = self.operand(value)?;
        let T::Matrix { columns, rows, scalar } = *self.ty(value) else {
            return f(self, lanes, self.count(value));
        };
        let stride = column_stride(rows, scalar);
        let results = (0..columns as u32)
            .map(|i| f(self, Self::lanes(lanes.slot.plus(i * stride), scalar.width), rows as u32))
            .collect::<Compiled<Vec<_>>>()?;
        self.matrix(&results, rows, scalar)
    }

    /// A matrix of columns that lie in the frame.
    pub(super) fn matrix(&mut self, columns: &[u32], rows: VectorSize, of: Scalar) -> Compiled<u32> {
        let (stride, bytes) = (column_stride(rows, of), rows as u32 * u32::from(of.width));
        let start = self.alloc(stride * columns.len() as u32)?;
        self.ops.extend((0..).zip(columns).map(|(i, at)| Op::Copy {
            from: Slot { constant: false, at: *at },
            at: start + i * stride,
            bytes,
        }));
        Ok(start)
    }

    fn binary(&mut self, op: B, left: Handle<E>, right: Handle<E>) -> Compiled<u32> {
        let of = self.scalar(left)?;
        if matches!(self.ty(left), T::Matrix { .. }) || matches!(self.ty(right), T::Matrix { .. }) {
            return self.matrices(op, left, right);
        }
        let count = self.count(left).max(self.count(right));
        let (a, b) = (self.operand(left)?, self.operand(right)?);
        let width = match op {
            B::Equal | B::NotEqual | B::Less | B::LessEqual | B::Greater | B::GreaterEqual => 1,
            _ => of.width,
        };
        self.map2(scalar::binary(op, of), count, a, b, width)
    }

    fn matrices(&mut self, op: B, left: Handle<E>, right: Handle<E>) -> Compiled<u32> {
        let (a, b) = (self.operand(left)?, self.operand(right)?);
        match (op, self.ty(left), self.ty(right)) {
            (
                B::Multiply,
                &T::Matrix { rows, scalar, .. },
                T::Scalar(_) | T::Vector { .. } | T::Matrix { .. },
            ) if !matches!(self.ty(right), T::Scalar(_)) => {
                // Rows times columns: of a vector there is one.
                let stride = column_stride(rows, scalar);
                let row = |i: u32| Lanes {
                    step: stride,
                    ..Self::lanes(a.slot.plus(i * u32::from(scalar.width)), scalar.width)
                };
                let inner = self.matrix_columns(left);
                let Some((count, height)) = self.shape(right) else {
                    let parts = (0..rows as u32).map(|i| (row(i), b)).collect::<Vec<_>>();
                    return self.dots(inner, &parts, scalar);
                };
                let step = column_stride(height, scalar);
                let columns = (0..count)
                    .map(|j| {
                        let column = Self::lanes(b.slot.plus(j * step), scalar.width);
                        let parts = (0..rows as u32).map(|i| (row(i), column)).collect::<Vec<_>>();
                        self.dots(inner, &parts, scalar)
                    })
                    .collect::<Compiled<Vec<_>>>()?;
                self.matrix(&columns, rows, scalar)
            }
            (B::Multiply, T::Vector { .. }, &T::Matrix { columns, rows, scalar }) => {
                let step = column_stride(rows, scalar);
                let parts = (0..columns as u32)
                    .map(|j| (a, Self::lanes(b.slot.plus(j * step), scalar.width)))
                    .collect::<Vec<_>>();
                self.dots(rows as u32, &parts, scalar)
            }
            (B::Multiply, T::Scalar(of), _) => {
                let f = scalar::binary(op, *of);
                self.columns(right, |compiler, column, count| compiler.map2(f, count, a, column, of.width))
            }
            (B::Multiply, _, T::Scalar(of)) => {
                let f = scalar::binary(op, *of);
                self.columns(left, |compiler, column, count| compiler.map2(f, count, column, b, of.width))
            }
            (B::Add | B::Subtract, &T::Matrix { rows, scalar, .. }, _) => {
                let (f, step, mut next) = (scalar::binary(op, scalar), column_stride(rows, scalar), 0);
                self.columns(left, |compiler, column, count| {
                    let other = Self::lanes(b.slot.plus(next), scalar.width);
                    next += step;
                    compiler.map2(f, count, column, other, scalar.width)
                })
            }
            _ => refused(format!("the operator {op:?} of matrices")),
        }
    }

    fn matrix_columns(&self, value: Handle<E>) -> u32 {
        self.shape(value).map_or(1, |(columns, _)| columns)
    }

    /// Columns and rows of a matrix.
    fn shape(&self, value: Handle<E>) -> Option<(u32, VectorSize)> {
        match *self.ty(value) {
            T::Matrix { columns, rows, .. } => Some((columns as u32, rows)),
            _ => None,
        }
    }

    /// A vector of dot products of `count` components.
    pub(super) fn dots(&mut self, count: u32, parts: &[(Lanes, Lanes)], of: Scalar) -> Compiled<u32> {
        let (multiply, add) = (scalar::binary(B::Multiply, of), scalar::binary(B::Add, of));
        let (Some(multiply), Some(add)) = (multiply, add) else { return refused("a dot product") };
        let out = self.out(parts.len() as u32, of.width)?;
        let width = u32::from(of.width);
        self.ops.extend((0..).zip(parts).map(|(i, (a, b))| Op::Dot {
            multiply,
            add,
            count,
            a: *a,
            b: *b,
            out: Out { at: out.at + i * width, ..out },
        }));
        Ok(out.at)
    }

    fn select(&mut self, condition: Handle<E>, accept: Handle<E>, reject: Handle<E>) -> Compiled<u32> {
        let condition_lanes = self.operand(condition)?;
        let (whole, count) = (self.value_bytes(accept), self.count(condition));
        let (accept, reject, at) = (self.slot(accept)?, self.slot(reject)?, self.alloc(whole)?);
        let bytes = whole / count;
        self.ops.push(Op::Select { condition: condition_lanes, count, accept, reject, at, bytes });
        Ok(at)
    }

    fn relational(&mut self, fun: RelationalFunction, argument: Handle<E>) -> Compiled<u32> {
        let f = match fun {
            RelationalFunction::All => scalar::binary(B::And, Scalar::BOOL),
            RelationalFunction::Any => scalar::binary(B::InclusiveOr, Scalar::BOOL),
            RelationalFunction::IsNan | RelationalFunction::IsInf => None,
        };
        let Some(f) = f else { return refused(format!("the function {fun:?}")) };
        let (a, count, out) = (self.operand(argument)?, self.count(argument), self.out(1, 1)?);
        self.ops.push(Op::Fold { f, count, a, out });
        Ok(out.at)
    }

    fn cast(&mut self, whole: Handle<E>, value: Handle<E>, kind: K, convert: Option<u8>) -> Compiled<Value> {
        let from = self.scalar(value)?;
        let to = Scalar { kind, width: convert.unwrap_or(from.width) };
        if convert.is_none() || from == to {
            return Ok(Value::Slot(self.slot(value)?));
        }
        let f = scalar::convert(from, to);
        let at = match *self.ty(whole) {
            T::Matrix { .. } => self.columns(value, |compiler, a, count| {
                let out = compiler.out(count, to.width)?;
                compiler.map1(f, count, a, out)
            })?,
            _ => {
                let (a, count) = (self.operand(value)?, self.count(value));
                let out = self.out(count, to.width)?;
                self.map1(f, count, a, out)?
            }
        };
        Ok(Value::Slot(Slot { constant: false, at }))
    }
}
