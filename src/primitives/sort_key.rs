//! Types of sort keys.

use bytemuck::Pod;

/// A key of a [`RadixSort`](super::RadixSort): `u32`, or `u64` (on the device two words, the low
/// one first).
pub trait SortKey: Pod + sealed::Words {
    /// Bits of a key.
    const BITS: u32;
}

pub(super) mod sealed {
    pub trait Words {
        const FILE: &'static str;
        /// `ITEMS` and `AT_ONCE` of `shaders/primitives/rank_subgroup.wgsl`.
        const ITEMS: u32;
        const AT_ONCE: u32;
    }
}

impl sealed::Words for u32 {
    const FILE: &'static str = "key_word";
    const ITEMS: u32 = 18;
    const AT_ONCE: u32 = 9;
}

impl SortKey for u32 {
    const BITS: u32 = 32;
}

impl sealed::Words for u64 {
    const FILE: &'static str = "key_wide";
    const ITEMS: u32 = 13;
    const AT_ONCE: u32 = 13;
}

impl SortKey for u64 {
    const BITS: u32 = 64;
}
