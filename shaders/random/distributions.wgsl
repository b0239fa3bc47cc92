// Random variates from the invocation's stream, in integer arithmetic only, so that a seed gives
// the same bits on every device: WGSL's log may be off by 3 ULP. The reference implementations are
// in `random`.
//
// Times are 64-bit ticks as vec2<u32>(low word, high word). A result that does not fit, or
// arguments in the wrong order, give TIME_NEVER, or 0xffffffff for a count: an error shows as
// "never happens".
//
// Functions with their arguments (`time` in ticks, `probability` in units of 2^-32): `models` are
// for models of every engine, `takes` for those whose engine allows them. The host reads both
// lists.
//
// models: draw_below(number), draw_word(number, number), draw_bernoulli(probability)
// models: draw_exponential(time), exponential_of(number, time)
// models: draw_hyperexponential(probability, time, time), draw_erlang(number, time)
// models: draw_uniform(time, time), uniform_of(number, number, number, time, time)
// models: draw_triangular(time, time, time), triangular_of(number, number, time, time, time)
// models: draw_normal(time, time), normal_of(number, time, time), normal_unit(number)
// models: draw_lognormal(time, number), lognormal_of(number, time, number)
// models: draw_weibull(time, number), weibull_of(number, time, number)
// models: draw_geometric(number), draw_poisson(number), alias_slot(number), alias_pick(number, number, number)
// takes: exponential_unit(number), exponential_short(number, time)
//
// Helpers: exponential_fold, add_word, product_128, draw_unit_48, exp2_fraction, log2_unit,
// times_exp2.
//
// import: random/stream.wgsl
// import: time/ticks.wgsl
// import: gpu/wide.wgsl
// provides: draw_below
// needs: mul_wide
//
// bounds: no array of a buffer. Loops have constant bounds, except in `draw_erlang`, where it is
// the caller's. Divisors are above 0: `draw_below` divides if n is not 0, and the others by
// constants or by values that they compare with 0 first.

// An unbiased integer in 0..n; 0 if n is 0. Uses one draw, and with a probability below n / 2^32
// more. Lemire, "Fast random integer generation in an interval", ACM TOMACS 29(1), 2019: the high
// word of word * n, redrawn while the low word is below 2^32 mod n, the excess of some results.
fn draw_below(n: u32) -> u32 {
    var scaled = mul_wide(draw(), n);
    // Saves nearly every draw the division and the loop.
    if scaled.x < n {
        // A try fails with a probability below 1/2. The 64th result is always used, so that the
        // loop has a bound: a bias below 2^-64.
        let excess = (0u - n) % n;
        for (var tries = 1u; tries < 64u && scaled.x < excess; tries++) {
            scaled = mul_wide(draw(), n);
        }
    }
    return scaled.y;
}

// A word in low .. high, both included; low if high is below it. `exponential_of` and the like make
// a truncated variate of it; `random::words_between` computes the two words.
fn draw_word(low: u32, high: u32) -> u32 {
    if high <= low { return low; }
    if high - low == 0xffffffffu { return draw(); }
    return low + draw_below(high - low + 1u);
}

// v + a for a 64-bit v (low word, high word). The sum must fit.
fn add_word(v: vec2<u32>, a: u32) -> vec2<u32> {
    let low = v.x + a;
    return vec2<u32>(low, v.y + u32(low < a));
}

// One step of the range reduction below. r.x is s * 2^(31 + k) for s < 1 / (2^(k-1) + 1), r.y the
// sum of logarithms. Multiplies 1 - s by 1 + 2^-k if the product is below 1. The result's unit is
// half as large; the shift also drops the 1 that the multiplication adds to s.
fn exponential_fold(r: vec2<u32>, k: u32, logarithm: u32) -> vec2<u32> {
    let s = r.x + (r.x >> k);
    let folded = select(r, vec2<u32>(s, r.y + logarithm), s >= 0x80000000u);
    return vec2<u32>(folded.x << 1u, folded.y);
}

