//! The bytes of a value that are no padding. Only these are written to memory, as drivers do, so
//! that what memory holds after a run does not depend on what a frame held before.

use naga::{ArraySize, TypeInner as T};

use crate::native::source::Source;
use crate::native::source::column_stride;

/// The places and sizes of parts without padding, in order and apart.
pub(in crate::native) fn runs(source: &Source<'_>, inner: &T) -> Vec<(u32, u32)> {
    let mut runs = Vec::new();
    add(source, inner, 0, &mut runs);
    runs
}

fn add(source: &Source<'_>, inner: &T, at: u32, runs: &mut Vec<(u32, u32)>) {
    match *inner {
        T::Struct { ref members, .. } => {
            members.iter().for_each(|member| add(source, source.inner(member.ty), at + member.offset, runs));
        }
        T::Array { base, size: ArraySize::Constant(size), stride } => {
            (0..size.get()).for_each(|i| add(source, source.inner(base), at + i * stride, runs));
        }
        T::Matrix { columns, rows, scalar } => {
            let (stride, bytes) = (column_stride(rows, scalar), rows as u32 * u32::from(scalar.width));
            (0..columns as u32).for_each(|i| push((at + i * stride, bytes), runs));
        }
        _ => push((at, inner.size(source.module.to_ctx())), runs),
    }
}

fn push((at, bytes): (u32, u32), runs: &mut Vec<(u32, u32)>) {
    match runs.last_mut() {
        Some((start, length)) if *start + *length == at => *length += bytes,
        _ => runs.push((at, bytes)),
    }
}
