//! Regions: the input of callers.

use bytemuck::{Pod, Zeroable};

/// An axis-parallel box in `D` dimensions: in dimension `d` the half-open interval `[lo[d],
/// hi[d])`.
///
/// A region with `lo[d] == hi[d]` in any dimension is empty and overlaps nothing. On the device a
/// region is its `2·D` words in this order, so application kernels can write buffers of regions.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(C)]
pub struct Region<T, const D: usize> {
    /// Lower bounds, inside the region.
    pub lo: [T; D],
    /// Upper bounds, outside the region.
    pub hi: [T; D],
}

// SAFETY: two arrays of the same plain type, `repr(C)`: no padding, and zeroes are a valid value.
unsafe impl<T: Zeroable, const D: usize> Zeroable for Region<T, D> {}
// SAFETY: as above; every byte belongs to a bound, and any bytes are valid bounds.
unsafe impl<T: Pod, const D: usize> Pod for Region<T, D> {}

impl<T: Copy + PartialOrd, const D: usize> Region<T, D> {
    /// The region from `lo` up to `hi`, exclusive.
    pub fn new(lo: [T; D], hi: [T; D]) -> Self {
        Self { lo, hi }
    }

    /// [`Region::new`] from vectors of `glam`: `Vec2`, `Vec3`, `Vec3A`, `Vec4`, `UVec2` and so on.
    pub fn between(lo: impl Into<[T; D]>, hi: impl Into<[T; D]>) -> Self {
        Self::new(lo.into(), hi.into())
    }

    /// Whether two regions have a point in common: their intervals overlap in every dimension.
    ///
    /// This defines a match; the kernels agree with it.
    pub fn overlaps(&self, other: &Self) -> bool {
        !self.is_empty()
            && !other.is_empty()
            && (0..D).all(|d| self.lo[d] < other.hi[d] && other.lo[d] < self.hi[d])
    }

    /// Whether it has no point.
    pub fn is_empty(&self) -> bool {
        (0..D).any(|d| self.lo[d] == self.hi[d])
    }
}

impl<const D: usize> Region<f32, D> {
    /// The box around `centre` that extends by `half` on both sides, in each dimension. Accepts
    /// vectors or arrays.
    ///
    /// ```
    /// use eventhorizon::glam::{Vec2, Vec3, Vec3A};
    /// use eventhorizon::matching::Region;
    ///
    /// let near = Region::around(Vec3::new(1.0, 2.0, 3.0), Vec3::splat(0.5));
    /// assert_eq!(near, Region::between(Vec3A::new(0.5, 1.5, 2.5), Vec3A::new(1.5, 2.5, 3.5)));
    /// assert!(Region::around(Vec2::ZERO, Vec2::ONE).overlaps(&Region::new([0.5, 0.5], [2.0, 2.0])));
    /// ```
    pub fn around(centre: impl Into<[f32; D]>, half: impl Into<[f32; D]>) -> Self {
        let (centre, half) = (centre.into(), half.into());
        let at = |sign: f32| std::array::from_fn(|d| centre[d] + sign * half[d]);
        Self::new(at(-1.0), at(1.0))
    }
}

/// The number type of bounds on the device: `u32` (as in the HLA standard), `i32` or `f32`.
///
/// Each value has a *key*: a `u32` with the same order, equal for equal values. Kernels compare
/// only keys, so results are exact for every type.
pub trait Coordinate: Pod + Bound {
    /// How kernels read it.
    #[doc(hidden)]
    const KIND: Kind;
    /// The order-preserving key.
    fn key(self) -> u32;
}

/// How the bits of a bound are interpreted.
#[doc(hidden)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    U32 = 0,
    I32 = 1,
    F32 = 2,
}

impl From<Kind> for u32 {
    fn from(kind: Kind) -> Self {
        kind as Self
    }
}

const SIGN: u32 = 1 << 31;

/// The number type of bounds on the host: those of [`Coordinate`], `i64`, `i128` and `f64`.
/// [`narrow`](super::narrow) converts the wider ones for the device.
pub trait Bound: Copy + PartialOrd + std::fmt::Display + Send + Sync + sealed::Sealed {
    /// The type that is compared instead.
    #[doc(hidden)]
    type Key: Key;
    /// An integer with the same order, equal for equal values.
    #[doc(hidden)]
    fn to_key(self) -> Self::Key;
}

/// An integer that represents a bound.
#[doc(hidden)]
pub trait Key: Ord + Copy + Send + Sync + std::fmt::Debug {
    /// A key with an index: sorted by keys, then by indices.
    type Indexed: Ord + Copy + Send + Sync;
    /// The distance above `origin`, if it fits 32 bits.
    fn above(self, origin: Self) -> Option<u32>;
    fn with_index(self, index: u32) -> Self::Indexed;
    fn index(indexed: Self::Indexed) -> u32;
}

impl Key for u32 {
    // Sorts compare one number faster than a pair.
    type Indexed = u64;

    fn above(self, origin: Self) -> Option<u32> {
        self.checked_sub(origin)
    }

    fn with_index(self, index: u32) -> u64 {
        u64::from(self) << 32 | u64::from(index)
    }

