//! Which words of a frame are local variables: those that no computed address reaches.

use super::super::interpret::op::{
    Argument, Base, Function, Lanes, Length, Op, Out, Parameter, Pointer, Returned, Slot,
};

/// Longer values lie in memory.
const LONGEST: u32 = 256;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Word {
    Unused,
    Local,
    Memory,
}

/// The words of a frame, four bytes each.
pub(super) struct Words {
    /// By word: the number of its local variable.
    locals: Vec<Option<u32>>,
    pub(super) count: u32,
}

impl Words {
    /// Numbers local variables from `first` on.
    pub(super) fn new(function: &Function, first: u32) -> Self {
        let mut uses = Uses(vec![Word::Unused; function.frame.div_ceil(4) as usize]);
        for parameter in &function.parameters {
            let (at, bytes) = parameter_bytes(*parameter);
            uses.value(at, bytes);
        }
        uses.value(0, result_bytes(function));
        uses.ops(&function.body);
        let mut count = 0;
        let locals = uses.0.iter().map(|word| {
            (*word == Word::Local).then(|| {
                count += 1;
                first + count - 1
            })
        });
        Self { locals: locals.collect(), count }
    }

    /// The local variable that is the word at a byte of the frame; `None`: it lies in memory.
    pub(super) fn local(&self, at: u32) -> Option<u32> {
        self.locals[at as usize / 4]
    }

    /// The words of a part of the frame that are local variables: their bytes and numbers.
    pub(super) fn locals(&self, at: u32, bytes: u32) -> impl Iterator<Item = (u32, u32)> + '_ {
        let words = at / 4..(at + bytes).div_ceil(4);
        words.filter_map(|word| Some((4 * word, self.locals[word as usize]?)))
    }
}

/// Where a parameter lies, and how many bytes of it are read.
pub(super) fn parameter_bytes(parameter: Parameter) -> (u32, u32) {
    match parameter {
        Parameter::Scalar { at, width } => (at, width.into()),
        Parameter::Bytes { at, bytes } => (at, bytes),
        // An address of the browser's memory has four bytes.
        Parameter::Pointer { at } => (at, 4),
    }
}

/// Bytes of a function's result, which lies at the start of its frame.
pub(super) fn result_bytes(function: &Function) -> u32 {
    match &function.returned {
        Returned::Nothing => 0,
        Returned::Scalar { width } => (*width).into(),
        Returned::Bytes { runs } => runs.iter().map(|(at, bytes)| at + bytes).max().unwrap_or(0),
    }
}

struct Uses(Vec<Word>);

impl Uses {
    /// A value that is read or written as a whole.
    fn value(&mut self, at: u32, bytes: u32) {
        let whole = at % 4 == 0 && (bytes % 4 == 0 || bytes < 3) && bytes <= LONGEST;
        self.mark(at, bytes, if whole { Word::Local } else { Word::Memory });
    }

    fn mark(&mut self, at: u32, bytes: u32, as_what: Word) {
        for word in &mut self.0[at as usize / 4..(at + bytes).div_ceil(4) as usize] {
            *word = if *word == Word::Memory { Word::Memory } else { as_what };
        }
    }

    fn slot(&mut self, slot: Slot, bytes: u32) {
        if !slot.constant {
            self.value(slot.at, bytes);
        }
    }

    fn lanes(&mut self, lanes: &Lanes, count: u32) {
        (0..count).for_each(|i| self.slot(lanes.slot.plus(lanes.step * i), lanes.width.into()));
    }

    fn out(&mut self, out: Out, count: u32) {
        (0..count).for_each(|i| self.value(out.at + i * u32::from(out.width), out.width.into()));
    }

    /// A place that is read or written as a whole.
    fn place(&mut self, pointer: &Pointer, bytes: u32) {
        match pointer.base {
            Base::Slot { constant: false } => self.value(pointer.offset, bytes),
            Base::Address(at) => self.value(at, 4),
            _ => {}
        }
    }

    /// A place whose address is computed.
    fn address(&mut self, pointer: &Pointer, bytes: u32) {
        match pointer.base {
            Base::Slot { constant: false } => self.mark(pointer.offset, bytes, Word::Memory),
            _ => self.place(pointer, bytes),
        }
    }

