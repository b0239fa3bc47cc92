// Random variates beyond the exponential, in integer arithmetic only: the same seed gives the same bits on every device.
// The Rust twins are methods of `random::Stream`, whose documentation says how exact each variate is.
//
// Times are 64-bit ticks as vec2<u32>(low word, high word). What does not fit, and what is asked for with arguments in
// the wrong order, is TIME_NEVER, or 0xffffffff where the result is a count: an error shows as "never happens".
//
// Functions: draw_bernoulli, draw_uniform.
//
// import: random/stream.wgsl
// import: random/distributions.wgsl
// import: time/ticks.wgsl
// import: gpu/wide.wgsl
// needs: mul_wide (random/mul_wide.wgsl or random/mul_wide_int64.wgsl)

// True with the probability p / 2^32, but for p = 0xffffffff, which is always: so both certainties are exact, and
// 1 - 2^-32 is the one probability that p cannot say. Uses one draw.
fn draw_bernoulli(p: u32) -> bool {
    return draw() < p || p == 0xffffffffu;
}

// A time in low .. high - 1, in ticks; low where the two are the same, TIME_NEVER where high is before low.
//
// The upper two words of (96 random bits) * (high - low): no loop, and a larger variate for larger words. Each tick's
// probability is off by a fraction below 2^-32 of itself. Uses three draws.
fn draw_uniform(low: vec2<u32>, high: vec2<u32>) -> vec2<u32> {
    let a = draw();
    let b = draw();
    let c = draw();
    let span = wide_subtract(high, low);
    // The words (c, b, a) times the span's low word, whose lowest word is not needed; then times the high word on top.
    // No sum overflows: 0xffffffff^2 + 2 * 0xffffffff < 2^64.
    let b_low = add_word(mul_wide(b, span.x), mul_wide(c, span.x).y);
    let a_low = add_word(mul_wide(a, span.x), b_low.y);
    let c_high = add_word(mul_wide(c, span.y), b_low.x);
    let b_high = add_word(add_word(mul_wide(b, span.y), a_low.x), c_high.y);
    let a_high = add_word(add_word(mul_wide(a, span.y), a_low.y), b_high.y);
    return select(wide_add(low, a_high), TIME_NEVER, time_less(high, low));
}
