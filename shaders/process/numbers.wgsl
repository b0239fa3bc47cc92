// Numbers of process models: integers (i32), times (ticks, 64 bits), and reals (64 bits with a
// sign, in steps of 2^-24); the last two are (low word, high word). A number that does not fit is a
// fault of the event, whose value is not used. The semantics are in `process::program::machine`.
//
// import: gpu/wide.wgsl
// import: process/machine.wgsl
// import: random/distributions.wgsl
// import: time/ticks.wgsl
// needs: TICKS_PER_UNIT, mul_wide
//
// bounds: no array of a buffer. The loop runs at most 8 times; divisors are compared with 0 first.

fn magnitude(a: i32) -> u32 {
    let word = bitcast<u32>(a);
    return select(word, 0u - word, a < 0);
}

// A number of 33 bits with a sign as an integer.
fn integer_of(m: ptr<function, Machine>, size: u32, negative: bool) -> i32 {
    if size > 0x7fffffffu + u32(negative) { failed(m, FAULT_OVERFLOW, 0u); }
    return bitcast<i32>(select(size, 0u - size, negative));
}

fn integer_add(m: ptr<function, Machine>, a: i32, b: i32) -> i32 {
    let sum = a + b;
    if ((a ^ sum) & (b ^ sum)) < 0 { failed(m, FAULT_OVERFLOW, 0u); }
    return sum;
}

fn integer_subtract(m: ptr<function, Machine>, a: i32, b: i32) -> i32 {
    let difference = a - b;
    if ((a ^ b) & (a ^ difference)) < 0 { failed(m, FAULT_OVERFLOW, 0u); }
    return difference;
}

fn integer_times(m: ptr<function, Machine>, a: i32, b: i32) -> i32 {
    let product = mul_wide(magnitude(a), magnitude(b));
    if product.y != 0u { failed(m, FAULT_OVERFLOW, 0u); }
    return integer_of(m, product.x, (a < 0) != (b < 0));
}

// Rounded down.
fn integer_over(m: ptr<function, Machine>, a: i32, b: i32) -> i32 {
    if b == 0 {
        failed(m, FAULT_DIVISION, 0u);
        return 0;
    }
    let negative = (a < 0) != (b < 0);
    let whole = magnitude(a) / magnitude(b);
    let rest = magnitude(a) % magnitude(b);
    return integer_of(m, whole + u32(negative & (rest != 0u)), negative);
}

// With the sign of the divisor.
fn integer_modulo(m: ptr<function, Machine>, a: i32, b: i32) -> i32 {
    if b == 0 {
        failed(m, FAULT_DIVISION, 0u);
        return 0;
    }
    let rest = magnitude(a) % magnitude(b);
    let other = ((a < 0) != (b < 0)) & (rest != 0u);
    let size = select(rest, magnitude(b) - rest, other);
    return bitcast<i32>(select(size, 0u - size, b < 0));
}

// A quotient with its remainder.
struct Quotient {
    whole: vec4<u32>,
    rest: vec2<u32>,
}

