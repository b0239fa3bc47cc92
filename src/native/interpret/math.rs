//! Built-in functions as operations.

use naga::{
    BinaryOperator as B, Expression as E, Handle, MathFunction as M, Scalar, TypeInner as T,
    UnaryOperator as U,
};

use super::compile::{Compiled, Compiler, refused};
use super::float;
use super::op::{Lanes, Op, Out, Slot};
use super::scalar;
use crate::native::source::column_stride;

impl Compiler<'_> {
    /// `whole` is the call of the built-in function.
    pub(super) fn math(&mut self, fun: M, whole: Handle<E>, arguments: &[Handle<E>]) -> Compiled<u32> {
        let of = self.scalar(arguments[0])?;
        let count = self.count(arguments[0]);
        let lanes = arguments.iter().map(|a| self.operand(*a)).collect::<Compiled<Vec<_>>>()?;
        match fun {
            M::Dot => self.dots(count, &[(lanes[0], lanes[1])], of),
            M::Length => self.norm(lanes[0], count, of),
            M::Distance => {
                let difference = self.arithmetic(B::Subtract, count, lanes[0], lanes[1], of)?;
                self.norm(difference, count, of)
            }
            M::Normalize => {
                let norm = self.norm(lanes[0], count, of)?;
                let norm = Lanes { step: 0, ..frame(norm, of) };
                Ok(self.arithmetic(B::Divide, count, lanes[0], norm, of)?.slot.at)
            }
            M::Cross => self.cross(lanes[0], lanes[1], of),
            M::FaceForward => self.face_forward(&lanes, count, of),
            M::Reflect => self.reflect(lanes[0], lanes[1], count, of),
            M::Refract => self.refract(&lanes, count, of),
            M::Transpose => self.transpose(lanes[0].slot, arguments[0]),
            M::Determinant => self.determinant_of(lanes[0].slot, arguments[0]),
            M::Modf | M::Frexp => self.split(fun, lanes[0], count, of, whole),
            M::Dot4I8Packed | M::Dot4U8Packed => self.map2(float::dot_packed(fun), 1, lanes[0], lanes[1], 4),
            _ => self.other(fun, whole, &lanes, count, of),
        }
    }

    /// Functions that treat each component alike, and those of packed words.
    fn other(&mut self, fun: M, whole: Handle<E>, lanes: &[Lanes], count: u32, of: Scalar) -> Compiled<u32> {
        let a = lanes[0];
        if let Some(f) = float::pack(fun) {
            let out = self.out(1, 4)?;
            self.ops.push(Op::Pack { f, count, a, out });
            return Ok(out.at);
        }
        if let Some(f) = float::unpack(fun) {
            let count = self.count(whole);
            let out = self.out(count, 4)?;
            self.ops.push(Op::Unpack { f, count, a, out });
            return Ok(out.at);
        }
        let out = self.out(count, of.width)?;
        let op = match *lanes {
            [a] => scalar::math1(fun, of).map(|f| Op::Map1 { f, count, a, out }),
            [a, b] => scalar::math2(fun, of).map(|f| Op::Map2 { f, count, a, b, out }),
            [a, b, c] => scalar::math3(fun, of).map(|f| Op::Map3 { f, count, lanes: [a, b, c], out }),
            [a, b, c, d] => scalar::math4(fun, of).map(|f| Op::Map4 { f, count, lanes: [a, b, c, d], out }),
            _ => None,
        };
        let Some(op) = op else { return refused(format!("the function {fun:?}")) };
        self.ops.push(op);
        Ok(out.at)
    }

    fn arithmetic(&mut self, op: B, count: u32, a: Lanes, b: Lanes, of: Scalar) -> Compiled<Lanes> {
        let at = self.map2(scalar::binary(op, of), count, a, b, of.width)?;
        Ok(frame(at, of))
    }

    /// The square root of the sum of squares.
    fn norm(&mut self, a: Lanes, count: u32, of: Scalar) -> Compiled<u32> {
        let squares = self.dots(count, &[(a, a)], of)?;
        let out = self.out(1, of.width)?;
        self.map1(scalar::math1(M::Sqrt, of), 1, frame(squares, of), out)
    }

    fn cross(&mut self, a: Lanes, b: Lanes, of: Scalar) -> Compiled<u32> {
        let out = self.out(3, of.width)?;
        let at = |lanes: Lanes, i: u32| Lanes { slot: lanes.slot.plus(lanes.step * (i % 3)), ..lanes };
        for i in 0..3 {
            let left = self.arithmetic(B::Multiply, 1, at(a, i + 1), at(b, i + 2), of)?;
            let right = self.arithmetic(B::Multiply, 1, at(a, i + 2), at(b, i + 1), of)?;
            let difference = self.arithmetic(B::Subtract, 1, left, right, of)?;
            let (width, step) = (u32::from(of.width), out.at + i * u32::from(of.width));
            self.ops.push(Op::Copy { from: difference.slot, at: step, bytes: width });
        }
        Ok(out.at)
    }

    fn face_forward(&mut self, lanes: &[Lanes], count: u32, of: Scalar) -> Compiled<u32> {
        let dot = frame(self.dots(count, &[(lanes[1], lanes[2])], of)?, of);
        let zero = self.number(0.0, of)?;
        let negative = self.map2(scalar::binary(B::Less, of), 1, dot, zero, 1)?;
        let out = self.out(count, of.width)?;
        let opposite = self.map1(scalar::unary(U::Negate, of), count, lanes[0], out)?;
        let bytes = count * u32::from(of.width);
        let at = self.alloc(bytes)?;
        let condition = Lanes { slot: Slot { constant: false, at: negative }, width: 1, step: 0 };
        let reject = Slot { constant: false, at: opposite };
        self.ops.push(Op::Select { condition, count: 1, accept: lanes[0].slot, reject, at, bytes });
        Ok(at)
    }

    /// `a - 2 * dot(b, a) * b`.
    fn reflect(&mut self, a: Lanes, b: Lanes, count: u32, of: Scalar) -> Compiled<u32> {
        let dot = frame(self.dots(count, &[(b, a)], of)?, of);
        let two = self.number(2.0, of)?;
        let twice = self.arithmetic(B::Multiply, 1, two, dot, of)?;
        let along = self.arithmetic(B::Multiply, count, Lanes { step: 0, ..twice }, b, of)?;
        Ok(self.arithmetic(B::Subtract, count, a, along, of)?.slot.at)
    }

    /// `ratio * a - (ratio * d + sqrt(k)) * b`, where `d` is `dot(b, a)` and `k` is
    /// `1 - ratio * ratio * (1 - d * d)`; zeros where `k` is negative.
    fn refract(&mut self, lanes: &[Lanes], count: u32, of: Scalar) -> Compiled<u32> {
        let (a, b, ratio) = (lanes[0], lanes[1], Lanes { step: 0, ..lanes[2] });
        let (zero, one) = (self.number(0.0, of)?, self.number(1.0, of)?);
        let d = frame(self.dots(count, &[(b, a)], of)?, of);
        let square = self.arithmetic(B::Multiply, 1, d, d, of)?;
        let rest = self.arithmetic(B::Subtract, 1, one, square, of)?;
        let ratios = self.arithmetic(B::Multiply, 1, ratio, ratio, of)?;
        let product = self.arithmetic(B::Multiply, 1, ratios, rest, of)?;
        let k = self.arithmetic(B::Subtract, 1, one, product, of)?;
        let negative = self.map2(scalar::binary(B::Less, of), 1, k, zero, 1)?;
        let out = self.out(1, of.width)?;
        let root = self.map1(scalar::math1(M::Sqrt, of), 1, k, out)?;
        let scaled = self.arithmetic(B::Multiply, 1, ratio, d, of)?;
        let along = self.arithmetic(B::Add, 1, scaled, frame(root, of), of)?;
        let along = self.arithmetic(B::Multiply, count, Lanes { step: 0, ..along }, b, of)?;
        let straight = self.arithmetic(B::Multiply, count, ratio, a, of)?;
        let result = self.arithmetic(B::Subtract, count, straight, along, of)?;
        let bytes = count * u32::from(of.width);
        let (nothing, at) = (self.alloc(bytes)?, self.alloc(bytes)?);
        self.ops.push(Op::Zero { at: nothing, bytes });
        let condition = Lanes { slot: Slot { constant: false, at: negative }, width: 1, step: 0 };
        let accept = Slot { constant: false, at: nothing };
        self.ops.push(Op::Select { condition, count: 1, accept, reject: result.slot, at, bytes });
        Ok(at)
    }

    fn transpose(&mut self, from: Slot, of: Handle<E>) -> Compiled<u32> {
        let T::Matrix { columns, rows, scalar } = *self.ty(of) else { return refused("a transposition") };
        let width = u32::from(scalar.width);
        let (old, new) = (column_stride(rows, scalar), column_stride(columns, scalar));
        let start = self.alloc(new * rows as u32)?;
        for (j, i) in (0..columns as u32).flat_map(|j| (0..rows as u32).map(move |i| (j, i))) {
            let (from, at) = (from.plus(j * old + i * width), start + i * new + j * width);
            self.ops.push(Op::Copy { from, at, bytes: width });
        }
        Ok(start)
    }

    fn determinant_of(&mut self, from: Slot, value: Handle<E>) -> Compiled<u32> {
        let T::Matrix { columns, rows, scalar } = *self.ty(value) else { return refused("a determinant") };
        let entry = |j: u32, i: u32| {
            let slot = from.plus(j * column_stride(rows, scalar) + i * u32::from(scalar.width));
            Lanes { slot, width: scalar.width, step: 0 }
        };
        let all: Vec<u32> = (0..columns as u32).collect();
        Ok(self.determinant(&entry, &all, 0, scalar)?.slot.at)
    }

    /// Of the columns that are left and the rows from `row` on, by the entries of the first row.
    fn determinant(
        &mut self,
        entry: &impl Fn(u32, u32) -> Lanes,
        columns: &[u32],
        row: u32,
        of: Scalar,
    ) -> Compiled<Lanes> {
        if let [column] = *columns {
            return Ok(entry(column, row));
        }
        let mut sum = None;
        for (k, column) in columns.iter().enumerate() {
            let others: Vec<u32> = columns.iter().copied().filter(|other| other != column).collect();
            let minor = self.determinant(entry, &others, row + 1, of)?;
            let term = self.arithmetic(B::Multiply, 1, entry(*column, row), minor, of)?;
            sum = Some(match sum {
                None => term,
                Some(sum) if k % 2 == 1 => self.arithmetic(B::Subtract, 1, sum, term, of)?,
                Some(sum) => self.arithmetic(B::Add, 1, sum, term, of)?,
            });
        }
        sum.map_or_else(|| refused("a matrix without columns"), Ok)
    }

    /// The two fields of what `modf` and `frexp` return.
    fn split(&mut self, fun: M, a: Lanes, count: u32, of: Scalar, whole: Handle<E>) -> Compiled<u32> {
        let T::Struct { members, span } = self.ty(whole) else { return refused(format!("{fun:?}")) };
        let ((first, second), width) = match fun {
            M::Modf => (float::modf(of.width), of.width),
            _ => (float::frexp(of.width), 4),
        };
        let start = self.alloc(*span)?;
        let outs = [(first, of.width), (second, width)];
        for ((f, width), member) in outs.into_iter().zip(members) {
            self.map1(Some(f), count, a, Out { at: start + member.offset, width })?;
        }
        Ok(start)
    }

    /// A number as a constant of a type.
    fn number(&mut self, number: f64, of: Scalar) -> Compiled<Lanes> {
        let at = self.constants.len().next_multiple_of(8);
        self.constants.resize(at, 0);
        match of.width {
            8 => self.constants.extend(number.to_ne_bytes()),
            _ => self.constants.extend((number as f32).to_ne_bytes()),
        }
        Ok(Lanes { slot: Slot { constant: true, at: at as u32 }, width: of.width, step: 0 })
    }
}

/// Components in the frame.
fn frame(at: u32, of: Scalar) -> Lanes {
    Lanes { slot: Slot { constant: false, at }, width: of.width, step: of.width.into() }
}
