//! Components of values as bits: a `u64`, with zeros above the width.

pub(in crate::native) type Unary = fn(u64) -> u64;
pub(in crate::native) type Binary = fn(u64, u64) -> u64;
pub(in crate::native) type Ternary = fn(u64, u64, u64) -> u64;
pub(in crate::native) type Quaternary = fn(u64, u64, u64, u64) -> u64;

/// A Rust type as a component.
pub(in crate::native) trait Component: Copy {
    fn of(bits: u64) -> Self;
    fn bits(self) -> u64;
}

macro_rules! component {
    ($($type:ty, $of:expr, $bits:expr;)*) => { $(
        impl Component for $type {
            #[inline]
            fn of(bits: u64) -> Self {
                $of(bits)
            }
            #[inline]
            fn bits(self) -> u64 {
                $bits(self)
            }
        }
    )* };
}

component! {
    bool, |bits| bits & 1 != 0, u64::from;
    u32, |bits| bits as u32, u64::from;
    i32, |bits| bits as u32 as i32, |x| u64::from(x as u32);
    u64, |bits| bits, |x| x;
    i64, |bits| bits as i64, |x| x as u64;
    f32, |bits| f32::from_bits(bits as u32), |x| u64::from(f32::to_bits(x));
    f64, f64::from_bits, f64::to_bits;
}

/// A function of components from one of Rust types.
macro_rules! typed {
    (|$($name:ident: $type:ty),+| $body:expr) => {
        Some((|$($name: u64),+| {
            $(let $name = <$type as Component>::of($name);)+
            Component::bits($body)
        }) as fn($(typed!(@word $name)),+) -> u64)
    };
    (@word $name:ident) => { u64 };
}
pub(super) use typed;
