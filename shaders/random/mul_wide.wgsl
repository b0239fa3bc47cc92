// The full 64-bit product of two words, for every adapter.
//
// WGSL has no widening multiplication, so the factors are split into 16-bit halves, whose products
// fit a word (Knuth, The Art of Computer Programming, volume 2, section 4.3.1, algorithm M, radix
// 2^16). The low word is one more product: cheaper than to assemble it, and removed if unused.
// random/mul_wide_int64.wgsl is the same function for adapters with 64-bit integers.
//
// Functions: mul_wide.
//
// provides: mul_wide
//
// bounds: no array and no loop.

// a * b as (low word, high word).
fn mul_wide(a: u32, b: u32) -> vec2<u32> {
    let a_low = a & 0xffffu;
    let a_high = a >> 16u;
    let b_low = b & 0xffffu;
    let b_high = b >> 16u;
    // Neither sum overflows: 0xffff * 0xffff + 0xffff < 2^32.
    let middle = a_high * b_low + ((a_low * b_low) >> 16u);
    let middle_carry = a_low * b_high + (middle & 0xffffu);
    return vec2<u32>(a * b, a_high * b_high + (middle >> 16u) + (middle_carry >> 16u));
}
