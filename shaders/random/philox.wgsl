// Philox4x32-10: 128 random bits as a pure function of a 128-bit counter and a 64-bit key.
//
// Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC'11.
//
// Functions: philox4x32 (philox_round is its helper).
//
// needs: mul_wide
//
// bounds: no array and no loop.

// Added to the key before each round after the first: the golden ratio and sqrt(3) - 1, in units of
// 2^-32.
const PHILOX_WEYL = vec2<u32>(0x9e3779b9u, 0xbb67ae85u);

fn philox_round(c: vec4<u32>, key: vec2<u32>) -> vec4<u32> {
    let a = mul_wide(0xd2511f53u, c.x);
    let b = mul_wide(0xcd9e8d57u, c.z);
    return vec4<u32>(b.y ^ c.y ^ key.x, b.x, a.y ^ c.w ^ key.y, a.x);
}

// Unrolled by hand: with run-time checks a loop would have a second counter, and the round keys of
// a constant seed would not fold to constants.
fn philox4x32(counter: vec4<u32>, key: vec2<u32>) -> vec4<u32> {
    var c = philox_round(counter, key);
    c = philox_round(c, key + 1u * PHILOX_WEYL);
    c = philox_round(c, key + 2u * PHILOX_WEYL);
    c = philox_round(c, key + 3u * PHILOX_WEYL);
    c = philox_round(c, key + 4u * PHILOX_WEYL);
    c = philox_round(c, key + 5u * PHILOX_WEYL);
    c = philox_round(c, key + 6u * PHILOX_WEYL);
    c = philox_round(c, key + 7u * PHILOX_WEYL);
    c = philox_round(c, key + 8u * PHILOX_WEYL);
    c = philox_round(c, key + 9u * PHILOX_WEYL);
    return c;
}