// -ln(u) for u = (2 word + 1) / 2^33, as (low word, high word) in units of 2^-59: an exponential
// variate of mean 1, from 2^-33 to 33 ln 2 = 22.87; the tail cut off has probability 2^-33. The
// largest relative error over all words is 1.17e-9 (`bench exponential-error` measures it).
fn exponential_unit(word: u32) -> vec2<u32> {
    // 1. Normalise: u = (1 - s) / 2^n with 0 < s <= 1/2, so -ln(u) = n ln 2 - ln(1 - s). s is exact
    //    except for word 0, for which n is 32, the masked shift 0, and s is 1/2 - 2^-33. The unit
    //    of s is 2^-33.
    let n = countLeadingZeros(word);
    let s = ~(word << 1u) << (n & 31u);
    // 2. Reduce: multiply 1 - s by 3/2, 5/4, 9/8, 17/16 if the product is below 1. Then s < 1/17.
    //    The fold by 3/2 is exponential_fold one bit up: the sum itself drops the 1.
    let first = s + (s >> 1u);
    var r = select(vec2<u32>(s, 0u), vec2<u32>(first, 0x67cc8fb4u), first < s);
    r = exponential_fold(r, 2u, 0x391fef8fu);
    r = exponential_fold(r, 3u, 0x1e27076eu);
    r = exponential_fold(r, 4u, 0x0f851860u);
    // 3. -ln(1 - s) = s (1 + h(s)); s h is a minimax polynomial of degree 5 in the relative error,
    //    tuned for integer arithmetic. 16 bits of s suffice for its two highest terms. x is 16 s in
    //    units of 2^-32.
    let x = r.x;
    let x_high = x >> 16u;
    // At most 0xf0f0 * 0x10c43, which is below 2^32.
    let h3 = (x_high * (0xfea6u + ((x_high * 0x0e77u) >> 16u))) >> 10u;
    let h2 = mul_wide(x, 0x055570a8u + h3).y;
    let h = mul_wide(x, 0x7ffffd8au + h2).y >> 4u;
    // s (1 + h) in units of 2^-68: (product.x, whole).
    let product = mul_wide(x, h);
    let whole = x + product.y;
    // Adds the logarithms, in units of 2^-59.
    let high = (whole >> 4u) + r.y;
    let low = (high << 27u) | (((whole << 23u) | (product.x >> 9u)) & 0x07ffffffu);
    // n ln 2, where ln 2 is 0x058b90bf_be8e0000: 48 bits suffice.
    let ln2_low = n * 0xbe8eu;
    let ln2_high = n * 0x058b90bfu + (ln2_low >> 16u);
    return add_word(vec2<u32>(low, (high >> 5u) + ln2_high), ln2_low << 16u);
}

// draw_exponential for a mean of at most 2^27 ticks, from a word that was already drawn. The result
// fits a word, because no variate reaches 23 means.
fn exponential_short(word: u32, mean: u32) -> u32 {
    let e = exponential_unit(word);
    let ticks = add_word(mul_wide(e.y, mean), mul_wide(e.x, mean).y);
    return (ticks.x >> 27u) | (ticks.y << 5u);
}

// An exponential variate of a mean in ticks, rounded down: half a tick below the mean on average,
// and 0 for a mean of 0. TIME_NEVER if it does not fit 64 bits, and for the mean TIME_NEVER (a rate
// of zero). Uses one draw.
fn draw_exponential(mean: vec2<u32>) -> vec2<u32> {
    return exponential_of(draw(), mean);
}