    fn index(indexed: u64) -> u32 {
        low_word(indexed)
    }
}

impl Key for i64 {
    type Indexed = i128;

    fn above(self, origin: Self) -> Option<u32> {
        self.checked_sub(origin).and_then(|distance| distance.try_into().ok())
    }

    fn with_index(self, index: u32) -> i128 {
        i128::from(self) << 32 | i128::from(index)
    }

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the low bits")]
    fn index(indexed: i128) -> u32 {
        low_word(indexed as u64)
    }
}

impl Key for i128 {
    type Indexed = (i128, u32);

    fn above(self, origin: Self) -> Option<u32> {
        self.checked_sub(origin).and_then(|distance| distance.try_into().ok())
    }

    fn with_index(self, index: u32) -> (i128, u32) {
        (self, index)
    }

    fn index(indexed: (i128, u32)) -> u32 {
        indexed.1
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the low bits")]
fn low_word(indexed: u64) -> u32 {
    indexed as u32
}

macro_rules! bounds {
    ($($bound:ty: $key:ty, $to_key:expr;)*) => {$(
        impl Bound for $bound {
            type Key = $key;
            fn to_key(self) -> $key {
                $to_key(self)
            }
        }
        impl sealed::Sealed for $bound {}
    )*};
}
bounds! {
    u32: u32, Coordinate::key;
    i32: u32, Coordinate::key;
    f32: u32, Coordinate::key;
    i64: i64, std::convert::identity;
    i128: i128, std::convert::identity;
    f64: i64, double_key;
}

fn double_key(value: f64) -> i64 {
    // As for `f32`: one zero. All bits of negative numbers except the sign are inverted.
    let bits = (value + 0.0).to_bits().cast_signed();
    if bits < 0 { bits ^ i64::MAX } else { bits }
}

impl Coordinate for u32 {
    const KIND: Kind = Kind::U32;
    fn key(self) -> u32 {
        self
    }
}

impl Coordinate for i32 {
    const KIND: Kind = Kind::I32;
    fn key(self) -> u32 {
        self.cast_unsigned() ^ SIGN
    }
}

impl Coordinate for f32 {
    const KIND: Kind = Kind::F32;
    fn key(self) -> u32 {
        // The two zeroes are equal. Adding a positive zero maps both to it.
        let bits = (self + 0.0).to_bits();
        if bits & SIGN == 0 { bits | SIGN } else { !bits }
    }
}

mod sealed {
    /// Restricts the types to those of the library.
    pub trait Sealed {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn keys_have_the_order_of_the_values(a: f32, b: f32, i: i32, j: i32, x: f64, y: f64) {
            if !a.is_nan() && !b.is_nan() {
                prop_assert_eq!(a.partial_cmp(&b), Some(a.key().cmp(&b.key())));
            }
            prop_assert_eq!(i.cmp(&j), i.key().cmp(&j.key()));
            prop_assert_eq!(x.partial_cmp(&y), Some(x.to_key().cmp(&y.to_key())));
        }
    }

    #[test]
    fn zeroes_and_infinities_have_their_place() {
        assert_eq!((-0.0f32).key(), 0.0f32.key());
        assert!(f32::NEG_INFINITY.key() < f32::MIN.key() && f32::MAX.key() < f32::INFINITY.key());
        assert!((-1e-45f32).key() < 0.0f32.key() && 0.0f32.key() < 1e-45f32.key());
        assert_eq!((-0.0f64).to_key(), 0.0f64.to_key());
        assert!(f64::NEG_INFINITY.to_key() < f64::MIN.to_key() && f64::MAX.to_key() < f64::INFINITY.to_key());
    }

    #[test]
    fn vectors_make_the_regions_that_arrays_make() {
        use glam::{UVec2, Vec2, Vec3, Vec3A, Vec4};

        assert_eq!(
            Region::between(Vec2::new(1.0, 2.0), Vec2::new(3.0, 4.0)),
            Region::new([1.0, 2.0], [3.0, 4.0])
        );
        // A Vec3A has 16 bytes; a region uses three numbers of it.
        let (lo, hi) = ([1.0, 2.0, 3.0], [4.0, 5.0, 6.0]);
        assert_eq!(Region::between(Vec3A::from(lo), Vec3::from(hi)), Region::new(lo, hi));
        assert_eq!(Region::between(Vec4::ZERO, Vec4::ONE), Region::new([0.0; 4], [1.0; 4]));
        assert_eq!(Region::between(UVec2::new(1, 2), [3, 4]), Region::new([1u32, 2], [3, 4]));
        assert_eq!(
            Region::around(Vec3A::from(lo), [0.5, 1.0, 2.0]),
            Region::new([0.5, 1.0, 1.0], [1.5, 3.0, 5.0])
        );
    }

    #[test]
    fn touching_and_empty_regions_do_not_overlap() {
        let a = Region::new([0u32], [5]);
        assert!(!a.overlaps(&Region::new([5], [9])) && !a.overlaps(&Region::new([2], [2])));
        assert!(a.overlaps(&Region::new([4], [9])) && a.overlaps(&a));
    }
}
