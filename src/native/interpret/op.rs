//! What the interpreter runs: operations on slots, in trees of blocks.

use super::component::{Binary, Quaternary, Ternary, Unary};
use super::float::{Pack, Unpack};

/// Where a value lies: bytes in the frame of a call, or in the constants of the module.
#[derive(Clone, Copy, Debug)]
pub(in crate::native) struct Slot {
    pub(in crate::native) constant: bool,
    pub(in crate::native) at: u32,
}

impl Slot {
    pub(in crate::native) fn plus(self, bytes: u32) -> Self {
        Slot { at: self.at + bytes, ..self }
    }
}

/// Components of a value: `width` bytes each, `step` bytes apart (0: one for all).
#[derive(Clone, Copy, Debug)]
pub(in crate::native) struct Lanes {
    pub(in crate::native) slot: Slot,
    pub(in crate::native) width: u8,
    pub(in crate::native) step: u32,
}

/// Components that an operation writes to the frame, `width` bytes apart.
#[derive(Clone, Copy, Debug)]
pub(in crate::native) struct Out {
    pub(in crate::native) at: u32,
    pub(in crate::native) width: u8,
}

#[derive(Clone, Copy, Debug)]
pub(in crate::native) enum Base {
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
pub(in crate::native) struct Pointer {
    pub(in crate::native) base: Base,
    pub(in crate::native) offset: u32,
}

#[derive(Clone, Copy, Debug)]
pub(in crate::native) enum Length {
    Fixed(u32),
    /// Of a runtime-sized array: the byte of the block where the words of its buffer start.
    Bound {
        buffer: u32,
    },
}

#[derive(Debug)]
pub(in crate::native) enum Op {
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
pub(in crate::native) enum Argument {
    Value {
        from: Slot,
        at: u32,
        bytes: u32,
    },
    /// To `bytes` bytes.
    #[cfg_attr(not(target_arch = "wasm32"), expect(dead_code, reason = "WebAssembly needs the bytes"))]
    Pointer {
        pointer: Pointer,
        at: u32,
        bytes: u32,
    },
}

/// How a host passes an argument.
#[derive(Clone, Copy, Debug)]
pub(in crate::native) enum Parameter {
    Scalar { at: u32, width: u8 },
    Bytes { at: u32, bytes: u32 },
    Pointer { at: u32 },
}

/// How a host receives a result. Results lie at the start of a frame.
#[derive(Debug, Default)]
pub(in crate::native) enum Returned {
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
pub(in crate::native) struct Function {
    /// Bytes of its frame, a multiple of 16.
    pub(in crate::native) frame: u32,
    /// Bytes of its frame and of those of the calls inside it.
    pub(in crate::native) stack: u32,
    /// The depth of blocks and calls inside.
    pub(in crate::native) depth: u32,
    pub(in crate::native) parameters: Vec<Parameter>,
    pub(in crate::native) returned: Returned,
    pub(in crate::native) body: Vec<Op>,
}
