//! What the interpreter runs: operations on slots, in trees of blocks.

use super::component::{Binary, Quaternary, Ternary, Unary};
use super::float::{Pack, Unpack};

/// Where a value lies: bytes in the frame of a call, or in the constants of the module.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot {
    pub(super) constant: bool,
    pub(super) at: u32,
}

impl Slot {
    pub(super) fn plus(self, bytes: u32) -> Self {
        Slot { at: self.at + bytes, ..self }
    }
}

/// Components of a value: `width` bytes each, `step` bytes apart (0: one for all).
#[derive(Clone, Copy, Debug)]
pub(super) struct Lanes {
    pub(super) slot: Slot,
    pub(super) width: u8,
    pub(super) step: u32,
}

/// Components that an operation writes to the frame, `width` bytes apart.
#[derive(Clone, Copy, Debug)]
pub(super) struct Out {
    pub(super) at: u32,
    pub(super) width: u8,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Base {
    Slot {
        constant: bool,
    },
    /// Private, workgroup and uniform variables.
    Block,
    /// The buffer whose address is at this byte of the block.
    Buffer(u32),
    /// The address that this slot of the frame holds.
    Address(u32),
}

/// A place in memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pointer {
    pub(super) base: Base,
    pub(super) offset: u32,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Length {
    Fixed(u32),
    /// Of a runtime-sized array: the byte of the block where the words of its buffer start.
    Bound {
        buffer: u32,
    },
}

#[derive(Debug)]
pub(super) enum Op {
    Zero {
        at: u32,
        bytes: u32,
    },
    Copy {
        from: Slot,
        at: u32,
        bytes: u32,
    },
    Load {
        from: Pointer,
        at: u32,
        bytes: u32,
    },
    Store {
        from: Slot,
        to: Pointer,
        bytes: u32,
    },
    /// The address of an element; an index beyond the end means the last one.
    Index {
        base: Pointer,
        index: Slot,
        stride: u32,
        length: Length,
        at: u32,
    },
    Length {
        length: Length,
        at: u32,
    },
    Map1 {
        f: Unary,
        count: u32,
        a: Lanes,
        out: Out,
    },
    Map2 {
        f: Binary,
        count: u32,
        a: Lanes,
        b: Lanes,
        out: Out,
    },
    Map3 {
        f: Ternary,
        count: u32,
        lanes: [Lanes; 3],
        out: Out,
    },
    Map4 {
        f: Quaternary,
        count: u32,
        lanes: [Lanes; 4],
        out: Out,
    },
    /// The components' products, added up from the first on.
    Dot {
        multiply: Binary,
        add: Binary,
        count: u32,
        a: Lanes,
        b: Lanes,
        out: Out,
    },
    Fold {
        f: Binary,
        count: u32,
        a: Lanes,
        out: Out,
    },
    Select {
        condition: Lanes,
        count: u32,
        accept: Slot,
        reject: Slot,
        at: u32,
        bytes: u32,
    },
    Pack {
        f: Pack,
        count: u32,
        a: Lanes,
        out: Out,
    },
    Unpack {
        f: Unpack,
        count: u32,
        a: Lanes,
        out: Out,
    },
    /// Reads the old value into `old`, then writes `f(old, value)`.
    Atomic {
        f: Binary,
        pointer: Pointer,
        value: Lanes,
        old: u32,
    },
    CompareExchange {
        pointer: Pointer,
        compare: Slot,
        value: Lanes,
        old: u32,
        exchanged: u32,
    },
    /// `function` counts the functions that were compiled before.
    Call {
        function: usize,
        arguments: Vec<Argument>,
        result: Option<(u32, u32)>,
    },
    Block(Vec<Op>),
    If {
        condition: Slot,
        accept: Vec<Op>,
        reject: Vec<Op>,
    },
    /// Case `bodies[i]` falls through to the next where its flag says so.
    Switch {
        selector: Slot,
        values: Vec<(u32, usize)>,
        default: usize,
        bodies: Vec<(Vec<Op>, bool)>,
    },
    Loop {
        body: Vec<Op>,
        continuing: Vec<Op>,
        break_if: Option<Slot>,
    },
    Break,
    Continue,
    Return,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Argument {
    Value { from: Slot, at: u32, bytes: u32 },
    Pointer { pointer: Pointer, at: u32 },
}

/// How a host passes an argument.
#[derive(Clone, Copy, Debug)]
pub(super) enum Parameter {
    Scalar { at: u32, width: u8 },
    Bytes { at: u32, bytes: u32 },
    Pointer { at: u32 },
}

/// How a host receives a result. Results lie at the start of a frame.
#[derive(Debug, Default)]
pub(super) enum Returned {
    #[default]
    Nothing,
    Scalar {
        width: u8,
    },
    /// Parts at these bytes, of these sizes.
    Bytes {
        runs: Vec<(u32, u32)>,
    },
}

#[derive(Debug, Default)]
pub(super) struct Function {
    /// Bytes of its frame, a multiple of 16.
    pub(super) frame: u32,
    /// Bytes of its frame and of those of the calls inside it.
    pub(super) stack: u32,
    /// The depth of blocks and calls inside.
    pub(super) depth: u32,
    pub(super) parameters: Vec<Parameter>,
    pub(super) returned: Returned,
    pub(super) body: Vec<Op>,
}
