//! Operations on one component. A component is a `u64`: its bits, with zeros above its width.

use super::component::{Binary, Component, Quaternary, Ternary, Unary, typed};
use naga::{BinaryOperator as B, MathFunction as M, Scalar, ScalarKind as K, UnaryOperator as U};

macro_rules! integer_binary {
    ($op:expr, $type:ty) => {
        match $op {
            B::Add => typed!(|a: $type, b: $type| a.wrapping_add(b)),
            B::Subtract => typed!(|a: $type, b: $type| a.wrapping_sub(b)),
            B::Multiply => typed!(|a: $type, b: $type| a.wrapping_mul(b)),
            B::Divide => typed!(|a: $type, b: $type| a.checked_div(b).unwrap_or(a)),
            B::Modulo => typed!(|a: $type, b: $type| a.checked_rem(b).unwrap_or(0)),
            B::And => typed!(|a: $type, b: $type| a & b),
            B::InclusiveOr => typed!(|a: $type, b: $type| a | b),
            B::ExclusiveOr => typed!(|a: $type, b: $type| a ^ b),
            B::ShiftLeft => typed!(|a: $type, b: u32| a.wrapping_shl(b)),
            B::ShiftRight => typed!(|a: $type, b: u32| a.wrapping_shr(b)),
            op => comparison!(op, $type),
        }
    };
}

macro_rules! comparison {
    ($op:expr, $type:ty) => {
        match $op {
            B::Equal => typed!(|a: $type, b: $type| a == b),
            B::NotEqual => typed!(|a: $type, b: $type| a != b),
            B::Less => typed!(|a: $type, b: $type| a < b),
            B::LessEqual => typed!(|a: $type, b: $type| a <= b),
            B::Greater => typed!(|a: $type, b: $type| a > b),
            B::GreaterEqual => typed!(|a: $type, b: $type| a >= b),
            _ => None,
        }
    };
}

macro_rules! float_binary {
    ($op:expr, $type:ty) => {
        match $op {
            B::Add => typed!(|a: $type, b: $type| a + b),
            B::Subtract => typed!(|a: $type, b: $type| a - b),
            B::Multiply => typed!(|a: $type, b: $type| a * b),
            B::Divide => typed!(|a: $type, b: $type| a / b),
            B::Modulo => typed!(|a: $type, b: $type| a - (a / b).trunc() * b),
            op => comparison!(op, $type),
        }
    };
}

pub(in crate::native) fn binary(op: B, of: Scalar) -> Option<Binary> {
    match (of.kind, of.width) {
        (K::Bool, _) => match op {
            B::And | B::LogicalAnd => typed!(|a: bool, b: bool| a & b),
            B::InclusiveOr | B::LogicalOr => typed!(|a: bool, b: bool| a | b),
            B::Equal => typed!(|a: bool, b: bool| a == b),
            B::NotEqual | B::ExclusiveOr => typed!(|a: bool, b: bool| a != b),
            _ => None,
        },
        (K::Uint, 4) => integer_binary!(op, u32),
        (K::Sint, 4) => integer_binary!(op, i32),
        (K::Uint, 8) => integer_binary!(op, u64),
        (K::Sint, 8) => integer_binary!(op, i64),
        (K::Float, 4) => float_binary!(op, f32),
        (K::Float, 8) => float_binary!(op, f64),
        _ => None,
    }
}

pub(in crate::native) fn unary(op: U, of: Scalar) -> Option<Unary> {
    match (op, of.kind, of.width) {
        (U::LogicalNot | U::BitwiseNot, K::Bool, _) => typed!(|a: bool| !a),
        (U::Negate, K::Sint, 4) => typed!(|a: i32| a.wrapping_neg()),
        (U::Negate, K::Sint, 8) => typed!(|a: i64| a.wrapping_neg()),
        (U::Negate, K::Float, 4) => typed!(|a: f32| -a),
        (U::Negate, K::Float, 8) => typed!(|a: f64| -a),
        (U::BitwiseNot, K::Sint | K::Uint, 4) => typed!(|a: u32| !a),
        (U::BitwiseNot, K::Sint | K::Uint, 8) => typed!(|a: u64| !a),
        _ => None,
    }
}

/// `kind(x)`; conversions of floating-point numbers to integers saturate, and NaN becomes 0.
pub(in crate::native) fn convert(from: Scalar, to: Scalar) -> Option<Unary> {
    macro_rules! from {
        ($type:ty, $zero:expr) => {
            match (to.kind, to.width) {
                (K::Bool, _) => typed!(|a: $type| a != $zero),
                (K::Uint, 4) => typed!(|a: $type| a as u32),
                (K::Sint, 4) => typed!(|a: $type| a as i32),
                (K::Uint, 8) => typed!(|a: $type| a as u64),
                (K::Sint, 8) => typed!(|a: $type| a as i64),
                (K::Float, 4) => typed!(|a: $type| a as f32),
                (K::Float, 8) => typed!(|a: $type| a as f64),
                _ => None,
            }
        };
    }
    match (from.kind, from.width) {
        (K::Bool, _) => match (to.kind, to.width) {
            (K::Bool, _) => Some(|a| a),
            (K::Uint | K::Sint, _) => Some(|a| a),
            (K::Float, 4) => typed!(|a: bool| f32::from(u8::from(a))),
            (K::Float, 8) => typed!(|a: bool| f64::from(u8::from(a))),
            _ => None,
        },
        (K::Uint, 4) => from!(u32, 0),
        (K::Sint, 4) => from!(i32, 0),
        (K::Uint, 8) => from!(u64, 0),
        (K::Sint, 8) => from!(i64, 0),
        (K::Float, 4) => from!(f32, 0.0),
        (K::Float, 8) => from!(f64, 0.0),
        _ => None,
    }
}