// The variate of draw_exponential for a word: smaller for a larger word.
fn exponential_of(word: u32, mean: vec2<u32>) -> vec2<u32> {
    let e = exponential_unit(word);
    // Most means are below 2^32 ticks; this branch saves two wide multiplications.
    if mean.y == 0u {
        let ticks = add_word(mul_wide(e.y, mean.x), mul_wide(e.x, mean.x).y);
        return vec2<u32>((ticks.x >> 27u) | (ticks.y << 5u), ticks.y >> 27u);
    }
    // The upper three words of the 128-bit product e * mean. No sum overflows: 0xffffffff^2 + 2 *
    // 0xffffffff < 2^64.
    let low = add_word(mul_wide(e.x, mean.y), mul_wide(e.x, mean.x).y);
    let middle = add_word(mul_wide(e.y, mean.x), low.x);
    let high = add_word(add_word(mul_wide(e.y, mean.y), low.y), middle.y);
    let ticks = vec2<u32>((middle.x >> 27u) | (high.x << 5u), (high.x >> 27u) | (high.y << 5u));
    return select(ticks, TIME_NEVER, ((high.y >> 27u) != 0u) | all(mean == TIME_NEVER));
}

// True with probability p / 2^32, but always for p = 0xffffffff: both certainties are exact, and
// only probability 1 - 2^-32 has no p. Uses one draw.
fn draw_bernoulli(p: u32) -> bool {
    return (draw() < p) | (p == 0xffffffffu);
}

// A time in low .. high - 1, in ticks; low if they are equal, TIME_NEVER if high is before low. The
// upper two words of (96 random bits) * (high - low): no loop, larger for larger words. A tick's
// relative error of probability is below 2^-32. Uses three draws.
fn draw_uniform(low: vec2<u32>, high: vec2<u32>) -> vec2<u32> {
    let a = draw();
    let b = draw();
    return uniform_of(a, b, draw(), low, high);
}

// The variate of draw_uniform for three words, the first of which is the most significant.
fn uniform_of(a: u32, b: u32, c: u32, low: vec2<u32>, high: vec2<u32>) -> vec2<u32> {
    let span = wide_subtract(high, low);
    // The words (c, b, a) times the span's low word, without the lowest word; then times the high
    // word. No sum overflows: 0xffffffff^2 + 2 * 0xffffffff < 2^64.
    let b_low = add_word(mul_wide(b, span.x), mul_wide(c, span.x).y);
    let a_low = add_word(mul_wide(a, span.x), b_low.y);
    let c_high = add_word(mul_wide(c, span.y), b_low.x);
    let b_high = add_word(add_word(mul_wide(b, span.y), a_low.x), c_high.y);
    let a_high = add_word(add_word(mul_wide(a, span.y), a_low.y), b_high.y);
    return select(wide_add(low, a_high), TIME_NEVER, time_less(high, low));
}

// An exponential variate in ticks, of the mean `first` with probability p (as in draw_bernoulli),
// else of the mean `second`. Uses two draws.
fn draw_hyperexponential(p: u32, first: vec2<u32>, second: vec2<u32>) -> vec2<u32> {
    return draw_exponential(select(second, first, draw_bernoulli(p)));
}

// a * b in 128 bits, low word first. Models may call it, too.
fn product_128(a: vec2<u32>, b: vec2<u32>) -> vec4<u32> {
    // No sum overflows: 0xffffffff^2 + 2 * 0xffffffff < 2^64.
    let lowest = mul_wide(a.x, b.x);
    let low = add_word(mul_wide(a.x, b.y), lowest.y);
    let middle = add_word(mul_wide(a.y, b.x), low.x);
    let high = add_word(add_word(mul_wide(a.y, b.y), low.y), middle.y);
    return vec4<u32>(lowest.x, middle.x, high);
}

// An exponential variate of mean 1 in units of 2^-48, so that 2849 of them, each below 23, have a
// 64-bit sum. Uses one draw.
fn draw_unit_48() -> vec2<u32> {
    let e = exponential_unit(draw());
    return vec2<u32>((e.x >> 11u) | (e.y << 21u), e.y >> 11u);
}

