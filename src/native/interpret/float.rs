//! Functions of floating-point components, each operation rounded separately.

use naga::MathFunction as M;

use super::component::{Binary, Component, Ternary, Unary, typed};

macro_rules! math1 {
    ($fun:expr, $type:ident) => {
        match $fun {
            M::Abs => typed!(|a: $type| a.abs()),
            M::Saturate => typed!(|a: $type| {
                let a = if a < 0.0 { 0.0 } else { a };
                if 1.0 < a { 1.0 } else { a }
            }),
            M::Sign => typed!(|a: $type| {
                if 0.0 < a {
                    1.0
                } else if a < 0.0 {
                    -1.0
                } else {
                    0.0 as $type
                }
            }),
            M::Cos => typed!(|a: $type| a.cos()),
            M::Cosh => typed!(|a: $type| a.cosh()),
            M::Sin => typed!(|a: $type| a.sin()),
            M::Sinh => typed!(|a: $type| a.sinh()),
            M::Tan => typed!(|a: $type| a.tan()),
            M::Tanh => typed!(|a: $type| a.tanh()),
            M::Acos => typed!(|a: $type| a.acos()),
            M::Asin => typed!(|a: $type| a.asin()),
            M::Atan => typed!(|a: $type| a.atan()),
            M::Asinh => typed!(|a: $type| a.asinh()),
            M::Acosh => typed!(|a: $type| a.acosh()),
            M::Atanh => typed!(|a: $type| a.atanh()),
            M::Radians => typed!(|a: $type| a * (std::$type::consts::PI / 180.0)),
            M::Degrees => typed!(|a: $type| a * (180.0 / std::$type::consts::PI)),
            M::Ceil => typed!(|a: $type| a.ceil()),
            M::Floor => typed!(|a: $type| a.floor()),
            M::Round => typed!(|a: $type| a.round_ties_even()),
            M::Fract => typed!(|a: $type| a - a.floor()),
            M::Trunc => typed!(|a: $type| a.trunc()),
            M::Exp => typed!(|a: $type| a.exp()),
            M::Exp2 => typed!(|a: $type| a.exp2()),
            M::Log => typed!(|a: $type| a.ln()),
            M::Log2 => typed!(|a: $type| a.log2()),
            M::Sqrt => typed!(|a: $type| a.sqrt()),
            M::InverseSqrt => typed!(|a: $type| 1.0 / a.sqrt()),
            _ => None,
        }
    };
}

macro_rules! math2 {
    ($fun:expr, $type:ident) => {
        match $fun {
            M::Atan2 => typed!(|a: $type, b: $type| a.atan2(b)),
            M::Pow => typed!(|a: $type, b: $type| a.powf(b)),
            M::Step => typed!(|edge: $type, a: $type| if edge <= a { 1.0 } else { 0.0 as $type }),
            M::Ldexp => typed!(|a: $type, exponent: i32| (f64::from(a) * power(exponent)) as $type),
            _ => None,
        }
    };
}

macro_rules! math3 {
    ($fun:expr, $type:ident) => {
        match $fun {
            M::Fma => typed!(|a: $type, b: $type, c: $type| a * b + c),
            M::Mix => typed!(|a: $type, b: $type, t: $type| a * (1.0 - t) + b * t),
            M::SmoothStep => typed!(|low: $type, high: $type, a: $type| {
                let t = (a - low) / (high - low);
                let t = if t < 0.0 { 0.0 } else { t };
                let t = if 1.0 < t { 1.0 } else { t };
                t * t * (3.0 - 2.0 * t)
            }),
            _ => None,
        }
    };
}

// The functions of one, two and three components of 4 or 8 bytes.

pub(in crate::native) fn math1(fun: M, width: u8) -> Option<Unary> {
    match (fun, width) {
        (M::QuantizeToF16, 4) => typed!(|a: f32| from_half(to_half(a))),
        (fun, 4) => math1!(fun, f32),
        (fun, _) => math1!(fun, f64),
    }
}

pub(in crate::native) fn math2(fun: M, width: u8) -> Option<Binary> {
    if width == 4 { math2!(fun, f32) } else { math2!(fun, f64) }
}

pub(in crate::native) fn math3(fun: M, width: u8) -> Option<Ternary> {
    if width == 4 { math3!(fun, f32) } else { math3!(fun, f64) }
}

/// A power of two; exact products with an `f32` need exponents of this range alone.
fn power(exponent: i32) -> f64 {
    f64::powi(2.0, exponent.clamp(-1022, 1023))
}

/// The fields of `frexp`: a fraction in [0.5, 1) with its sign, and the exponent.
pub(in crate::native) fn frexp(width: u8) -> (Unary, Unary) {
    fn split(a: f64) -> (f64, i32) {
        let exponent = (a.to_bits() >> 52 & 0x7ff) as i32;
        match exponent {
            0 if a == 0.0 => (a, 0),
            0 => {
                let (fraction, exponent) = split(a * power(64));
                (fraction, exponent - 64)
            }
            0x7ff => (a, 0),
            _ => (f64::from_bits(a.to_bits() & !(0x7ff << 52) | 0x3fe << 52), exponent - 1022),
        }
    }
    if width == 8 {
        (|a| split(f64::of(a)).0.bits(), |a| split(f64::of(a)).1.bits())
    } else {
        (|a| (split(f32::of(a).into()).0 as f32).bits(), |a| split(f32::of(a).into()).1.bits())
    }
}

