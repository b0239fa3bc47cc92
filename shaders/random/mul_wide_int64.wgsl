// The full 64-bit product of two words, for adapters with 64-bit integers (wgpu's SHADER_INT64).
//
// Links instead of random/mul_wide.wgsl, with the same results: one instruction on most GPUs.
//
// Functions: mul_wide.
//
// requires: int64
// provides: mul_wide
//
// bounds: no array and no loop.

// a * b as (low word, high word).
fn mul_wide(a: u32, b: u32) -> vec2<u32> {
    let product = u64(a) * u64(b);
    return vec2<u32>(u32(product), u32(product >> 32u));
}
