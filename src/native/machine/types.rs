//! Types as lists of scalars.

use std::borrow::Cow;

use cranelift_codegen::ir::{Type, types};
use naga::{ArraySize, Module, Scalar, ScalarKind as K, TypeInner as T, VectorSize};

use super::{Translated, refused};

/// Values of more scalars than this lie in memory.
const SCALARS: u64 = 64;

/// A scalar of a type.
#[derive(Clone, Copy, Debug)]
pub(super) struct Leaf {
    pub(super) scalar: Scalar,
    /// Bytes from the start of the type.
    pub(super) offset: u32,
    /// It and the next are components of a vector of `u32`, loaded and stored as one number.
    pub(super) pair: bool,
}

/// A member, element, column or component.
pub(super) struct Part<'m> {
    pub(super) inner: Cow<'m, T>,
    /// Bytes from the start of the whole.
    pub(super) offset: u32,
    /// Scalars of the whole before it.
    pub(super) first: usize,
}

#[derive(Clone, Copy)]
pub(super) struct Types<'m> {
    pub(super) module: &'m Module,
}

impl<'m> Types<'m> {
    pub(super) fn inner(self, handle: naga::Handle<naga::Type>) -> &'m T {
        &self.module.types[handle].inner
    }

    pub(super) fn bytes(self, inner: &T) -> u32 {
        inner.size(self.module.to_ctx())
    }

    fn count(self, inner: &T) -> u64 {
        match inner {
            T::Scalar(_) | T::Atomic(_) => 1,
            T::Vector { size, .. } => *size as u64,
            T::Matrix { columns, rows, .. } => *columns as u64 * *rows as u64,
            T::Array { base, size: ArraySize::Constant(size), .. } => {
                self.count(self.inner(*base)).saturating_mul(size.get().into())
            }
            T::Struct { members, .. } => members.iter().map(|m| self.count(self.inner(m.ty))).sum(),
            _ => 0,
        }
    }

    /// Whether values of the type lie in memory.
    pub(super) fn is_large(self, inner: &T) -> bool {
        self.count(inner) > SCALARS
    }

    /// The scalars of a type that is not large.
    pub(super) fn leaves(self, inner: &T) -> Translated<Vec<Leaf>> {
        let mut leaves = Vec::new();
        if self.is_large(inner) {
            return refused("a value of this size");
        }
        self.flatten(inner, 0, &mut leaves)?;
        Ok(leaves)
    }

    fn flatten(self, inner: &T, offset: u32, leaves: &mut Vec<Leaf>) -> Translated<()> {
        match inner {
            T::Scalar(scalar) | T::Atomic(scalar) => {
                leaves.push(Leaf { scalar: *scalar, offset, pair: false })
            }
            T::Vector { size, scalar } => {
                let (count, width) = (*size as u32, u32::from(scalar.width));
                leaves.extend((0..count).map(|i| Leaf {
                    scalar: *scalar,
                    offset: offset + i * width,
                    pair: *scalar == Scalar::U32 && i % 2 == 0 && i + 1 < count,
                }));
            }
            T::Matrix { columns, rows, scalar } => {
                let stride = column_stride(*rows, *scalar);
                for column in 0..*columns as u32 {
                    self.flatten(
                        &T::Vector { size: *rows, scalar: *scalar },
                        offset + column * stride,
                        leaves,
                    )?;
                }
            }
            T::Array { base, size: ArraySize::Constant(size), stride } => {
                for i in 0..size.get() {
                    self.flatten(self.inner(*base), offset + i * stride, leaves)?;
                }
            }
            T::Struct { members, .. } => {
                for member in members {
                    self.flatten(self.inner(member.ty), offset + member.offset, leaves)?;
                }
            }
            _ => return refused("a value of this type"),
        }
        Ok(())
    }

    pub(super) fn part(self, inner: &Cow<'m, T>, index: u32) -> Translated<Part<'m>> {
        if let Cow::Borrowed(inner) = inner {
            return self.part_of(inner, index);
        }
        // What is not of the module has components without types of the module.
        match **inner {
            T::Vector { scalar, .. } => Ok(component(scalar, index)),
            T::Matrix { rows, scalar, .. } => Ok(column(rows, scalar, index)),
            _ => refused("a part of this type"),
        }
    }

    fn part_of(self, inner: &'m T, index: u32) -> Translated<Part<'m>> {
        match inner {
            T::Vector { scalar, .. } => Ok(component(*scalar, index)),
            T::Matrix { rows, scalar, .. } => Ok(column(*rows, *scalar, index)),
            T::Array { base, stride, .. } => {
                let element = self.inner(*base);
                let Some(offset) = stride.checked_mul(index) else { return refused("an index of this size") };
                let first = self.count(element).saturating_mul(index.into());
                Ok(Part { inner: Cow::Borrowed(element), offset, first: first as usize })
            }
            T::Struct { members, .. } => {
                let member = &members[index as usize];
                let before = members[..index as usize].iter().map(|m| self.count(self.inner(m.ty)));
                let first = before.sum::<u64>() as usize;
                Ok(Part { inner: Cow::Borrowed(self.inner(member.ty)), offset: member.offset, first })
            }
            _ => refused("a part of this type"),
        }
    }

    /// What a pointer points to.
    pub(super) fn pointee(self, pointer: &T) -> Translated<Cow<'m, T>> {
        match *pointer {
            T::Pointer { base, .. } => Ok(Cow::Borrowed(self.inner(base))),
            T::ValuePointer { size: Some(size), scalar, .. } => Ok(Cow::Owned(T::Vector { size, scalar })),
            T::ValuePointer { size: None, scalar, .. } => Ok(Cow::Owned(T::Scalar(scalar))),
            _ => refused("a pointer of this type"),
        }
    }
}

fn component<'m>(scalar: Scalar, index: u32) -> Part<'m> {
    let offset = index * u32::from(scalar.width);
    Part { inner: Cow::Owned(T::Scalar(scalar)), offset, first: index as usize }
}

fn column<'m>(rows: VectorSize, scalar: Scalar, index: u32) -> Part<'m> {
    let offset = index * column_stride(rows, scalar);
    let inner = Cow::Owned(T::Vector { size: rows, scalar });
    Part { inner, offset, first: index as usize * rows as usize }
}

/// The distance of the columns of a matrix.
pub(super) fn column_stride(rows: VectorSize, scalar: Scalar) -> u32 {
    u32::from(scalar.width) * if rows == VectorSize::Bi { 2 } else { 4 }
}

/// The register type of a scalar.
pub(super) fn register(scalar: Scalar) -> Translated<Type> {
    match (scalar.kind, scalar.width) {
        (K::Bool, _) => Ok(types::I8),
        (K::Float, 4) => Ok(types::F32),
        (K::Float, 8) => Ok(types::F64),
        (K::Sint | K::Uint, 4) => Ok(types::I32),
        (K::Sint | K::Uint, 8) => Ok(types::I64),
        _ => refused("a number of this type"),
    }
}

/// The type of the components of a scalar, vector or matrix.
pub(super) fn scalar(inner: &T) -> Translated<Scalar> {
    match inner {
        T::Scalar(scalar) | T::Atomic(scalar) | T::Vector { scalar, .. } | T::Matrix { scalar, .. } => {
            Ok(*scalar)
        }
        _ => refused("an operation on this type"),
    }
}
