//! A validated module as translator and interpreter read it.

use naga::valid::ModuleInfo;
use naga::{Handle, Module, Scalar, Span, Type, TypeInner, VectorSize};

/// What is refused, and where it is in the text.
#[derive(Debug)]
pub(super) struct Refused {
    pub(super) what: String,
    pub(super) span: Span,
}

/// A validated module, and where its variables lie in a block.
pub(super) struct Source<'a> {
    pub(super) module: &'a Module,
    pub(super) info: &'a ModuleInfo,
    /// By variable: the byte of the block where it starts, or where the address of its buffer is.
    pub(super) globals: Vec<Option<u32>>,
}

impl<'a> Source<'a> {
    pub(super) fn inner(&self, ty: Handle<Type>) -> &'a TypeInner {
        &self.module.types[ty].inner
    }

    pub(super) fn bytes(&self, ty: Handle<Type>) -> u32 {
        self.inner(ty).size(self.module.to_ctx())
    }
}

/// The distance of the columns of a matrix.
pub(super) fn column_stride(rows: VectorSize, of: Scalar) -> u32 {
    u32::from(of.width) * if rows == VectorSize::Bi { 2 } else { 4 }
}
