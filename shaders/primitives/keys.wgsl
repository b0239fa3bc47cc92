// Order-preserving maps from i32 and f32 to u32 and back. The reference implementation is
// `primitives::keys`. The order of f32 is the total order of IEEE 754 (as Rust's `f32::total_cmp`):
// -NaN < -inf < ... < -0 < +0 < ... < inf < NaN.
//
// bounds: no array and no loop.

fn key_from_i32(value: i32) -> u32 {
    return bitcast<u32>(value) ^ 0x80000000u;
}

fn i32_from_key(key: u32) -> i32 {
    return bitcast<i32>(key ^ 0x80000000u);
}

fn key_from_f32(value: f32) -> u32 {
    return key_from_f32_bits(bitcast<u32>(value));
}

fn f32_from_key(key: u32) -> f32 {
    return bitcast<f32>(f32_bits_from_key(key));
}

// Flips all bits of a negative number, and the sign bit of another. Works on bits, because a device
// may flush subnormal numbers and change NaN payloads when it moves an f32.
fn key_from_f32_bits(bits: u32) -> u32 {
    return bits ^ select(0x80000000u, 0xffffffffu, bits >> 31u != 0u);
}

fn f32_bits_from_key(key: u32) -> u32 {
    return key ^ select(0xffffffffu, 0x80000000u, key >> 31u != 0u);
}