// n / d by digits of 16 bits (Knuth, The Art of Computer Programming, volume 2, section 4.3.1,
// algorithm D). The remainder is kept shifted, so that the divisor's highest bit is set.
fn divided(n: vec4<u32>, d: vec2<u32>) -> Quotient {
    let shift = select(countLeadingZeros(d.y), 32u + countLeadingZeros(d.x), d.y == 0u);
    let bits = shift & 31u;
    let long = shift >= 32u;
    let low = d.x << bits;
    let high = (d.y << bits) | ((d.x >> 1u) >> (31u - bits));
    let divisor = select(vec2<u32>(low, high), vec2<u32>(0u, low), long);
    var digits = n;
    var whole = vec4<u32>(0u);
    var rest = vec2<u32>(0u);
    // The first digits are 0 for the quotients of 96 bits that occur.
    var first = 0u;
    if n.w == 0u {
        first = 2u;
        digits = vec4<u32>(0u, n.xyz);
    }
    for (var i = first; i < 8u; i += 1u) {
        let digit = digits.w >> 16u;
        digits = (digits << vec4<u32>(16u)) | (vec4<u32>(0u, digits.xyz) >> vec4<u32>(16u));
        let placed = vec2<u32>(digit << bits, (digit >> 1u) >> (31u - bits));
        let added = select(vec3<u32>(placed, 0u), vec3<u32>(0u, placed), long);
        let present = added | vec3<u32>(rest.x << 16u, (rest.y << 16u) | (rest.x >> 16u), rest.y >> 16u);
        // At most 2 too large.
        var part = min(((present.z << 16u) | (present.y >> 16u)) / max(divisor.y >> 16u, 1u), 0xffffu);
        let below = mul_wide(part, divisor.x);
        let above = add_word(mul_wide(part, divisor.y), below.y);
        var product = vec3<u32>(below.x, above);
        for (var tries = 0u; tries < 2u; tries += 1u) {
            let less = (present.z < product.z) | ((present.z == product.z) & wide_less(present.xy, product.xy));
            let reduced = wide_subtract(product.xy, divisor);
            let borrowed = product.z - u32(wide_less(product.xy, divisor));
            product = select(product, vec3<u32>(reduced, borrowed), less);
            part -= u32(less);
        }
        rest = wide_subtract(present.xy, product.xy);
        whole = (whole << vec4<u32>(16u)) | (vec4<u32>(0u, whole.xyz) >> vec4<u32>(16u));
        whole.x |= part;
    }
    let down = (rest >> vec2<u32>(bits)) | vec2<u32>((rest.y << 1u) << (31u - bits), 0u);
    return Quotient(whole, select(down, vec2<u32>(down.y, 0u), long));
}

// v + 1 if `more`.
fn rounded(v: vec4<u32>, more: bool) -> vec4<u32> {
    return wide_add_128(v, vec4<u32>(u32(more), 0u, 0u, 0u));
}

// v << 24 and v >> 24.
fn steps_of(v: vec2<u32>) -> vec4<u32> {
    return vec4<u32>(v.x << 24u, (v.y << 24u) | (v.x >> 8u), v.y >> 8u, 0u);
}

fn of_steps(v: vec4<u32>) -> vec4<u32> {
    return (v >> vec4<u32>(24u)) | (vec4<u32>(v.yzw, 0u) << vec4<u32>(8u));
}

fn real_negative(a: vec2<u32>) -> bool {
    return (a.y >> 31u) != 0u;
}

fn real_magnitude(a: vec2<u32>) -> vec2<u32> {
    return select(a, wide_subtract(vec2<u32>(0u), a), real_negative(a));
}

fn real_of(m: ptr<function, Machine>, size: vec4<u32>, negative: bool) -> vec2<u32> {
    let least = negative & (size.x == 0u) & (size.y == 0x80000000u);
    if ((size.z | size.w) != 0u) | (((size.y >> 31u) != 0u) & !least) { failed(m, FAULT_OVERFLOW, 0u); }
    return select(size.xy, wide_subtract(vec2<u32>(0u), size.xy), negative);
}

fn real_less(a: vec2<u32>, b: vec2<u32>) -> bool {
    let sign = vec2<u32>(0u, 0x80000000u);
    return wide_less(a ^ sign, b ^ sign);
}

fn real_add(m: ptr<function, Machine>, a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    let sum = wide_add(a, b);
    if (((a.y ^ sum.y) & (b.y ^ sum.y)) >> 31u) != 0u { failed(m, FAULT_OVERFLOW, 0u); }
    return sum;
}

fn real_subtract(m: ptr<function, Machine>, a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    let difference = wide_subtract(a, b);
    if (((a.y ^ b.y) & (a.y ^ difference.y)) >> 31u) != 0u { failed(m, FAULT_OVERFLOW, 0u); }
    return difference;
}

// Rounded down, as all below.
fn real_times(m: ptr<function, Machine>, a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    let product = product_128(real_magnitude(a), real_magnitude(b));
    let negative = real_negative(a) != real_negative(b);
    return real_of(m, rounded(of_steps(product), negative & ((product.x & 0xffffffu) != 0u)), negative);
}