// The sum of `stages` exponential variates of mean `mean`, in ticks, rounded down once. TIME_NEVER
// if the sum does not fit, for the mean TIME_NEVER, and for more than 2048 stages, which draw
// nothing. Uses one draw and one exponential_unit per stage.
fn draw_erlang(stages: u32, mean: vec2<u32>) -> vec2<u32> {
    if stages > 2048u {
        return TIME_NEVER;
    }
    var sum = vec2<u32>(0u, 0u);
    for (var stage = 0u; stage < stages; stage++) {
        sum = wide_add(sum, draw_unit_48());
    }
    let product = product_128(sum, mean);
    let ticks = (product.yz >> vec2<u32>(16u)) | (product.zw << vec2<u32>(16u));
    return select(ticks, TIME_NEVER, ((product.w >> 16u) != 0u) | all(mean == TIME_NEVER));
}

// The number of failures before the first success, for the scale -1 / ln(1 - p) with 32 binary
// places (`random::geometric_scale`). 0xffffffff if it does not fit, and for a scale of all ones (p
// = 0). Uses one draw.
fn draw_geometric(scale: vec2<u32>) -> u32 {
    let product = product_128(exponential_unit(draw()), scale);
    // 59 + 32 binary places.
    let count = (product.z >> 27u) | (product.w << 5u);
    return select(count, 0xffffffffu, ((product.w >> 27u) != 0u) | all(scale == TIME_NEVER));
}

// A triangular variate in ticks: from `low`, most often near `mode`, to before `high`; `low` if all
// three are equal, TIME_NEVER if they are not in order. Uses two draws.
fn draw_triangular(low: vec2<u32>, mode: vec2<u32>, high: vec2<u32>) -> vec2<u32> {
    // The larger and the smaller of two uniform variates are uniform over the triangle (0, 0), (1,
    // 0), (1, 1), whose corners low + (mode - low) * larger + (high - mode) * smaller maps linearly
    // to low, mode and high. So no square root is needed.
    let a = draw();
    return triangular_of(a, draw(), low, mode, high);
}

// The variate of draw_triangular for two words, in either order.
fn triangular_of(a: u32, b: u32, low: vec2<u32>, mode: vec2<u32>, high: vec2<u32>) -> vec2<u32> {
    let larger = max(a, b);
    let smaller = min(a, b);
    let up = wide_subtract(mode, low);
    let down = wide_subtract(high, mode);
    let span = wide_subtract(high, low);
    // A word is the middle of an interval of 2^-32, which adds half the span. Sums have three
    // words: the lowest is s, the others are `upper`, which stays below the span.
    let up_low = mul_wide(up.x, larger);
    let down_low = mul_wide(down.x, smaller);
    let half = (span.x >> 1u) | (span.y << 31u);
    let s = up_low.x + down_low.x;
    let carries = u32(s < up_low.x) + u32(s + half < s);
    let upper = wide_add(
        add_word(mul_wide(up.y, larger), up_low.y),
        add_word(mul_wide(down.y, smaller), down_low.y),
    );
    let offset = add_word(upper, (span.y >> 1u) + carries);
    return select(wide_add(low, offset), TIME_NEVER, time_less(mode, low) | time_less(high, mode));
}

// First step of a draw from a table of n slots (`random::AliasTable`): the slot; 0 if n is 0. Uses
// one draw, and with a probability below n / 2^32 more.
fn alias_slot(n: u32) -> u32 {
    return draw_below(n);
}

// Second step: the number, from the slot's two words. Uses one draw.
fn alias_pick(slot: u32, threshold: u32, other: u32) -> u32 {
    return select(other, slot, draw() < threshold);
}

