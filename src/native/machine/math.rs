//! Built-in functions: the frequent ones as instructions, the others by the host.

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{InstBuilder, Type, Value, types};
use naga::{
    BinaryOperator as B, Expression as E, Handle, MathFunction as M, Scalar, ScalarKind as K, TypeInner as T,
};

use super::super::interpret::{float, scalar as host};
use super::host::Host;
use super::translate::{Frame, Translator, zero};
use super::types::{register, scalar};
use super::{Translated, refused};

impl<'m> Translator<'_, 'm> {
    /// `whole` is the call of the built-in function.
    pub(super) fn math(
        &mut self,
        frame: &mut Frame<'m>,
        fun: M,
        whole: Handle<E>,
        arguments: &[Handle<E>],
    ) -> Translated<Vec<Value>> {
        let inner = self.ty(frame, arguments[0]);
        let of = scalar(inner)?;
        let mut values = Vec::new();
        for argument in arguments {
            values.push(self.expression(frame, *argument)?.scalars()?);
        }
        let a = values[0].clone();
        match (fun, inner) {
            (M::Transpose, T::Matrix { columns, rows, .. }) => {
                let (columns, rows) = (*columns as usize, *rows as usize);
                let order = (0..rows).flat_map(|row| (0..columns).map(move |column| column * rows + row));
                Ok(order.map(|i| a[i]).collect())
            }
            (M::Determinant, T::Matrix { columns, .. }) => {
                Ok(vec![self.determinant(of, *columns as usize, &a)?])
            }
            (M::Modf | M::Frexp, _) => self.split_float(fun, of, &a),
            _ => {
                let results = scalar_count(self.ty(frame, whole));
                match self.geometry(fun, of, &values)? {
                    Some(result) => Ok(result),
                    None => self.components(fun, of, &values, results),
                }
            }
        }
    }

    /// Functions of whole vectors.
    fn geometry(&mut self, fun: M, of: Scalar, values: &[Vec<Value>]) -> Translated<Option<Vec<Value>>> {
        let a = &values[0];
        Ok(Some(match fun {
            M::Dot => vec![self.dot_of(of, a, &values[1])?],
            M::Length => vec![self.norm(of, a)?],
            M::Distance => {
                let difference = self.each(B::Subtract, of, a, &values[1])?;
                vec![self.norm(of, &difference)?]
            }
            M::Normalize => {
                let norm = self.norm(of, a)?;
                self.each(B::Divide, of, a, &[norm])?
            }
            M::Cross => self.cross(of, a, &values[1])?,
            M::FaceForward => {
                let product = self.dot_of(of, &values[1], &values[2])?;
                let zero = zero(&mut self.b, register(of)?);
                let forward = self.b.ins().fcmp(FloatCC::LessThan, product, zero);
                let turn = |value: &Value| {
                    let turned = self.b.ins().fneg(*value);
                    self.b.ins().select(forward, *value, turned)
                };
                a.iter().map(turn).collect()
            }
            M::Reflect => {
                let product = self.dot_of(of, &values[1], a)?;
                let twice = self.binary(B::Add, of, product, product)?;
                let away = self.each(B::Multiply, of, &values[1], &[twice])?;
                self.each(B::Subtract, of, a, &away)?
            }
            M::Refract => self.refract(of, a, &values[1], values[2][0])?,
            _ => return Ok(None),
        }))
    }

    fn refract(&mut self, of: Scalar, a: &[Value], normal: &[Value], ratio: Value) -> Translated<Vec<Value>> {
        let product = self.dot_of(of, normal, a)?;
        let one = self.float(of, 1.0);
        let square = self.binary(B::Multiply, of, product, product)?;
        let rest = self.binary(B::Subtract, of, one, square)?;
        let ratios = self.binary(B::Multiply, of, ratio, ratio)?;
        let scaled = self.binary(B::Multiply, of, ratios, rest)?;
        let k = self.binary(B::Subtract, of, one, scaled)?;
        let root = self.b.ins().sqrt(k);
        let along = self.binary(B::Multiply, of, ratio, product)?;
        let along = self.binary(B::Add, of, along, root)?;
        let (a, b) =
            (self.each(B::Multiply, of, a, &[ratio])?, self.each(B::Multiply, of, normal, &[along])?);
        let through = self.each(B::Subtract, of, &a, &b)?;
        let zero = zero(&mut self.b, register(of)?);
        let total = self.b.ins().fcmp(FloatCC::LessThan, k, zero);
        Ok(through.into_iter().map(|value| self.b.ins().select(total, zero, value)).collect())
    }

    fn dot_of(&mut self, of: Scalar, a: &[Value], b: &[Value]) -> Translated<Value> {
        let pairs: Vec<_> = a.iter().copied().zip(b.iter().copied()).collect();
        self.dot(of, &pairs)
    }

    /// The square root of the sum of squares.
    fn norm(&mut self, of: Scalar, a: &[Value]) -> Translated<Value> {
        let squares = self.dot_of(of, a, a)?;
        Ok(self.b.ins().sqrt(squares))
    }

    /// An operator on components; of one number with all, where there is one.
    fn each(&mut self, op: B, of: Scalar, a: &[Value], b: &[Value]) -> Translated<Vec<Value>> {
        let one = |i: usize| b.get(i).copied().unwrap_or(b[0]);
        a.iter().enumerate().map(|(i, a)| self.binary(op, of, *a, one(i))).collect()
    }

    fn cross(&mut self, of: Scalar, a: &[Value], b: &[Value]) -> Translated<Vec<Value>> {
        let component = |i: usize| {
            let (j, k) = ((i + 1) % 3, (i + 2) % 3);
            let left = self.binary(B::Multiply, of, a[j], b[k])?;
            let right = self.binary(B::Multiply, of, a[k], b[j])?;
            self.binary(B::Subtract, of, left, right)
        };
        (0..3).map(component).collect()
    }

    /// By the first column.
    fn determinant(&mut self, of: Scalar, size: usize, a: &[Value]) -> Translated<Value> {
        if size == 1 {
            return Ok(a[0]);
        }
        let mut sum = None;
        for row in 0..size {
            let minor = (size..a.len()).filter(|i| i % size != row).map(|i| a[i]).collect::<Vec<_>>();
            let minor = self.determinant(of, size - 1, &minor)?;
            let term = self.binary(B::Multiply, of, a[row], minor)?;
            let op = if row % 2 == 0 { B::Add } else { B::Subtract };
            sum = Some(match sum {
                Some(sum) => self.binary(op, of, sum, term)?,
                None => term,
            });
        }
        Ok(sum.unwrap_or(a[0]))
    }

    /// `modf` and `frexp`: a structure of two numbers or vectors.
    fn split_float(&mut self, fun: M, of: Scalar, a: &[Value]) -> Translated<Vec<Value>> {
        let ty = register(of)?;
        let (first, second, other) = match fun {
            M::Modf => (float::modf(of.width).0, float::modf(of.width).1, ty),
            _ => (float::frexp(of.width).0, float::frexp(of.width).1, types::I32),
        };
        let mut values: Vec<_> = a.iter().map(|a| self.host(Host::Unary(first), &[*a], ty)).collect();
        values.extend(a.iter().map(|a| self.host(Host::Unary(second), &[*a], other)));
        Ok(values)
    }

    /// Functions of each component, and of packed words.
    fn components(
        &mut self,
        fun: M,
        of: Scalar,
        values: &[Vec<Value>],
        results: usize,
    ) -> Translated<Vec<Value>> {
        if let Some(f) = float::pack(fun) {
            return Ok(vec![self.host(Host::Pack(f), &values[0], types::I32)]);
        }
        if let Some(f) = float::unpack(fun) {
            let ty = match fun {
                M::Unpack4xI8 | M::Unpack4xU8 => types::I32,
                _ => types::F32,
            };
            let component = |i| self.host(Host::Unpack(f, i), &values[0], ty);
            return Ok((0..results as u64).map(component).collect());
        }
        if let Some(f) = float::dot_packed(fun) {
            return Ok(vec![self.host(Host::Binary(f), &[values[0][0], values[1][0]], types::I32)]);
        }
        let count = values.iter().map(Vec::len).max().unwrap_or(0);
        let component = |i: usize| {
            let one = |values: &Vec<Value>| values.get(i).copied().unwrap_or(values[0]);
            self.function(fun, of, &values.iter().map(one).collect::<Vec<_>>())
        };
        (0..count).map(component).collect()
    }

    /// A function of components.
    pub(super) fn function(&mut self, fun: M, of: Scalar, values: &[Value]) -> Translated<Value> {
        let instructions = match of.kind {
            K::Float => self.float_function(fun, of, values)?,
            _ => self.integer_function(fun, of, values)?,
        };
        if let Some(value) = instructions {
            return Ok(value);
        }
        let host = match values.len() {
            1 => host::math1(fun, of).map(Host::Unary),
            2 => host::math2(fun, of).map(Host::Binary),
            3 => host::math3(fun, of).map(Host::Ternary),
            _ => host::math4(fun, of).map(Host::Quaternary),
        };
        let Some(host) = host else { return refused(format!("the function {fun:?} of this type")) };
        Ok(self.host(host, values, register(of)?))
    }

    fn integer_function(&mut self, fun: M, of: Scalar, values: &[Value]) -> Translated<Option<Value>> {
        let (ty, signed, a) = (register(of)?, of.kind == K::Sint, values[0]);
        let b = self.b.ins();
        Ok(Some(match (fun, values) {
            (M::Abs, _) if signed => b.iabs(a),
            (M::Abs, _) => a,
            (M::Min, [a, other]) if signed => b.smin(*a, *other),
            (M::Min, [a, other]) => b.umin(*a, *other),
            (M::Max, [a, other]) if signed => b.smax(*a, *other),
            (M::Max, [a, other]) => b.umax(*a, *other),
            (M::Clamp, [a, low, high]) if signed => {
                let a = b.smax(*a, *low);
                self.b.ins().smin(a, *high)
            }
            (M::Clamp, [a, low, high]) => {
                let a = b.umax(*a, *low);
                self.b.ins().umin(a, *high)
            }
            (M::CountTrailingZeros, _) => b.ctz(a),
            (M::CountLeadingZeros, _) => b.clz(a),
            (M::CountOneBits, _) => b.popcnt(a),
            (M::ReverseBits, _) => b.bitrev(a),
            (M::FirstTrailingBit, _) => {
                let count = b.ctz(a);
                let none = self.b.ins().iconst(ty, bits(ty, u64::MAX));
                let is_zero = self.b.ins().icmp_imm(IntCC::Equal, a, 0);
                self.b.ins().select(is_zero, none, count)
            }
            (M::FirstLeadingBit, _) => {
                let last = i64::from(ty.bits()) - 1;
                let a = if signed {
                    let sign = b.sshr_imm(a, last);
                    self.b.ins().bxor(a, sign)
                } else {
                    a
                };
                let zeros = self.b.ins().clz(a);
                self.b.ins().irsub_imm(zeros, last)
            }
            _ => return Ok(None),
        }))
    }

    fn float_function(&mut self, fun: M, of: Scalar, values: &[Value]) -> Translated<Option<Value>> {
        let a = values[0];
        Ok(Some(match (fun, values) {
            (M::Abs, _) => self.b.ins().fabs(a),
            (M::Min, [a, other]) => self.least(*a, *other),
            (M::Max, [a, other]) => self.greatest(*a, *other),
            (M::Clamp, [a, low, high]) => {
                let a = self.greatest(*a, *low);
                self.least(a, *high)
            }
            (M::Saturate, _) => {
                let (low, high) = (self.float(of, 0.0), self.float(of, 1.0));
                let a = self.greatest(a, low);
                self.least(a, high)
            }
            (M::Ceil, _) => self.b.ins().ceil(a),
            (M::Floor, _) => self.b.ins().floor(a),
            (M::Trunc, _) => self.b.ins().trunc(a),
            (M::Round, _) => self.b.ins().nearest(a),
            (M::Fract, _) => {
                let floor = self.b.ins().floor(a);
                self.b.ins().fsub(a, floor)
            }
            (M::Sqrt, _) => self.b.ins().sqrt(a),
            (M::InverseSqrt, _) => {
                let (root, one) = (self.b.ins().sqrt(a), self.float(of, 1.0));
                self.b.ins().fdiv(one, root)
            }
            // Rounded twice, as WGSL allows.
            (M::Fma, [a, b, c]) => {
                let product = self.b.ins().fmul(*a, *b);
                self.b.ins().fadd(product, *c)
            }
            (M::Mix, [a, b, t]) => {
                let one = self.float(of, 1.0);
                let rest = self.b.ins().fsub(one, *t);
                let (a, b) = (self.b.ins().fmul(*a, rest), self.b.ins().fmul(*b, *t));
                self.b.ins().fadd(a, b)
            }
            (M::Step, [edge, a]) => {
                let (low, high) = (self.float(of, 0.0), self.float(of, 1.0));
                let reached = self.b.ins().fcmp(FloatCC::LessThanOrEqual, *edge, *a);
                self.b.ins().select(reached, high, low)
            }
            _ => return Ok(None),
        }))
    }

    fn least(&mut self, a: Value, b: Value) -> Value {
        let is = self.b.ins().fcmp(FloatCC::LessThan, b, a);
        self.b.ins().select(is, b, a)
    }

    fn greatest(&mut self, a: Value, b: Value) -> Value {
        let is = self.b.ins().fcmp(FloatCC::LessThan, a, b);
        self.b.ins().select(is, b, a)
    }

    fn float(&mut self, of: Scalar, value: f32) -> Value {
        match of.width {
            8 => self.b.ins().f64const(f64::from(value)),
            _ => self.b.ins().f32const(value),
        }
    }
}

/// The scalars of a scalar or vector.
fn scalar_count(inner: &T) -> usize {
    match inner {
        T::Vector { size, .. } => *size as usize,
        _ => 1,
    }
}

/// A word cut to the width of a type.
fn bits(ty: Type, word: u64) -> i64 {
    (word >> (64 - ty.bits())).cast_signed()
}