    fn ops(&mut self, ops: &[Op]) {
        ops.iter().for_each(|op| self.op(op));
    }

    fn op(&mut self, op: &Op) {
        match op {
            Op::Zero { at, bytes } => self.value(*at, *bytes),
            Op::Copy { from, at, bytes } => {
                self.slot(*from, *bytes);
                self.value(*at, *bytes);
            }
            Op::Load { from, at, bytes } => {
                self.place(from, *bytes);
                self.value(*at, *bytes);
            }
            Op::Store { from, to, bytes } => {
                self.slot(*from, *bytes);
                self.place(to, *bytes);
            }
            Op::Index { base, index, stride, length, at } => {
                let bytes = match length {
                    Length::Fixed(length) => stride * length,
                    Length::Bound { .. } => 0,
                };
                self.address(base, bytes);
                self.slot(*index, 4);
                self.value(*at, 4);
            }
            Op::Length { at, .. } => self.value(*at, 4),
            Op::Atomic { pointer, value, old, .. } => {
                self.place(pointer, value.width.into());
                self.lanes(value, 1);
                self.value(*old, value.width.into());
            }
            Op::CompareExchange { pointer, compare, value, old, exchanged } => {
                let width = value.width.into();
                self.place(pointer, width);
                self.slot(*compare, width);
                self.lanes(value, 1);
                self.value(*old, width);
                self.value(*exchanged, 1);
            }
            Op::Call { arguments, result, .. } => {
                for argument in arguments {
                    match argument {
                        Argument::Value { from, bytes, .. } => self.slot(*from, *bytes),
                        Argument::Pointer { pointer, bytes, .. } => self.address(pointer, *bytes),
                    }
                }
                if let Some((at, bytes)) = result {
                    self.value(*at, *bytes);
                }
            }
            Op::Block(body) => self.ops(body),
            Op::If { condition, accept, reject } => {
                self.slot(*condition, 1);
                self.ops(accept);
                self.ops(reject);
            }
            Op::Switch { selector, bodies, .. } => {
                self.slot(*selector, 4);
                bodies.iter().for_each(|(body, _)| self.ops(body));
            }
            Op::Loop { body, continuing, break_if } => {
                self.ops(body);
                self.ops(continuing);
                break_if.iter().for_each(|slot| self.slot(*slot, 1));
            }
            Op::Break | Op::Continue | Op::Return => {}
            _ => self.components(op),
        }
    }

    /// Operations on components.
    fn components(&mut self, op: &Op) {
        match op {
            Op::Map1 { count, a, out, .. } => {
                self.lanes(a, *count);
                self.out(*out, *count);
            }
            Op::Map2 { count, a, b, out, .. } => {
                [a, b].into_iter().for_each(|lanes| self.lanes(lanes, *count));
                self.out(*out, *count);
            }
            Op::Map3 { count, lanes, out, .. } => {
                lanes.iter().for_each(|lanes| self.lanes(lanes, *count));
                self.out(*out, *count);
            }
            Op::Map4 { count, lanes, out, .. } => {
                lanes.iter().for_each(|lanes| self.lanes(lanes, *count));
                self.out(*out, *count);
            }
            Op::Dot { count, a, b, out, .. } => {
                [a, b].into_iter().for_each(|lanes| self.lanes(lanes, *count));
                self.out(*out, 1);
            }
            Op::Fold { count, a, out, .. } | Op::Pack { count, a, out, .. } => {
                self.lanes(a, *count);
                self.out(*out, 1);
            }
            Op::Unpack { count, a, out, .. } => {
                self.lanes(a, 1);
                self.out(*out, *count);
            }
            Op::Select { condition, count, accept, reject, at, bytes } => {
                self.lanes(condition, *count);
                for i in 0..*count {
                    [accept, reject].into_iter().for_each(|slot| self.slot(slot.plus(i * bytes), *bytes));
                    self.value(at + i * bytes, *bytes);
                }
            }
            _ => unreachable!("an operation on components"),
        }
    }
}
