//! Numbers of 128 bits in structs that cross over, where they lie in halves of 64 bits, the low one
//! first: `u128` would ask for another alignment.

pub(super) fn join([low, high]: [u64; 2]) -> u128 {
    u128::from(high) << 64 | u128::from(low)
}

#[expect(clippy::cast_possible_truncation, reason = "the halves are cut on purpose")]
pub(super) fn split(value: u128) -> [u64; 2] {
    [value as u64, (value >> 64) as u64]
}
