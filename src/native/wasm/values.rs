//! Values: words of frames, constants and memory.

use wasm_encoder::{InstructionSink, MemArg, ValType};

use super::super::interpret::op::{Base, Lanes, Out, Pointer, Slot};
use super::emitter::{BLOCK, Emitter, FRAME, POINTER, VALUE};

/// Longer parts of memory are copied by one instruction.
const UNROLLED: u32 = 64;

/// Where bytes are.
#[derive(Clone, Copy)]
pub(super) enum Place {
    Frame(u32),
    Constant(u32),
    /// Bytes after the address that a local variable holds.
    Memory {
        base: u32,
        offset: u32,
    },
}

impl Place {
    pub(super) fn plus(self, bytes: u32) -> Self {
        match self {
            Self::Frame(at) => Self::Frame(at + bytes),
            Self::Constant(at) => Self::Constant(at + bytes),
            Self::Memory { base, offset } => Self::Memory { base, offset: offset + bytes },
        }
    }
}

impl From<Slot> for Place {
    fn from(slot: Slot) -> Self {
        if slot.constant { Self::Constant(slot.at) } else { Self::Frame(slot.at) }
    }
}

/// The type of a component on the stack.
pub(super) fn natural(width: u8) -> ValType {
    if width == 8 { ValType::I64 } else { ValType::I32 }
}

/// (Memory of the host may be aligned to 4 bytes only, whatever the type.)
fn memory(offset: u32, width: u8) -> MemArg {
    MemArg { offset: offset.into(), align: if width < 4 { 0 } else { 2 }, memory_index: 0 }
}