// The number of Poisson events in a time with `mean` expected ones (32 binary places,
// `random::poisson_mean`; at most 256). 0xffffffff for a larger mean, which draws nothing. Counts
// the exponential variates that fit the mean: uses one draw more than the result.
fn draw_poisson(mean: vec2<u32>) -> u32 {
    if wide_less(vec2<u32>(0u, 256u), mean) {
        return 0xffffffffu;
    }
    // In units of 2^-48, as the sum.
    let end = vec2<u32>(mean.x << 16u, (mean.y << 16u) | (mean.x >> 16u));
    var sum = vec2<u32>(0u, 0u);
    var count = 0u;
    // More than 1024 events have a probability below 1e-300.
    for (; count < 1024u; count++) {
        sum = wide_add(sum, draw_unit_48());
        if wide_less(end, sum) {
            break;
        }
    }
    return count;
}

// A standard normal variate in units of 2^-28: the quantile of (2 word + 1) / 2^33, within 8.9e-9.
// Larger for larger words, except for that error; `~word` has the negated variate. Between -6.338
// and 6.338: the tails cut off have probability 2^-33 each.
fn normal_unit(word: u32) -> i32 {
    let e = exponential_unit(min(word, ~word));
    // The tail is at most 1/2, so the variate is between ln 2 and 23, with its leading bit in the
    // high word. x is the place in its octave, from 0 to 1.
    let octave = countLeadingZeros(e.y);
    let x = (e.y << (octave + 1u)) | (e.x >> (31u - octave));
    // The quantile is a polynomial of degree 9 in x with alternating signs, so that every step of
    // Horner's rule is positive: Chebyshev fits, c0 in units of 2^-28, the others of 2^-30.
    var c0: i32;
    var a: vec4<u32>;
    var b: vec4<u32>;
    var c9: u32;
    switch octave {
        // 16 to 23
        case 0u: {
            c0 = 1389781951;
            a = vec4<u32>(0xbf1bc779u, 0x339bb7c0u, 0x1b5831a2u, 0x11ea9040u);
            b = vec4<u32>(0x0d0196e6u, 0x09cfabb9u, 0x06f9b888u, 0x03e022b7u);
            c9 = 0x0128ac55u;
        }
        // 8 to 16
        case 1u: {
            c0 = 913000703;
            a = vec4<u32>(0x8bf464d4u, 0x2758aaa5u, 0x1557e902u, 0x0e145816u);
            b = vec4<u32>(0x09d14a9cu, 0x065dc28cu, 0x034a81abu, 0x011f42acu);
            c9 = 0x002e58ddu;
        }
        // 4 to 8
        case 2u: {
            c0 = 560989834;
            a = vec4<u32>(0x685c4f22u, 0x1ee68fb2u, 0x1139dfd7u, 0x0b8f5377u);
            b = vec4<u32>(0x0826cfa0u, 0x0552cedeu, 0x02c37d8cu, 0x00f1d393u);
            c9 = 0x00271346u;
        }
        // 2 to 4
        case 3u: {
            c0 = 295686925;
            a = vec4<u32>(0x4fa66161u, 0x190db8c6u, 0x0e593facu, 0x09c78d36u);
            b = vec4<u32>(0x06f6958eu, 0x04931018u, 0x02621439u, 0x00d0f508u);
            c9 = 0x0021ce3cu;
        }
        // 1 to 2
        case 4u: {
            c0 = 90590246;
            a = vec4<u32>(0x3e7996acu, 0x14f21771u, 0x0c49d7ccu, 0x087c10afu);
            b = vec4<u32>(0x0616c70bu, 0x0404efdau, 0x02198adcu, 0x00b86a15u);
            c9 = 0x001ddd46u;
        }
        // ln 2 to 1
        default: {
            c0 = -72553348;
            a = vec4<u32>(0x327470abu, 0x11f1c793u, 0x0a909de6u, 0x06f1c71eu);
            b = vec4<u32>(0x04626972u, 0x02594834u, 0x00f1c6d8u, 0x003e937eu);
            c9 = 0x0007aa30u;
        }
    }
    var sum = b.w - mul_wide(c9, x).y;
    sum = b.z - mul_wide(sum, x).y;
    sum = b.y - mul_wide(sum, x).y;
    sum = b.x - mul_wide(sum, x).y;
    sum = a.w - mul_wide(sum, x).y;
    sum = a.z - mul_wide(sum, x).y;
    sum = a.y - mul_wide(sum, x).y;
    sum = a.x - mul_wide(sum, x).y;
    let quantile = max(c0 + i32((mul_wide(sum, x).y + 2u) >> 2u), 0);
    return select(quantile, -quantile, word < 0x80000000u);
}