macro_rules! integer_math1 {
    ($fun:expr, $type:ty, $signed:expr) => {
        match $fun {
            M::CountTrailingZeros => typed!(|a: $type| a.trailing_zeros() as $type),
            M::CountLeadingZeros => typed!(|a: $type| a.leading_zeros() as $type),
            M::CountOneBits => typed!(|a: $type| a.count_ones() as $type),
            M::ReverseBits => typed!(|a: $type| a.reverse_bits()),
            M::FirstTrailingBit => {
                typed!(|a: $type| if a == 0 { !0 } else { a.trailing_zeros() as $type })
            }
            M::FirstLeadingBit => typed!(|a: $type| {
                let a = if $signed && a >> (<$type>::BITS - 1) != 0 { !a } else { a };
                ((<$type>::BITS - 1) as $type).wrapping_sub(a.leading_zeros() as $type)
            }),
            _ => None,
        }
    };
}

/// Functions of one component.
pub(in crate::native) fn math1(fun: M, of: Scalar) -> Option<Unary> {
    match (fun, of.kind, of.width) {
        (M::Abs, K::Uint, _) => Some(|a| a),
        (M::Abs, K::Sint, 4) => typed!(|a: i32| a.wrapping_abs()),
        (M::Abs, K::Sint, 8) => typed!(|a: i64| a.wrapping_abs()),
        (M::Sign, K::Sint, 4) => typed!(|a: i32| a.signum()),
        (M::Sign, K::Sint, 8) => typed!(|a: i64| a.signum()),
        (M::Sign, K::Uint, _) => Some(|a| u64::from(a != 0)),
        (_, K::Uint, 4) => integer_math1!(fun, u32, false),
        (_, K::Sint, 4) => integer_math1!(fun, i32, true),
        (_, K::Uint, 8) => integer_math1!(fun, u64, false),
        (_, K::Sint, 8) => integer_math1!(fun, i64, true),
        (_, K::Float, width @ (4 | 8)) => super::float::math1(fun, width),
        _ => None,
    }
}

macro_rules! least {
    ($fun:expr, $type:ty) => {
        match $fun {
            M::Min => typed!(|a: $type, b: $type| if b < a { b } else { a }),
            M::Max => typed!(|a: $type, b: $type| if a < b { b } else { a }),
            _ => None,
        }
    };
}

/// Functions of two components.
pub(in crate::native) fn math2(fun: M, of: Scalar) -> Option<Binary> {
    match (of.kind, of.width) {
        (K::Uint, 4) => least!(fun, u32),
        (K::Sint, 4) => least!(fun, i32),
        (K::Uint, 8) => least!(fun, u64),
        (K::Sint, 8) => least!(fun, i64),
        (K::Float, 4) => least!(fun, f32).or_else(|| super::float::math2(fun, 4)),
        (K::Float, 8) => least!(fun, f64).or_else(|| super::float::math2(fun, 8)),
        _ => None,
    }
}

macro_rules! clamp {
    ($type:ty) => {
        typed!(|a: $type, low: $type, high: $type| {
            let a = if a < low { low } else { a };
            if high < a { high } else { a }
        })
    };
}

macro_rules! extract_bits {
    ($type:ty, $unsigned:ty) => {
        typed!(|a: $type, offset: u32, count: u32| {
            let bits = <$type>::BITS;
            let offset = offset.min(bits);
            let count = count.min(bits - offset);
            if count == 0 {
                0
            } else {
                // (The right shift keeps the sign where there is one.)
                ((a as $unsigned) << (bits - offset - count)) as $type >> (bits - count)
            }
        })
    };
}

/// Functions of three components.
pub(in crate::native) fn math3(fun: M, of: Scalar) -> Option<Ternary> {
    match (fun, of.kind, of.width) {
        (M::Clamp, K::Uint, 4) => clamp!(u32),
        (M::Clamp, K::Sint, 4) => clamp!(i32),
        (M::Clamp, K::Uint, 8) => clamp!(u64),
        (M::Clamp, K::Sint, 8) => clamp!(i64),
        (M::Clamp, K::Float, 4) => clamp!(f32),
        (M::Clamp, K::Float, 8) => clamp!(f64),
        (M::ExtractBits, K::Uint, 4) => extract_bits!(u32, u32),
        (M::ExtractBits, K::Sint, 4) => extract_bits!(i32, u32),
        (M::ExtractBits, K::Uint, 8) => extract_bits!(u64, u64),
        (M::ExtractBits, K::Sint, 8) => extract_bits!(i64, u64),
        (_, K::Float, width @ (4 | 8)) => super::float::math3(fun, width),
        _ => None,
    }
}

macro_rules! insert_bits {
    ($type:ty) => {
        typed!(|a: $type, new: $type, offset: u32, count: u32| {
            let offset = offset.min(<$type>::BITS);
            let count = count.min(<$type>::BITS - offset);
            if count == 0 {
                a
            } else {
                let mask = <$type>::MAX >> (<$type>::BITS - count) << offset;
                a & !mask | new << offset & mask
            }
        })
    };
}

/// Functions of four components.
pub(in crate::native) fn math4(fun: M, of: Scalar) -> Option<Quaternary> {
    match (fun, of.width) {
        (M::InsertBits, 4) => insert_bits!(u32),
        (M::InsertBits, 8) => insert_bits!(u64),
        _ => None,
    }
}
