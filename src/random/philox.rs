use super::mul_wide;

/// Added to the key before each round except the first: the golden ratio and sqrt(3) - 1, in units
/// of 2^-32.
const WEYL: [u32; 2] = [0x9e37_79b9, 0xbb67_ae85];

/// Philox4x32-10: 128 random bits as a pure function of a 128-bit `counter` and a 64-bit `key`, low
/// words first.
///
/// For one key it is a permutation of the counters, and it passes BigCrush. Salmon, Moraes, Dror,
/// Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC'11. WGSL: `philox4x32`.
pub fn philox4x32(counter: [u32; 4], key: [u32; 2]) -> [u32; 4] {
    let mut c = counter;
    for round in 0..10 {
        let key = [0, 1].map(|k| key[k].wrapping_add(WEYL[k].wrapping_mul(round)));
        let [a_low, a_high] = mul_wide(0xd251_1f53, c[0]);
        let [b_low, b_high] = mul_wide(0xcd9e_8d57, c[2]);
        c = [b_high ^ c[1] ^ key[0], b_low, a_high ^ c[3] ^ key[1], a_low];
    }
    c
}
