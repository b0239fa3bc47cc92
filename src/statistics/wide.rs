//! 128-bit numbers in structs that are shared with WGSL, as 64-bit halves with the low one first:
//! `u128` would need a larger alignment.

pub(super) fn join([low, high]: [u64; 2]) -> u128 {
    u128::from(high) << 64 | u128::from(low)
}

#[expect(clippy::cast_possible_truncation, reason = "the halves are cut on purpose")]
pub(super) fn split(value: u128) -> [u64; 2] {
    [value as u64, (value >> 64) as u64]
}
