//! Limits of searches.

/// The longest side of a map: a coordinate has 16 bits.
pub const MAX_SIDE: u32 = 1 << 15;
