// Random variates from the invocation's stream, in integer arithmetic only: WGSL's log may be 3 ULP off, and
// the same seed must give the same bits on every device. The Rust twins are in `random`.
//
// Functions: draw_below, exponential_unit, exponential_short, draw_exponential (exponential_fold and add_word are helpers).
//
// import: random/stream.wgsl
// import: time/ticks.wgsl
// needs: mul_wide (random/mul_wide.wgsl or random/mul_wide_int64.wgsl)

// An unbiased integer in 0..n; 0 where n is 0. Uses one draw, and with a probability below n / 2^32 more.
//
// Lemire, "Fast random integer generation in an interval", ACM TOMACS 29(1), 2019: the high word of word * n,
// drawn again while the low word is among the 2^32 mod n that some results have in excess. Each try fails
// with a probability below 1/2. The 64th is taken as it is, so that the loop has a bound: a bias below 2^-64.
fn draw_below(n: u32) -> u32 {
    var scaled = vec2<u32>(0u, 0u);
    for (var tries = 0u; tries < 64u; tries++) {
        scaled = mul_wide(draw(), n);
        // The first test spares nearly every draw the division.
        if scaled.x >= n || scaled.x >= (0u - n) % n {
            break;
        }
    }
    return scaled.y;
}

// v + a for a 64-bit v (low word, high word); the caller knows that it fits.
fn add_word(v: vec2<u32>, a: u32) -> vec2<u32> {
    let low = v.x + a;
    return vec2<u32>(low, v.y + u32(low < a));
}

// One step of the range reduction below. r.x is s * 2^(31 + k) for an s < 1 / (2^(k-1) + 1), and r.y the
// logarithms so far. Where 1 - s can be multiplied by 1 + 2^-k and stay below 1, it is. The result's unit is
// twice as fine; the shift that makes it so also drops the 1 that the multiplication adds to s.
fn exponential_fold(r: vec2<u32>, k: u32, logarithm: u32) -> vec2<u32> {
    let s = r.x + (r.x >> k);
    let folded = select(r, vec2<u32>(s, r.y + logarithm), s >= 0x80000000u);
    return vec2<u32>(folded.x << 1u, folded.y);
}

// -ln(u) for u = (2 word + 1) / 2^33, as (low word, high word) in units of 2^-59: an exponential variate
// of mean 1.
//
// Over all 2^32 words the largest relative error is 1.17e-9 (2^-29.67). The variate lies between 2^-33 and
// 33 ln 2 = 22.87: the tail that is cut off has the probability 2^-33. The example exponential_error measures it.
//
// 1. Normalise: u = (1 - s) / 2^n with 0 < s <= 1/2, so -ln(u) = n ln 2 - ln(1 - s).
//    s is exact but for word 0.
// 2. Reduce: multiply 1 - s by 3/2, 5/4, 9/8, 17/16, each where the product stays below 1. Then s < 1/17.
// 3. -ln(1 - s) = s (1 + h(s)); s h is a polynomial of degree 5, minimax in the relative error, then tuned
//    for its integer arithmetic. Its two highest terms are so small that 16 bits of s serve, which saves two
//    wide multiplications.
fn exponential_unit(word: u32) -> vec2<u32> {
    let n = countLeadingZeros(word);
    // s in units of 2^-33. For word 0 n is 32, the masked shift is 0, and s comes out as 1/2 - 2^-33.
    let s = ~(word << 1u) << (n & 31u);
    // The fold by 3/2 is exponential_fold one bit up: the 1 is dropped by the sum itself.
    let first = s + (s >> 1u);
    var r = select(vec2<u32>(s, 0u), vec2<u32>(first, 0x67cc8fb4u), first < s);
    r = exponential_fold(r, 2u, 0x391fef8fu);
    r = exponential_fold(r, 3u, 0x1e27076eu);
    r = exponential_fold(r, 4u, 0x0f851860u);
    // Now 16 s in units of 2^-32.
    let x = r.x;
    let x_high = x >> 16u;
    // At most 0xf0f0 * 0x10c43, which is below 2^32.
    let h3 = (x_high * (0xfea6u + ((x_high * 0x0e77u) >> 16u))) >> 10u;
    let h2 = mul_wide(x, 0x055570a8u + h3).y;
    let h = mul_wide(x, 0x7ffffd8au + h2).y >> 4u;
    // s (1 + h) in units of 2^-68: (product.x, whole).
    let product = mul_wide(x, h);
    let whole = x + product.y;
    // With the logarithms, in units of 2^-59.
    let high = (whole >> 4u) + r.y;
    let low = (high << 27u) | (((whole << 23u) | (product.x >> 9u)) & 0x07ffffffu);
    // n ln 2, where ln 2 is 0x058b90bf_be8e0000: 48 bits suffice.
    let ln2_low = n * 0xbe8eu;
    let ln2_high = n * 0x058b90bfu + (ln2_low >> 16u);
    return add_word(vec2<u32>(low, (high >> 5u) + ln2_high), ln2_low << 16u);
}

// draw_exponential for a mean of at most 2^27 ticks, from a word that was drawn before: the same ticks, and they fit a
// word, because no variate is as long as 23 means.
fn exponential_short(word: u32, mean: u32) -> u32 {
    let e = exponential_unit(word);
    let ticks = add_word(mul_wide(e.y, mean), mul_wide(e.x, mean).y);
    return (ticks.x >> 27u) | (ticks.y << 5u);
}

// An exponential variate of the given mean, both in ticks, rounded down: half a tick below the mean on
// average, and 0 where the mean is short. TIME_NEVER where it does not fit 64 bits, and for the mean
// TIME_NEVER (a rate of zero). Uses one draw.
fn draw_exponential(mean: vec2<u32>) -> vec2<u32> {
    let e = exponential_unit(draw());
    // The upper three words of the 128-bit product e * mean. No sum overflows:
    // 0xffffffff^2 + 2 * 0xffffffff < 2^64.
    let low = add_word(mul_wide(e.x, mean.y), mul_wide(e.x, mean.x).y);
    let middle = add_word(mul_wide(e.y, mean.x), low.x);
    let high = add_word(add_word(mul_wide(e.y, mean.y), low.y), middle.y);
    let ticks = vec2<u32>((middle.x >> 27u) | (high.x << 5u), (high.x >> 27u) | (high.y << 5u));
    return select(ticks, TIME_NEVER, (high.y >> 27u) != 0u || all(mean == TIME_NEVER));
}