impl Emitter<'_> {
    pub(super) fn code(&mut self) -> InstructionSink<'_> {
        self.body.instructions()
    }

    /// The local variable and offset of a place in memory; `None`: a word that is a local variable.
    fn in_memory(&self, place: Place) -> Option<(u32, u32)> {
        match place {
            Place::Frame(at) => self.words.local(at).is_none().then_some((FRAME, at)),
            Place::Constant(_) => None,
            Place::Memory { base, offset } => Some((base, offset)),
        }
    }

    /// Puts `width` bytes on the stack.
    pub(super) fn get(&mut self, place: Place, width: u8) {
        if let Place::Constant(at) = place {
            let bytes = &self.constants[at as usize..][..width.into()];
            let bits = bytes.iter().rev().fold(0, |bits, byte| bits << 8 | u64::from(*byte));
            match width {
                8 => self.code().i64_const(bits.cast_signed()),
                _ => self.code().i32_const((bits as u32).cast_signed()),
            };
            return;
        }
        if width == 8 && (self.in_memory(place).is_none() || self.in_memory(place.plus(4)).is_none()) {
            self.get(place, 4);
            self.code().i64_extend_i32_u();
            self.get(place.plus(4), 4);
            self.code().i64_extend_i32_u().i64_const(32).i64_shl().i64_or();
            return;
        }
        match (self.in_memory(place), place) {
            (Some((base, offset)), _) => {
                let at = memory(offset, width);
                self.code().local_get(base);
                match width {
                    8 => self.code().i64_load(at),
                    4 => self.code().i32_load(at),
                    2 => self.code().i32_load16_u(at),
                    _ => self.code().i32_load8_u(at),
                };
            }
            (None, Place::Frame(at)) => {
                let local = self.words.local(at).unwrap_or(VALUE);
                self.code().local_get(local);
            }
            _ => unreachable!("constants are above"),
        }
    }

    /// Stores what `value` puts on the stack, in the natural type of the width.
    pub(super) fn put(&mut self, place: Place, width: u8, value: impl FnOnce(&mut Self)) {
        if width < 8 || self.in_memory(place).is_some() && self.in_memory(place.plus(4)).is_some() {
            return self.store(place, width, value);
        }
        value(self);
        self.code().local_set(VALUE);
        self.store(place, 4, |e| {
            e.code().local_get(VALUE).i32_wrap_i64();
        });
        self.store(place.plus(4), 4, |e| {
            e.code().local_get(VALUE).i64_const(32).i64_shr_u().i32_wrap_i64();
        });
    }

    /// Stores a word that is a local variable, or bytes in memory.
    fn store(&mut self, place: Place, width: u8, value: impl FnOnce(&mut Self)) {
        let Some((base, offset)) = self.in_memory(place) else {
            value(self);
            if let Place::Frame(at) = place
                && let Some(local) = self.words.local(at)
            {
                self.code().local_set(local);
            }
            return;
        };
        self.code().local_get(base);
        value(self);
        let at = memory(offset, width);
        match width {
            8 => self.code().i64_store(at),
            4 => self.code().i32_store(at),
            2 => self.code().i32_store16(at),
            _ => self.code().i32_store8(at),
        };
    }

    /// Copies bytes. (Where both are in memory they may overlap, then they are the same.)
    pub(super) fn copy(&mut self, from: Place, to: Place, bytes: u32) {
        if bytes > UNROLLED && self.is_memory(from, bytes) && self.is_memory(to, bytes) {
            self.address(to);
            self.address(from);
            self.code().i32_const(bytes.cast_signed()).memory_copy(0, 0);
            return;
        }
        let mut at = 0;
        while at < bytes {
            let width = match bytes - at {
                8.. if self.is_memory(from.plus(at), 8) && self.is_memory(to.plus(at), 8) => 8,
                4.. => 4,
                2.. => 2,
                _ => 1,
            };
            self.put(to.plus(at), width, |e| e.get(from.plus(at), width));
            at += u32::from(width);
        }
    }

    pub(super) fn zero(&mut self, at: u32, bytes: u32) {
        let place = Place::Frame(at);
        if bytes > UNROLLED && self.is_memory(place, bytes) {
            self.address(place);
            self.code().i32_const(0).i32_const(bytes.cast_signed()).memory_fill(0);
            return;
        }
        let mut at = 0;
        while at < bytes {
            let width = match bytes - at {
                4.. => 4,
                2.. => 2,
                _ => 1,
            };
            self.put(place.plus(at), width, |e| {
                e.code().i32_const(0);
            });
            at += u32::from(width);
        }
    }

    /// Whether no byte is in a local variable.
    fn is_memory(&self, place: Place, bytes: u32) -> bool {
        match place {
            Place::Frame(at) => self.words.locals(at, bytes).next().is_none(),
            _ => true,
        }
    }

    /// Puts the address of a place in memory on the stack.
    pub(super) fn address(&mut self, place: Place) {
        let (base, offset) = match place {
            Place::Frame(at) => (FRAME, at),
            Place::Constant(at) => {
                let at = self.constants_at + at;
                self.code().i32_const(at.cast_signed());
                return;
            }
            Place::Memory { base, offset } => (base, offset),
        };
        self.code().local_get(base);
        if offset > 0 {
            self.code().i32_const(offset.cast_signed()).i32_add();
        }
    }

    /// What a pointer points to; its address may be in [`POINTER`] then.
    pub(super) fn place(&mut self, pointer: &Pointer) -> Place {
        let offset = pointer.offset;
        let base = match pointer.base {
            Base::Slot { constant } => return Slot { constant, at: offset }.into(),
            Base::Block => BLOCK,
            Base::Buffer(at) => {
                self.get(Place::Memory { base: BLOCK, offset: at }, 4);
                self.code().local_set(POINTER);
                POINTER
            }
            Base::Address(at) => self.words.local(at).unwrap_or_else(|| {
                self.get(Place::Frame(at), 4);
                self.code().local_set(POINTER);
                POINTER
            }),
        };
        Place::Memory { base, offset }
    }

    pub(super) fn lane(lanes: &Lanes, i: u32) -> Place {
        lanes.slot.plus(lanes.step * i).into()
    }

    pub(super) fn out(out: Out, i: u32) -> Place {
        Place::Frame(out.at + u32::from(out.width) * i)
    }

    /// Changes the type of the bits on the stack; zeros are above narrower ones.
    pub(super) fn convert(&mut self, from: ValType, to: ValType) {
        use ValType as V;
        match (from, to) {
            (V::I32, V::I64) => self.code().i64_extend_i32_u(),
            (V::I64, V::I32) => self.code().i32_wrap_i64(),
            (V::I32, V::F32) => self.code().f32_reinterpret_i32(),
            (V::F32, V::I32) => self.code().i32_reinterpret_f32(),
            (V::I64, V::F64) => self.code().f64_reinterpret_i64(),
            (V::F64, V::I64) => self.code().i64_reinterpret_f64(),
            (V::I64, V::F32) => self.code().i32_wrap_i64().f32_reinterpret_i32(),
            (V::F32, V::I64) => self.code().i32_reinterpret_f32().i64_extend_i32_u(),
            _ => return,
        };
    }
}