fn real_over(m: ptr<function, Machine>, a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    if all(b == vec2<u32>(0u)) {
        failed(m, FAULT_DIVISION, 0u);
        return b;
    }
    let quotient = divided(steps_of(real_magnitude(a)), real_magnitude(b));
    let negative = real_negative(a) != real_negative(b);
    return real_of(m, rounded(quotient.whole, negative & any(quotient.rest != vec2<u32>(0u))), negative);
}

fn real_modulo(m: ptr<function, Machine>, a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    if all(b == vec2<u32>(0u)) {
        failed(m, FAULT_DIVISION, 0u);
        return b;
    }
    let size = real_magnitude(b);
    let rest = divided(vec4<u32>(real_magnitude(a), 0u, 0u), size).rest;
    let other = (real_negative(a) != real_negative(b)) & any(rest != vec2<u32>(0u));
    let found = select(rest, wide_subtract(size, rest), other);
    return select(found, wide_subtract(vec2<u32>(0u), found), real_negative(b));
}

fn real_of_integer(a: i32) -> vec2<u32> {
    return vec2<u32>(bitcast<u32>(a) << 24u, bitcast<u32>(a >> 8u));
}

fn integer_of_real(m: ptr<function, Machine>, a: vec2<u32>) -> i32 {
    let found = bitcast<i32>((a.x >> 24u) | (a.y << 8u));
    if (bitcast<i32>(a.y) >> 24u) != (found >> 31u) { failed(m, FAULT_OVERFLOW, 0u); }
    return found;
}

fn integer_wide(a: i32) -> vec2<u32> {
    return vec2<u32>(bitcast<u32>(a), bitcast<u32>(a >> 31u));
}

// The last tick and more are TIME_NEVER.
fn time_of(size: vec4<u32>) -> vec2<u32> {
    return select(size.xy, TIME_NEVER, (size.z | size.w) != 0u);
}

fn time_times_integer(a: vec2<u32>, b: i32) -> vec2<u32> {
    return time_of(product_128(a, vec2<u32>(bitcast<u32>(max(b, 0)), 0u)));
}

fn time_times_real(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    return time_of(of_steps(product_128(a, select(b, vec2<u32>(0u), real_negative(b)))));
}

fn time_over(m: ptr<function, Machine>, n: vec4<u32>, d: vec2<u32>) -> vec2<u32> {
    if real_negative(d) | all(d == vec2<u32>(0u)) {
        failed(m, FAULT_DIVISION, 0u);
        return d;
    }
    return time_of(divided(n, d).whole);
}

fn time_over_integer(m: ptr<function, Machine>, a: vec2<u32>, b: i32) -> vec2<u32> {
    return time_over(m, vec4<u32>(a, 0u, 0u), integer_wide(b));
}

fn time_over_real(m: ptr<function, Machine>, a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    return time_over(m, steps_of(a), b);
}

fn time_over_time(m: ptr<function, Machine>, a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    if all(b == vec2<u32>(0u)) {
        failed(m, FAULT_DIVISION, 0u);
        return b;
    }
    return real_of(m, divided(steps_of(a), b).whole, false);
}

fn time_modulo(m: ptr<function, Machine>, a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    if all(b == vec2<u32>(0u)) {
        failed(m, FAULT_DIVISION, 0u);
        return b;
    }
    return divided(vec4<u32>(a, 0u, 0u), b).rest;
}

fn integer_of_time(m: ptr<function, Machine>, a: vec2<u32>) -> i32 {
    let whole = divided(vec4<u32>(a, 0u, 0u), vec2<u32>(TICKS_PER_UNIT, 0u)).whole;
    if whole.y != 0u { failed(m, FAULT_OVERFLOW, 0u); }
    return integer_of(m, whole.x, false);
}

fn real_of_time(m: ptr<function, Machine>, a: vec2<u32>) -> vec2<u32> {
    return real_of(m, divided(steps_of(a), vec2<u32>(TICKS_PER_UNIT, 0u)).whole, false);
}

fn time_of_integer(a: i32) -> vec2<u32> {
    return mul_wide(bitcast<u32>(max(a, 0)), TICKS_PER_UNIT);
}

fn time_of_real(a: vec2<u32>) -> vec2<u32> {
    return time_times_real(vec2<u32>(TICKS_PER_UNIT, 0u), a);
}
