//! Values, places and the state of a translation.

use std::collections::HashMap;
use std::rc::Rc;

use cranelift_codegen::ir::{AliasRegion, Block as Label, InstBuilder, MemFlags, Type, Value, types};
use cranelift_codegen::isa::CallConv;
use cranelift_frontend::{FunctionBuilder, Variable};
use cranelift_jit::JITModule;
use cranelift_module::FuncId;
use naga::valid::FunctionInfo;
use naga::{Function, Handle};

use super::plan::Plan;
use super::refusal::{Translated, refused};
use super::types::Types;
use crate::native::source::Source;

/// What the functions of a module share.
pub(super) struct Shared<'m> {
    pub(super) source: &'m Source<'m>,
    pub(super) types: Types<'m>,
    pub(super) plan: Plan,
    pub(super) jit: JITModule,
    pub(super) host_convention: CallConv,
    pub(super) declared: HashMap<Handle<Function>, FuncId>,
    /// Functions that are declared and not defined.
    pub(super) waiting: Vec<Handle<Function>>,
    /// Constants that machine code reads from memory.
    pub(super) constants: HashMap<Box<[u64]>, u64>,
}

/// The value of an expression.
#[derive(Clone, Debug)]
pub(super) enum Val {
    Scalars(Vec<Value>),
    /// In memory that nothing else writes to.
    Large(Place),
    Pointer(Place),
}

impl Val {
    pub(super) fn scalars(self) -> Translated<Vec<Value>> {
        match self {
            Self::Scalars(values) => Ok(values),
            _ => refused("an operation on a value of this size"),
        }
    }

    pub(super) fn scalar(self) -> Translated<Value> {
        match self.scalars()?[..] {
            [value] => Ok(value),
            _ => refused("a value of this type"),
        }
    }
}

/// A function whose body is being translated.
pub(super) struct Frame<'m> {
    pub(super) function: &'m Function,
    pub(super) info: &'m FunctionInfo,
    pub(super) values: Vec<Option<Val>>,
    pub(super) arguments: Vec<Val>,
    /// By local variable.
    pub(super) locals: Vec<Place>,
    pub(super) end: Label,
    /// Where a large result goes.
    pub(super) result: Option<Place>,
    pub(super) breaks: Vec<Label>,
    pub(super) continues: Vec<Label>,
}

/// Translates one function of machine code.
pub(super) struct Translator<'a, 'm> {
    pub(super) shared: &'a mut Shared<'m>,
    pub(super) b: FunctionBuilder<'a>,
    /// The address of the block of memory.
    pub(super) block: Value,
    /// Words that are the halves of a number.
    pub(super) pairs: HashMap<(Value, Value), Value>,
}

/// What a pointer points to.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) at: At,
    /// The byte of the block where the words of its buffer start.
    pub(super) buffer: Option<i32>,
}

#[derive(Clone, Debug)]
pub(super) enum At {
    Memory {
        base: Value,
        offset: i32,
        read_only: bool,
    },
    /// The scalars of a local variable.
    Variables {
        variables: Rc<[Variable]>,
        first: usize,
    },
}

impl Place {
    pub(super) fn memory(base: Value) -> Self {
        Self { at: At::Memory { base, offset: 0, read_only: false }, buffer: None }
    }

    /// (Memory of the host may be aligned to 4 bytes only, whatever the type.)
    pub(super) fn flags(read_only: bool) -> MemFlags {
        let flags = MemFlags::new().with_notrap();
        if read_only { flags.with_readonly().with_can_move() } else { flags }
    }

    /// The flags of its accesses. Buffers never overlap variables or what the host passes by
    /// address.
    pub(super) fn access(&self, read_only: bool) -> MemFlags {
        Self::flags(read_only).with_alias_region(self.buffer.map(|_| AliasRegion::Heap))
    }

    pub(super) fn fuel() -> MemFlags {
        Self::flags(false).with_alias_region(Some(AliasRegion::Vmctx))
    }
}

/// A zero of a register type.
pub(super) fn zero(b: &mut FunctionBuilder<'_>, ty: Type) -> Value {
    match ty {
        types::F32 => b.ins().f32const(0.0),
        types::F64 => b.ins().f64const(0.0),
        ty => b.ins().iconst(ty, 0),
    }
}

/// Flags of conversions between registers.
pub(super) const BITS: MemFlags = MemFlags::new();
