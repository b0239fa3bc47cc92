//! Regions: what a caller hands in.

use bytemuck::{Pod, Zeroable};

/// An axis-parallel box in `D` dimensions: in dimension `d` the half-open interval `[lo[d], hi[d])`.
///
/// A region with `lo[d] == hi[d]` in any dimension is empty and overlaps nothing. On the device a region is its
/// `2·D` words in this order, so a kernel of the application can write a buffer of them.
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
// SAFETY: as above; every byte belongs to a bound, and any bytes make valid bounds.
unsafe impl<T: Pod, const D: usize> Pod for Region<T, D> {}

impl<T: Copy + PartialOrd, const D: usize> Region<T, D> {
    /// The region from `lo` up to, and not including, `hi`.
    pub fn new(lo: [T; D], hi: [T; D]) -> Self {
        Self { lo, hi }
    }

    /// [`Region::new`] of vectors, as `glam` has them: `Vec2`, `Vec3`, `Vec3A`, `Vec4`, `UVec2` and so on.
    pub fn between(lo: impl Into<[T; D]>, hi: impl Into<[T; D]>) -> Self {
        Self::new(lo.into(), hi.into())
    }

    /// Whether two regions have a point in common: in every dimension both intervals hold it.
    ///
    /// This is the meaning of a match; the kernels agree with it.
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
    /// The box around `centre` that reaches as far as `half` on both sides, in each dimension: vectors or arrays.
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

/// The number type of bounds: `u32` (as the HLA standard has it), `i32` or `f32`.
///
/// Each value has a *key*: a `u32` with the same order, equal for equal values. Kernels compare keys only, so
/// results are exact for every type.
pub trait Coordinate: Pod + PartialOrd + std::fmt::Display + Send + Sync + sealed::Sealed {
    /// How kernels read it.
    #[doc(hidden)]
    const KIND: Kind;
    /// The order-preserving key.
    fn key(self) -> u32;
}

/// How the bits of a bound are read.
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
        // The two zeroes are equal. The sum with a positive zero makes both of them that one.
        let bits = (self + 0.0).to_bits();
        if bits & SIGN == 0 { bits | SIGN } else { !bits }
    }
}

mod sealed {
    /// The kernels know these types and no others.
    pub trait Sealed {}
    impl Sealed for u32 {}
    impl Sealed for i32 {}
    impl Sealed for f32 {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn keys_have_the_order_of_the_values(a: f32, b: f32, i: i32, j: i32) {
            if !a.is_nan() && !b.is_nan() {
                prop_assert_eq!(a.partial_cmp(&b), Some(a.key().cmp(&b.key())));
            }
            prop_assert_eq!(i.cmp(&j), i.key().cmp(&j.key()));
        }
    }

    #[test]
    fn zeroes_and_infinities_have_their_place() {
        assert_eq!((-0.0f32).key(), 0.0f32.key());
        assert!(f32::NEG_INFINITY.key() < f32::MIN.key() && f32::MAX.key() < f32::INFINITY.key());
        assert!((-1e-45f32).key() < 0.0f32.key() && 0.0f32.key() < 1e-45f32.key());
    }

    #[test]
    fn vectors_make_the_regions_that_arrays_make() {
        use glam::{UVec2, Vec2, Vec3, Vec3A, Vec4};

        assert_eq!(
            Region::between(Vec2::new(1.0, 2.0), Vec2::new(3.0, 4.0)),
            Region::new([1.0, 2.0], [3.0, 4.0])
        );
        // A Vec3A has 16 bytes, and a region three numbers of it.
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