// A normal variate of a mean and a standard deviation in ticks, rounded to the nearest; a negative
// one becomes 0. TIME_NEVER if it does not fit, and for a mean or deviation TIME_NEVER. Uses one
// draw.
fn draw_normal(mean: vec2<u32>, deviation: vec2<u32>) -> vec2<u32> {
    return normal_of(draw(), mean, deviation);
}

// The variate of draw_normal for a word: larger for a larger word, except for normal_unit's error.
fn normal_of(word: u32, mean: vec2<u32>, deviation: vec2<u32>) -> vec2<u32> {
    let z = normal_unit(word);
    let size = u32(abs(z));
    // Half a tick plus size * deviation, in three words with 28 binary places.
    let lowest = mul_wide(deviation.x, size);
    let upper = add_word(mul_wide(deviation.y, size), lowest.y);
    let rounded = lowest.x + 0x08000000u;
    let high = add_word(upper, u32(rounded < lowest.x));
    let distance = vec2<u32>((rounded >> 28u) | (high.x << 4u), (high.x >> 28u) | (high.y << 4u));
    let far = (high.y >> 28u) != 0u;
    let never = all(mean == TIME_NEVER) | all(deviation == TIME_NEVER);
    if z < 0 && !never {
        return select(wide_subtract(mean, distance), TIME_ZERO, far | wide_less(mean, distance));
    }
    return select(time_add(mean, distance), TIME_NEVER, far | never);
}

// 2^(x / 2^32) in units of 2^-31, for a fraction x: a Chebyshev fit of degree 7 with positive
// coefficients.
fn exp2_fraction(x: u32) -> u32 {
    var sum = 0x0000b0a7u;
    sum = 0x0004c0fau + mul_wide(sum, x).y;
    sum = 0x002be9b7u + mul_wide(sum, x).y;
    sum = 0x013b148cu + mul_wide(sum, x).y;
    sum = 0x071ac671u + mul_wide(sum, x).y;
    sum = 0x1ebfbdaeu + mul_wide(sum, x).y;
    sum = 0x58b90bfdu + mul_wide(sum, x).y;
    return 0x80000000u + mul_wide(sum, x).y;
}

// `time` in ticks times 2^exponent, rounded down; the exponent is signed with 56 binary places.
// TIME_NEVER if it does not fit, and for TIME_NEVER.
fn times_exp2(time: vec2<u32>, exponent: vec2<u32>) -> vec2<u32> {
    let whole = bitcast<i32>(exponent.y) >> 24u;
    let factor = exp2_fraction((exponent.y << 8u) | (exponent.x >> 24u));
    // Three words of time * factor are shifted right by 31 - whole: first by `bits`, with a word
    // below, ...
    let lowest = mul_wide(time.x, factor);
    let upper = add_word(mul_wide(time.y, factor), lowest.y);
    let right = 31 - whole;
    let bits = u32(right & 31);
    let words = vec4<u32>(0u, lowest.x, upper);
    let above = vec4<u32>(words.yzw, 0u);
    // Two shifts, because a shift by 32 shifts by 0.
    let shifted = (words >> vec4<u32>(bits)) | ((above << vec4<u32>(31u - bits)) << vec4<u32>(1u));
    // ... and by whole words.
    var ticks = TIME_ZERO;
    var beyond = 0u;
    switch right >> 5u {
        case -2: {
            ticks = vec2<u32>(0u, shifted.x);
            beyond = shifted.y | shifted.z | shifted.w;
        }
        case -1: {
            ticks = shifted.xy;
            beyond = shifted.z | shifted.w;
        }
        case 0: {
            ticks = shifted.yz;
            beyond = shifted.w;
        }
        case 1: {
            ticks = shifted.zw;
        }
        case 2: {
            ticks.x = shifted.w;
        }
        default: {
            beyond = select(0u, time.x | time.y, right < 0);
        }
    }
    return select(ticks, TIME_NEVER, (beyond != 0u) | all(time == TIME_NEVER));
}

