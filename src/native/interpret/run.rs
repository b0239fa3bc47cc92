//! Runs operations on the memory of a block.

use std::ptr;

use super::op::{Argument, Base, Function, Lanes, Length, Op, Out, Pointer, Slot};

/// How a block of operations ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Flow {
    Next,
    Break,
    Continue,
    Return,
}

/// One call from the host.
pub(super) struct Run<'a> {
    pub(super) functions: &'a [Function],
    pub(super) constants: *const u8,
    /// The fuel, the addresses and sizes of buffers, the variables.
    pub(super) block: *mut u8,
}

/// # Safety
/// `from` is valid for reads of `width` bytes: 1, 2, 4 or 8.
pub(super) unsafe fn read(from: *const u8, width: u8) -> u64 {
    // SAFETY: as the caller says.
    unsafe {
        match width {
            4 => u64::from(from.cast::<u32>().read_unaligned()),
            8 => from.cast::<u64>().read_unaligned(),
            2 => u64::from(from.cast::<u16>().read_unaligned()),
            _ => u64::from(*from),
        }
    }
}

/// # Safety
/// `to` is valid for writes of `width` bytes: 1, 2, 4 or 8.
pub(super) unsafe fn write(to: *mut u8, width: u8, bits: u64) {
    // SAFETY: as the caller says.
    unsafe {
        match width {
            4 => to.cast::<u32>().write_unaligned(bits as u32),
            8 => to.cast::<u64>().write_unaligned(bits),
            2 => to.cast::<u16>().write_unaligned(bits as u16),
            _ => *to = bits as u8,
        }
    }
}

/// # Safety
/// Both are valid for `bytes` bytes. (They may overlap: an argument may point to what is returned.)
pub(super) unsafe fn copy(from: *const u8, to: *mut u8, bytes: u32) {
    // SAFETY: as the caller says.
    unsafe {
        match bytes {
            4 => to.cast::<u32>().write_unaligned(from.cast::<u32>().read_unaligned()),
            8 => to.cast::<u64>().write_unaligned(from.cast::<u64>().read_unaligned()),
            _ => ptr::copy(from, to, bytes as usize),
        }
    }
}