/// The fields of `modf`: the fraction and the whole part.
pub(in crate::native) fn modf(width: u8) -> (Unary, Unary) {
    if width == 8 {
        (|a| (f64::of(a) - f64::of(a).trunc()).bits(), |a| f64::of(a).trunc().bits())
    } else {
        (|a| (f32::of(a) - f32::of(a).trunc()).bits(), |a| f32::of(a).trunc().bits())
    }
}

/// The nearest number of 16 bits, ties to even; too large ones become infinite.
fn to_half(a: f32) -> u16 {
    let (sign, magnitude) = ((a.to_bits() >> 16 & 0x8000) as u16, a.abs());
    sign | if a.is_nan() {
        0x7e00
    } else if magnitude >= 65520.0 {
        0x7c00
    } else if magnitude < f32::from_bits(0x3880_0000) {
        // Subnormal: multiples of 2^-24.
        (magnitude * f32::from_bits(0x4b80_0000)).round_ties_even() as u16
    } else {
        let bits = magnitude.to_bits();
        let rounded = bits + 0xfff + (bits >> 13 & 1);
        ((rounded >> 13) - (112 << 10)) as u16
    }
}

fn from_half(half: u16) -> f32 {
    let (exponent, fraction) = (u32::from(half >> 10 & 0x1f), u32::from(half & 0x3ff));
    let magnitude = match exponent {
        0 => fraction as f32 * f32::from_bits(0x3380_0000),
        0x1f => f32::from_bits(0x7f80_0000 | (fraction << 13)),
        _ => f32::from_bits(((exponent + 112) << 23) | (fraction << 13)),
    };
    f32::from_bits(magnitude.to_bits() | u32::from(half & 0x8000) << 16)
}

/// A word from the components of a vector.
pub(in crate::native) type Pack = fn([u64; 4]) -> u64;

pub(in crate::native) fn pack(fun: M) -> Option<Pack> {
    fn bytes(components: [u64; 4], byte: impl Fn(u64) -> u8) -> u64 {
        u32::from_le_bytes(components.map(byte)).into()
    }
    fn halves(components: [u64; 4], half: impl Fn(u64) -> u16) -> u64 {
        u64::from(half(components[0])) | u64::from(half(components[1])) << 16
    }
    /// `floor(0.5 + scale * a)` for a number brought into [low, 1].
    fn norm(a: u64, low: f32, scale: f32) -> f32 {
        let a = f32::of(a);
        let a = if a < low { low } else { a };
        let a = if 1.0 < a { 1.0 } else { a };
        (0.5 + scale * a).floor()
    }
    Some(match fun {
        M::Pack4x8snorm => |c| bytes(c, |a| norm(a, -1.0, 127.0) as i8 as u8),
        M::Pack4x8unorm => |c| bytes(c, |a| norm(a, 0.0, 255.0) as u8),
        M::Pack2x16snorm => |c| halves(c, |a| norm(a, -1.0, 32767.0) as i16 as u16),
        M::Pack2x16unorm => |c| halves(c, |a| norm(a, 0.0, 65535.0) as u16),
        M::Pack2x16float => |c| halves(c, |a| to_half(f32::of(a))),
        M::Pack4xI8 | M::Pack4xU8 => |c| bytes(c, |a| a as u8),
        M::Pack4xI8Clamp => |c| bytes(c, |a| i32::of(a).clamp(-128, 127) as u8),
        M::Pack4xU8Clamp => |c| bytes(c, |a| (a as u32).min(255) as u8),
        _ => return None,
    })
}

/// The components of a vector from a word.
pub(in crate::native) type Unpack = fn(u64) -> [u64; 4];

pub(in crate::native) fn unpack(fun: M) -> Option<Unpack> {
    fn bytes(word: u64, component: impl Fn(u8) -> u64) -> [u64; 4] {
        (word as u32).to_le_bytes().map(component)
    }
    fn halves(word: u64, component: impl Fn(u16) -> u64) -> [u64; 4] {
        [component(word as u16), component((word >> 16) as u16), 0, 0]
    }
    fn snorm(a: f32, scale: f32) -> u64 {
        let a = a / scale;
        (if a < -1.0 { -1.0 } else { a }).bits()
    }
    Some(match fun {
        M::Unpack4x8snorm => |w| bytes(w, |a| snorm(f32::from(a as i8), 127.0)),
        M::Unpack4x8unorm => |w| bytes(w, |a| (f32::from(a) / 255.0).bits()),
        M::Unpack2x16snorm => |w| halves(w, |a| snorm(f32::from(a as i16), 32767.0)),
        M::Unpack2x16unorm => |w| halves(w, |a| (f32::from(a) / 65535.0).bits()),
        M::Unpack2x16float => |w| halves(w, |a| from_half(a).bits()),
        M::Unpack4xI8 => |w| bytes(w, |a| i32::from(a as i8).bits()),
        M::Unpack4xU8 => |w| bytes(w, u64::from),
        _ => return None,
    })
}

/// Products of packed bytes, added up.
pub(in crate::native) fn dot_packed(fun: M) -> Option<Binary> {
    fn sum(a: u64, b: u64, product: impl Fn(u8, u8) -> i32) -> u64 {
        let (a, b) = ((a as u32).to_le_bytes(), (b as u32).to_le_bytes());
        a.into_iter().zip(b).map(|(a, b)| product(a, b)).sum::<i32>().bits()
    }
    match fun {
        M::Dot4I8Packed => Some(|a, b| sum(a, b, |a, b| i32::from(a as i8) * i32::from(b as i8))),
        M::Dot4U8Packed => Some(|a, b| sum(a, b, |a, b| i32::from(a) * i32::from(b))),
        _ => None,
    }
}