// A lognormal variate in ticks, rounded down: `median` times e^(sigma z) for a standard normal z.
// `spread` is sigma / ln 2 with 28 binary places (`random::lognormal_spread`). TIME_NEVER if it
// does not fit, and for the median TIME_NEVER. Uses one draw.
fn draw_lognormal(median: vec2<u32>, spread: u32) -> vec2<u32> {
    return lognormal_of(draw(), median, spread);
}

// The variate of draw_lognormal for a word: larger for a larger word, except for normal_unit's
// error.
fn lognormal_of(word: u32, median: vec2<u32>, spread: u32) -> vec2<u32> {
    let z = normal_unit(word);
    let size = mul_wide(u32(abs(z)), spread);
    return times_exp2(median, select(size, wide_subtract(TIME_ZERO, size), z < 0));
}

// The binary logarithm of an exponential variate e of mean 1 with 59 binary places, in units of
// 2^-25; for 0 that of 2^-59. A Chebyshev fit of degree 11 with alternating signs for the bits
// after the leading one.
fn log2_unit(e: vec2<u32>) -> i32 {
    let short = e.y == 0u;
    let v = select(e, vec2<u32>(0u, max(e.x, 1u)), short);
    let leading = countLeadingZeros(v.y);
    // Two shifts, because a shift by 32 shifts by 0.
    let x = ((v.y << leading) << 1u) | (v.x >> (31u - leading));
    var sum = 0x004dd1ecu;
    sum = 0x021aa9f9u - mul_wide(sum, x).y;
    sum = 0x06d34c6eu - mul_wide(sum, x).y;
    sum = 0x0e2d9070u - mul_wide(sum, x).y;
    sum = 0x162149c9u - mul_wide(sum, x).y;
    sum = 0x1d5ab737u - mul_wide(sum, x).y;
    sum = 0x249d6ab5u - mul_wide(sum, x).y;
    sum = 0x2e1f3a9fu - mul_wide(sum, x).y;
    sum = 0x3d8d3459u - mul_wide(sum, x).y;
    sum = 0x5c55160du - mul_wide(sum, x).y;
    sum = 0xb8aa3b1bu - mul_wide(sum, x).y;
    let whole = 4 - i32(leading) - select(0, 32, short);
    return whole * 0x02000000 + i32((mul_wide(sum, x).y + 32u) >> 6u);
}

// A Weibull variate in ticks, rounded down: `scale` times e^power, for an exponential variate e of
// mean 1. The power is 1 / shape with 30 binary places (`random::weibull_power`), at most 3.75.
// TIME_NEVER for a larger one, if it does not fit, and for the scale TIME_NEVER. Uses one draw.
fn draw_weibull(scale: vec2<u32>, power: u32) -> vec2<u32> {
    return weibull_of(draw(), scale, power);
}

// The variate of draw_weibull for a word: smaller for a larger word.
fn weibull_of(word: u32, scale: vec2<u32>, power: u32) -> vec2<u32> {
    let logarithm = log2_unit(exponential_unit(word));
    // 25 + 30 binary places, and one more; below 33 * 3.75.
    let half = mul_wide(u32(abs(logarithm)), power);
    let size = wide_add(half, half);
    let ticks = times_exp2(scale, select(size, wide_subtract(TIME_ZERO, size), logarithm < 0));
    return select(ticks, TIME_NEVER, power > 0xf0000000u);
}