/// # Safety
/// Everywhere: `frame` is the frame of a function that was compiled with `self.functions`, inside a
/// stack as large as [`Function::stack`]; slots and places of operations lie where the compiler put
/// them: in the frame, the constants or the block. Addresses come from the host or from `Index`.
impl Run<'_> {
    pub(super) unsafe fn function(&self, frame: *mut u8, function: &Function) {
        // SAFETY: as above.
        unsafe { self.ops(frame, function.frame, &function.body) };
    }

    unsafe fn slot(&self, frame: *mut u8, slot: Slot) -> *const u8 {
        let base = if slot.constant { self.constants } else { frame };
        // SAFETY: slots lie inside.
        unsafe { base.add(slot.at as usize) }
    }

    unsafe fn lane(&self, frame: *mut u8, lanes: &Lanes, i: u32) -> u64 {
        // SAFETY: all components lie inside.
        unsafe { read(self.slot(frame, lanes.slot).add((lanes.step * i) as usize), lanes.width) }
    }

    unsafe fn address(&self, frame: *mut u8, pointer: &Pointer) -> *mut u8 {
        let held = |address: u64| ptr::with_exposed_provenance_mut::<u8>(address as usize);
        // SAFETY: slots and the block hold what the place starts from.
        let base = unsafe {
            match pointer.base {
                Base::Slot { constant } => self.slot(frame, Slot { constant, at: 0 }).cast_mut(),
                Base::Block => self.block,
                Base::Buffer(at) => held(read(self.block.add(at as usize), 8)),
                Base::Address(at) => held(read(frame.add(at as usize), 8)),
            }
        };
        base.wrapping_add(pointer.offset as usize)
    }

    /// Elements of an array, and the last one's index (0 without elements).
    unsafe fn length(&self, length: Length) -> (u32, u32) {
        match length {
            Length::Fixed(length) => (length, length - 1),
            Length::Bound { buffer } => {
                // SAFETY: the block has both after the address and the size of the buffer.
                let words = unsafe { read(self.block.add(buffer as usize + 16), 8) };
                (words as u32, (words >> 32) as u32)
            }
        }
    }

    /// Takes one unit of fuel; false: no fuel is left.
    unsafe fn burn(&self) -> bool {
        let fuel = self.block.cast::<i64>();
        // SAFETY: the block begins with it.
        unsafe {
            let left = fuel.read_unaligned().saturating_sub(1);
            fuel.write_unaligned(left);
            left >= 0
        }
    }

    unsafe fn ops(&self, frame: *mut u8, size: u32, ops: &[Op]) -> Flow {
        for op in ops {
            // SAFETY: as above.
            let flow = unsafe { self.op(frame, size, op) };
            if flow != Flow::Next {
                return flow;
            }
        }
        Flow::Next
    }

    unsafe fn op(&self, frame: *mut u8, size: u32, op: &Op) -> Flow {
        // SAFETY: as above.
        unsafe {
            match op {
                Op::Block(body) => return self.ops(frame, size, body),
                Op::If { condition, accept, reject } => {
                    let accepted = read(self.slot(frame, *condition), 1) != 0;
                    return self.ops(frame, size, if accepted { accept } else { reject });
                }
                Op::Switch { selector, values, default, bodies } => {
                    let selector = read(self.slot(frame, *selector), 4) as u32;
                    let case = values.iter().find(|(value, _)| *value == selector);
                    return self.cases(frame, size, &bodies[case.map_or(*default, |(_, body)| *body)..]);
                }
                Op::Loop { body, continuing, break_if } => {
                    return self.repeat(frame, size, body, continuing, *break_if);
                }
                Op::Break => return Flow::Break,
                Op::Continue => return Flow::Continue,
                Op::Return => return Flow::Return,
                Op::Call { function, arguments, result } => {
                    self.call(frame, size, *function, arguments, *result);
                }
                Op::Load { .. } | Op::Store { .. } | Op::Index { .. } | Op::Length { .. } => {
                    self.memory(frame, op);
                }
                Op::Atomic { .. } | Op::CompareExchange { .. } => self.atomic(frame, op),
                _ => self.value(frame, op),
            }
        }
        Flow::Next
    }

    unsafe fn cases(&self, frame: *mut u8, size: u32, bodies: &[(Vec<Op>, bool)]) -> Flow {
        for (body, falls_through) in bodies {
            // SAFETY: as above.
            match unsafe { self.ops(frame, size, body) } {
                Flow::Next if *falls_through => {}
                Flow::Next | Flow::Break => break,
                flow => return flow,
            }
        }
        Flow::Next
    }

    unsafe fn repeat(
        &self,
        frame: *mut u8,
        size: u32,
        body: &[Op],
        continuing: &[Op],
        break_if: Option<Slot>,
    ) -> Flow {
        // SAFETY: as above.
        unsafe {
            while self.burn() {
                match self.ops(frame, size, body) {
                    Flow::Break => break,
                    Flow::Return => return Flow::Return,
                    Flow::Next | Flow::Continue => {}
                }
                self.ops(frame, size, continuing);
                if break_if.is_some_and(|slot| read(self.slot(frame, slot), 1) != 0) {
                    break;
                }
            }
        }
        Flow::Next
    }

    unsafe fn call(
        &self,
        frame: *mut u8,
        size: u32,
        function: usize,
        arguments: &[Argument],
        result: Option<(u32, u32)>,
    ) {
        let function = &self.functions[function];
        // SAFETY: the callee's frame follows, and the stack holds it.
        unsafe {
            let inner = frame.add(size as usize);
            for argument in arguments {
                match argument {
                    Argument::Value { from, at, bytes } => {
                        copy(self.slot(frame, *from), inner.add(*at as usize), *bytes);
                    }
                    Argument::Pointer { pointer, at, .. } => {
                        let address = self.address(frame, pointer).expose_provenance() as u64;
                        write(inner.add(*at as usize), 8, address);
                    }
                }
            }
            self.function(inner, function);
            if let Some((at, bytes)) = result {
                copy(inner, frame.add(at as usize), bytes);
            }
        }
    }

    unsafe fn memory(&self, frame: *mut u8, op: &Op) {
        // SAFETY: as above.
        unsafe {
            match *op {
                Op::Load { ref from, at, bytes } => {
                    copy(self.address(frame, from), frame.add(at as usize), bytes);
                }
                Op::Store { from, ref to, bytes } => {
                    copy(self.slot(frame, from), self.address(frame, to), bytes);
                }
                Op::Index { ref base, index, stride, length, at } => {
                    let (_, last) = self.length(length);
                    let index = (read(self.slot(frame, index), 4) as u32).min(last);
                    let address = self.address(frame, base).wrapping_add(index as usize * stride as usize);
                    write(frame.add(at as usize), 8, address.expose_provenance() as u64);
                }
                Op::Length { length, at } => {
                    write(frame.add(at as usize), 4, u64::from(self.length(length).0));
                }
                _ => unreachable!("an operation on memory"),
            }
        }
    }

    unsafe fn atomic(&self, frame: *mut u8, op: &Op) {
        // SAFETY: as above; one thread has the memory.
        unsafe {
            match *op {
                Op::Atomic { f, ref pointer, ref value, old } => {
                    let (place, width) = (self.address(frame, pointer), value.width);
                    let before = read(place, width);
                    write(place, width, f(before, self.lane(frame, value, 0)));
                    write(frame.add(old as usize), width, before);
                }
                Op::CompareExchange { ref pointer, compare, ref value, old, exchanged } => {
                    let (place, width) = (self.address(frame, pointer), value.width);
                    let before = read(place, width);
                    let equal = before == read(self.slot(frame, compare), width);
                    if equal {
                        write(place, width, self.lane(frame, value, 0));
                    }
                    write(frame.add(old as usize), width, before);
                    write(frame.add(exchanged as usize), 1, equal.into());
                }
                _ => unreachable!("an atomic operation"),
            }
        }
    }

    unsafe fn value(&self, frame: *mut u8, op: &Op) {
        // SAFETY: as above.
        unsafe {
            let put = |out: &Out, i: u32, bits: u64| {
                write(frame.add((out.at + u32::from(out.width) * i) as usize), out.width, bits);
            };
            match op {
                Op::Zero { at, bytes } => frame.add(*at as usize).write_bytes(0, *bytes as usize),
                Op::Copy { from, at, bytes } => {
                    copy(self.slot(frame, *from), frame.add(*at as usize), *bytes);
                }
                Op::Map1 { f, count, a, out } => {
                    (0..*count).for_each(|i| put(out, i, f(self.lane(frame, a, i))));
                }
                Op::Map2 { f, count, a, b, out } => {
                    (0..*count).for_each(|i| put(out, i, f(self.lane(frame, a, i), self.lane(frame, b, i))));
                }
                Op::Map3 { f, count, lanes, out } => (0..*count).for_each(|i| {
                    let [a, b, c] = lanes.each_ref().map(|lanes| self.lane(frame, lanes, i));
                    put(out, i, f(a, b, c));
                }),
                Op::Map4 { f, count, lanes, out } => (0..*count).for_each(|i| {
                    let [a, b, c, d] = lanes.each_ref().map(|lanes| self.lane(frame, lanes, i));
                    put(out, i, f(a, b, c, d));
                }),
                Op::Dot { multiply, add, count, a, b, out } => {
                    let product = |i| multiply(self.lane(frame, a, i), self.lane(frame, b, i));
                    put(out, 0, (1..*count).fold(product(0), |sum, i| add(sum, product(i))));
                }
                Op::Fold { f, count, a, out } => {
                    let first = self.lane(frame, a, 0);
                    put(out, 0, (1..*count).fold(first, |all, i| f(all, self.lane(frame, a, i))));
                }
                Op::Select { condition, count, accept, reject, at, bytes } => (0..*count).for_each(|i| {
                    let chosen = if self.lane(frame, condition, i) != 0 { accept } else { reject };
                    let from = self.slot(frame, chosen.plus(i * bytes));
                    copy(from, frame.add((at + i * bytes) as usize), *bytes);
                }),
                Op::Pack { f, count, a, out } => {
                    let mut components = [0; 4];
                    (0..*count).for_each(|i| components[i as usize] = self.lane(frame, a, i));
                    put(out, 0, f(components));
                }
                Op::Unpack { f, count, a, out } => {
                    let components = f(self.lane(frame, a, 0));
                    (0..*count).for_each(|i| put(out, i, components[i as usize]));
                }
                _ => unreachable!("an operation on values"),
            }
        }
    }
}
