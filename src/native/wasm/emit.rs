//! Operations as instructions.

use wasm_encoder::{BlockType, Function as Body, ValType};

use super::super::host;
use super::super::interpret::op::{Argument, Function, Lanes, Length, Op, Slot};
use super::components::{Inlines, SCRATCH};
use super::emitter::{BLOCK, CODE, Emitter, FRAME, INDEX, SUM, TERM, VALUE, WORDS};
use super::values::{Place, natural};
use super::words::{Words, parameter_bytes, result_bytes};

pub(super) fn emit(function: &Function, constants: &[u8], constants_at: u32, inlines: &Inlines) -> Body {
    let words = Words::new(function, WORDS);
    let scratch = SCRATCH.iter().map(|(ty, _)| (2, *ty));
    let more = [(1, ValType::I32), (3, ValType::I64), (words.count, ValType::I32)];
    let mut emitter = Emitter {
        constants,
        constants_at,
        inlines,
        words,
        body: Body::new(scratch.chain(more).collect::<Vec<_>>()),
        frame: function.frame,
        depth: 0,
        breaks: Vec::new(),
        continues: Vec::new(),
    };
    emitter.whole(function);
    emitter.body
}

impl Emitter<'_> {
    fn whole(&mut self, function: &Function) {
        for parameter in &function.parameters {
            let (at, bytes) = parameter_bytes(*parameter);
            for (at, _) in self.words.locals(at, bytes).collect::<Vec<_>>() {
                // (Of a bool the caller writes one byte.)
                let width = if bytes < 4 { bytes as u8 } else { 4 };
                let from = Place::Memory { base: FRAME, offset: at };
                self.put(Place::Frame(at), width, |e| e.get(from, width));
            }
        }
        self.open(|e| e.ops(&function.body));
        for (at, _) in self.words.locals(0, result_bytes(function)).collect::<Vec<_>>() {
            self.put(Place::Memory { base: FRAME, offset: at }, 4, |e| e.get(Place::Frame(at), 4));
        }
        self.code().end();
    }

    /// A block, at whose end jumps to it go.
    fn open(&mut self, inside: impl FnOnce(&mut Self)) {
        self.code().block(BlockType::Empty);
        self.depth += 1;
        inside(self);
        self.close();
    }

    fn close(&mut self) {
        self.depth -= 1;
        self.code().end();
    }

    /// The number of a block from here, by how many were open when it had been opened.
    fn label(&self, depth: u32) -> u32 {
        self.depth - depth
    }

    fn jump(&mut self, depth: Option<u32>) {
        let label = self.label(depth.unwrap_or(1));
        self.code().br(label);
    }

    fn ops(&mut self, ops: &[Op]) {
        ops.iter().for_each(|op| self.op(op));
    }

    fn op(&mut self, op: &Op) {
        match op {
            Op::Block(body) => self.ops(body),
            Op::If { condition, accept, reject } => {
                self.get((*condition).into(), 1);
                self.code().if_(BlockType::Empty);
                self.depth += 1;
                self.ops(accept);
                if !reject.is_empty() {
                    self.code().else_();
                    self.ops(reject);
                }
                self.close();
            }
            Op::Switch { selector, values, default, bodies } => {
                self.switch(*selector, values, *default, bodies);
            }
            Op::Loop { body, continuing, break_if } => self.repeat(body, continuing, *break_if),
            Op::Break => self.jump(self.breaks.last().copied()),
            Op::Continue => self.jump(self.continues.last().copied()),
            Op::Return => self.jump(None),
            Op::Call { function, arguments, result } => self.call(*function, arguments, *result),
            Op::Load { from, at, bytes } => {
                let from = self.place(from);
                self.copy(from, Place::Frame(*at), *bytes);
            }
            Op::Store { from, to, bytes } => {
                let to = self.place(to);
                self.copy((*from).into(), to, *bytes);
            }
            Op::Index { base, index, stride, length, at } => {
                let place = self.place(base);
                self.put(Place::Frame(*at), 4, |e| {
                    e.address(place);
                    e.bounded(*index, *length);
                    e.code().i32_const(stride.cast_signed()).i32_mul().i32_add();
                });
            }
            Op::Length { length, at } => self.put(Place::Frame(*at), 4, |e| match *length {
                Length::Fixed(length) => {
                    e.code().i32_const(length.cast_signed());
                }
                Length::Bound { buffer } => e.get(Place::Memory { base: BLOCK, offset: buffer + 16 }, 4),
            }),
            Op::Zero { at, bytes } => self.zero(*at, *bytes),
            Op::Copy { from, at, bytes } => self.copy((*from).into(), Place::Frame(*at), *bytes),
            Op::Atomic { .. } | Op::CompareExchange { .. } => self.atomic(op),
            _ => self.components(op),
        }
    }

    /// An index, or the last one.
    fn bounded(&mut self, index: Slot, length: Length) {
        let last = |e: &mut Self| match length {
            Length::Fixed(length) => {
                e.code().i32_const((length - 1).cast_signed());
            }
            Length::Bound { buffer } => e.get(Place::Memory { base: BLOCK, offset: buffer + 20 }, 4),
        };
        self.get(index.into(), 4);
        self.code().local_tee(INDEX);
        last(self);
        self.code().local_tee(INDEX + 1).local_get(INDEX).local_get(INDEX + 1).i32_lt_u().select();
    }

    fn switch(
        &mut self,
        selector: Slot,
        values: &[(u32, usize)],
        default: usize,
        bodies: &[(Vec<Op>, bool)],
    ) {
        let end = self.depth + 1;
        self.breaks.push(end);
        self.open(|e| {
            // The block of a body ends where the body begins.
            for _ in bodies {
                e.code().block(BlockType::Empty);
                e.depth += 1;
            }
            let count = bodies.len() as u32;
            let most = values.iter().map(|(value, _)| *value).max().unwrap_or(0);
            e.get(selector.into(), 4);
            if most <= 2 * count + 16 {
                let case = |value| values.iter().find(|(of, _)| *of == value).map_or(default, |(_, i)| *i);
                let labels = (0..=most).map(|value| case(value) as u32).collect::<Vec<_>>();
                e.code().br_table(labels, default as u32);
            } else {
                e.code().local_set(INDEX);
                for (value, body) in values {
                    e.code().local_get(INDEX).i32_const(value.cast_signed()).i32_eq().br_if(*body as u32);
                }
                e.code().br(default as u32);
            }
            for (body, falls_through) in bodies {
                e.close();
                e.ops(body);
                if !falls_through {
                    e.jump(Some(end));
                }
            }
        });
        self.breaks.pop();
    }

    fn repeat(&mut self, body: &[Op], continuing: &[Op], break_if: Option<Slot>) {
        self.open(|e| {
            let end = e.depth;
            e.code().loop_(BlockType::Empty);
            e.depth += 1;
            let begin = e.depth;
            let fuel = Place::Memory { base: BLOCK, offset: 0 };
            e.put(fuel, 8, |e| {
                e.get(fuel, 8);
                e.code().i64_const(1).i64_sub().local_tee(VALUE);
            });
            let cut = e.label(end);
            e.code().local_get(VALUE).i64_const(0).i64_lt_s().br_if(cut);
            e.breaks.push(end);
            e.open(|e| {
                e.continues.push(e.depth);
                e.ops(body);
                e.continues.pop();
            });
            e.ops(continuing);
            e.breaks.pop();
            if let Some(slot) = break_if {
                e.get(slot.into(), 1);
                let end = e.label(end);
                e.code().br_if(end);
            }
            e.jump(Some(begin));
            e.close();
        });
    }

    fn call(&mut self, number: usize, arguments: &[Argument], result: Option<(u32, u32)>) {
        let inner = |at: u32, e: &Self| Place::Memory { base: FRAME, offset: e.frame + at };
        for argument in arguments {
            match argument {
                Argument::Value { from, at, bytes } => {
                    let to = inner(*at, self);
                    self.copy((*from).into(), to, *bytes);
                }
                Argument::Pointer { pointer, at, .. } => {
                    let (place, to) = (self.place(pointer), inner(*at, self));
                    self.put(to, 4, |e| e.address(place));
                }
            }
        }
        let frame = self.frame.cast_signed();
        self.code().local_get(BLOCK).local_get(FRAME).i32_const(frame).i32_add().call(number as u32);
        if let Some((at, bytes)) = result {
            let from = inner(0, self);
            self.copy(from, Place::Frame(at), bytes);
        }
    }

    fn atomic(&mut self, op: &Op) {
        match op {
            Op::Atomic { f, pointer, value, old } => {
                let (place, width) = (self.place(pointer), value.width);
                self.read(place, width, SUM);
                self.put(place, width, |e| {
                    let term = |e: &mut Self| {
                        e.get(Self::lane(value, 0), width);
                        natural(width)
                    };
                    e.apply2(*f as usize, |e| e.held(SUM), term, natural(width));
                });
                self.put(Place::Frame(*old), width, |e| e.write(width, SUM));
            }
            Op::CompareExchange { pointer, compare, value, old, exchanged } => {
                let (place, width) = (self.place(pointer), value.width);
                self.read(place, width, SUM);
                self.read((*compare).into(), width, TERM);
                let equal = |e: &mut Self| {
                    e.code().local_get(SUM).local_get(TERM).i64_eq();
                };
                equal(self);
                self.code().if_(BlockType::Empty);
                self.depth += 1;
                self.put(place, width, |e| e.get(Self::lane(value, 0), width));
                self.close();
                self.put(Place::Frame(*old), width, |e| e.write(width, SUM));
                self.put(Place::Frame(*exchanged), 1, equal);
            }
            _ => unreachable!("an atomic operation"),
        }
    }

    /// Reads `width` bytes into a local variable of 64 bits.
    fn read(&mut self, place: Place, width: u8, local: u32) {
        self.get(place, width);
        self.convert(natural(width), ValType::I64);
        self.code().local_set(local);
    }

    /// Puts a local variable of 64 bits on the stack, as `width` bytes.
    fn write(&mut self, width: u8, local: u32) {
        self.code().local_get(local);
        self.convert(ValType::I64, natural(width));
    }

    fn held(&mut self, local: u32) -> ValType {
        self.code().local_get(local);
        ValType::I64
    }

    /// `f(a, b)`, where `a` and `b` put a component on the stack and return its type.
    fn apply2(
        &mut self,
        f: usize,
        a: impl FnOnce(&mut Self) -> ValType,
        b: impl FnOnce(&mut Self) -> ValType,
        to: ValType,
    ) {
        let Some(inline) = self.inlines.get(&f) else {
            let words = [Box::new(a) as Box<dyn FnOnce(&mut Self) -> ValType + '_>, Box::new(b)];
            self.host(host::binary as *const () as usize, f, words);
            return self.convert(ValType::I64, to);
        };
        let of = a(self);
        self.convert(of, inline.takes[0]);
        let of = b(self);
        self.convert(of, inline.takes[1]);
        for instruction in &inline.code {
            self.body.instruction(instruction);
        }
        self.convert(inline.gives, to);
    }

    /// Calls a function of the host, by another that knows its type; the result has 64 bits.
    fn host<'f, const N: usize>(
        &mut self,
        by: usize,
        f: usize,
        words: [Box<dyn FnOnce(&mut Self) -> ValType + 'f>; N],
    ) {
        self.code().i32_const((f as u32).cast_signed());
        for word in words {
            let of = word(self);
            self.convert(of, ValType::I64);
        }
        self.code().i32_const((by as u32).cast_signed()).call_indirect(0, CODE + N as u32);
    }

    fn lane_of<'l>(lanes: &'l Lanes, i: u32) -> Box<dyn FnOnce(&mut Self) -> ValType + 'l> {
        Box::new(move |e| {
            e.get(Self::lane(lanes, i), lanes.width);
            natural(lanes.width)
        })
    }

    fn components(&mut self, op: &Op) {
        match op {
            Op::Map1 { f, count, a, out } => {
                for i in 0..*count {
                    self.put(Self::out(*out, i), out.width, |e| e.apply1(*f as usize, a, i, out.width));
                }
            }
            Op::Map2 { f, count, a, b, out } => {
                for i in 0..*count {
                    self.put(Self::out(*out, i), out.width, |e| {
                        let (a, b) = (Self::lane_of(a, i), Self::lane_of(b, i));
                        e.apply2(*f as usize, a, b, natural(out.width));
                    });
                }
            }
            Op::Map3 { f, count, lanes, out } => {
                for i in 0..*count {
                    self.put(Self::out(*out, i), out.width, |e| {
                        let words = lanes.each_ref().map(|lanes| Self::lane_of(lanes, i));
                        e.host(host::ternary as *const () as usize, *f as usize, words);
                        e.convert(ValType::I64, natural(out.width));
                    });
                }
            }
            Op::Map4 { f, count, lanes, out } => {
                for i in 0..*count {
                    self.put(Self::out(*out, i), out.width, |e| {
                        let words = lanes.each_ref().map(|lanes| Self::lane_of(lanes, i));
                        e.host(host::quaternary as *const () as usize, *f as usize, words);
                        e.convert(ValType::I64, natural(out.width));
                    });
                }
            }
            Op::Dot { multiply, add, count, a, b, out } => {
                for i in 0..*count {
                    let to = if i == 0 { SUM } else { TERM };
                    self.apply2(*multiply as usize, Self::lane_of(a, i), Self::lane_of(b, i), ValType::I64);
                    self.code().local_set(to);
                    if i > 0 {
                        self.apply2(*add as usize, |e| e.held(SUM), |e| e.held(TERM), ValType::I64);
                        self.code().local_set(SUM);
                    }
                }
                self.put(Self::out(*out, 0), out.width, |e| e.write(out.width, SUM));
            }
            Op::Fold { f, count, a, out } => {
                self.read(Self::lane(a, 0), a.width, SUM);
                for i in 1..*count {
                    self.apply2(*f as usize, |e| e.held(SUM), Self::lane_of(a, i), ValType::I64);
                    self.code().local_set(SUM);
                }
                self.put(Self::out(*out, 0), out.width, |e| e.write(out.width, SUM));
            }
            Op::Select { condition, count, accept, reject, at, bytes } => {
                for i in 0..*count {
                    let part = [*accept, *reject].map(|slot| slot.plus(i * bytes).into());
                    self.select(Self::lane(condition, i), part, Place::Frame(at + i * bytes), *bytes);
                }
            }
            Op::Pack { f, count, a, out } => self.put(Self::out(*out, 0), out.width, |e| {
                let word = |i: u32| -> Box<dyn FnOnce(&mut Self) -> ValType + '_> {
                    if i < *count { Self::lane_of(a, i) } else { Box::new(|e| e.number(0)) }
                };
                e.host(host::pack as *const () as usize, *f as usize, [0, 1, 2, 3].map(word));
                e.convert(ValType::I64, natural(out.width));
            }),
            Op::Unpack { f, count, a, out } => {
                for i in 0..*count {
                    self.put(Self::out(*out, i), out.width, |e| {
                        let component: Box<dyn FnOnce(&mut Self) -> ValType> =
                            Box::new(move |e| e.number(i.into()));
                        let words = [Self::lane_of(a, 0), component];
                        e.host(host::unpack as *const () as usize, *f as usize, words);
                        e.convert(ValType::I64, natural(out.width));
                    });
                }
            }
            _ => unreachable!("an operation on components"),
        }
    }

    fn number(&mut self, number: i64) -> ValType {
        self.code().i64_const(number);
        ValType::I64
    }

    fn apply1(&mut self, f: usize, a: &Lanes, i: u32, width: u8) {
        let Some(inline) = self.inlines.get(&f) else {
            self.host(host::unary as *const () as usize, f, [Self::lane_of(a, i)]);
            return self.convert(ValType::I64, natural(width));
        };
        let of = Self::lane_of(a, i)(self);
        self.convert(of, inline.takes[0]);
        for instruction in &inline.code {
            self.body.instruction(instruction);
        }
        self.convert(inline.gives, natural(width));
    }

    /// One of two parts.
    fn select(&mut self, condition: Place, [accept, reject]: [Place; 2], to: Place, bytes: u32) {
        if bytes > 16 {
            self.get(condition, 1);
            self.code().if_(BlockType::Empty);
            self.depth += 1;
            self.copy(accept, to, bytes);
            self.code().else_();
            self.copy(reject, to, bytes);
            return self.close();
        }
        let mut at = 0;
        while at < bytes {
            let width = match bytes - at {
                4.. => 4,
                2.. => 2,
                _ => 1,
            };
            self.put(to.plus(at), width, |e| {
                e.get(accept.plus(at), width);
                e.get(reject.plus(at), width);
                e.get(condition, 1);
                e.code().select();
            });
            at += u32::from(width);
        }
    }
}
