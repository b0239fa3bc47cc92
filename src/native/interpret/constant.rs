//! Values of constant expressions, as bytes in the layout of memory.

use naga::{Arena, Expression as E, Handle, Literal, Module, TypeInner as T};

use crate::native::source::column_stride;

/// Writes the value of a constant expression over zeros; `None`: it is no constant.
pub(in crate::native) fn write(
    module: &Module,
    arena: &Arena<E>,
    handle: Handle<E>,
    to: &mut [u8],
) -> Option<()> {
    match &arena[handle] {
        E::Literal(literal) => write_literal(*literal, to),
        E::ZeroValue(_) => Some(()),
        E::Constant(constant) => {
            write(module, &module.global_expressions, module.constants[*constant].init, to)
        }
        E::Override(value) => write(module, &module.global_expressions, module.overrides[*value].init?, to),
        E::Splat { size, value } => {
            let bytes = to.len() / *size as usize;
            to.chunks_exact_mut(bytes).try_for_each(|to| write(module, arena, *value, to))
        }
        E::Compose { ty, components } => {
            let (inner, mut end) = (&module.types[*ty].inner, 0);
            for (i, component) in components.iter().enumerate() {
                let (bytes, offset) = part(module, inner, arena, *component, i, end)?;
                write(module, arena, *component, to.get_mut(offset..offset + bytes)?)?;
                end = offset + bytes;
            }
            Some(())
        }
        _ => None,
    }
}

/// The size and the place of a component.
fn part(
    module: &Module,
    inner: &T,
    arena: &Arena<E>,
    component: Handle<E>,
    i: usize,
    end: usize,
) -> Option<(usize, usize)> {
    let size = |ty| module.types[ty].inner.size(module.to_ctx()) as usize;
    Some(match inner {
        T::Vector { scalar, .. } => {
            let width = usize::from(scalar.width);
            (components(module, arena, component)? * width, end)
        }
        T::Matrix { rows, scalar, .. } => {
            (*rows as usize * usize::from(scalar.width), i * column_stride(*rows, *scalar) as usize)
        }
        T::Array { base, stride, .. } => (size(*base), i * *stride as usize),
        T::Struct { members, .. } => {
            let member = members.get(i)?;
            (size(member.ty), member.offset as usize)
        }
        _ => return None,
    })
}

/// The number of components of a part of a vector.
fn components(module: &Module, arena: &Arena<E>, handle: Handle<E>) -> Option<usize> {
    let of = |ty| match module.types[ty].inner {
        T::Vector { size, .. } => size as usize,
        _ => 1,
    };
    Some(match &arena[handle] {
        E::Literal(_) => 1,
        E::ZeroValue(ty) | E::Compose { ty, .. } => of(*ty),
        E::Constant(constant) => of(module.constants[*constant].ty),
        E::Override(value) => of(module.overrides[*value].ty),
        E::Splat { size, .. } => *size as usize,
        _ => return None,
    })
}

fn write_literal(literal: Literal, to: &mut [u8]) -> Option<()> {
    let mut put = |bytes: &[u8]| to.get_mut(..bytes.len()).map(|to| to.copy_from_slice(bytes));
    match literal {
        Literal::U32(x) => put(&x.to_ne_bytes()),
        Literal::I32(x) => put(&x.to_ne_bytes()),
        Literal::F32(x) => put(&x.to_ne_bytes()),
        Literal::U64(x) => put(&x.to_ne_bytes()),
        Literal::I64(x) => put(&x.to_ne_bytes()),
        Literal::F64(x) => put(&x.to_ne_bytes()),
        Literal::Bool(x) => put(&[x.into()]),
        _ => None,
    }
}
