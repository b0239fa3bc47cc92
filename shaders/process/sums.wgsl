// Sums over time and over observations of process models; their rows are in `process::program`.
//
// import: gpu/wide.wgsl
// import: process/numbers.wgsl
// import: random/distributions.wgsl
// needs: mul_wide
//
// bounds: no array and no loop.

// The sum of changes of a level times the time since the warm-up, modulo 2^64.
fn level_64(sum: vec2<u32>, size: u32, negative: bool, age: vec2<u32>) -> vec2<u32> {
    let product = mul_wide(size, age.x) + vec2<u32>(0u, size * age.y);
    return select(wide_add(sum, product), wide_subtract(sum, product), negative);
}

// The same modulo 2^128.
fn level_128(sum: vec4<u32>, size: u32, negative: bool, age: vec2<u32>) -> vec4<u32> {
    let low = mul_wide(size, age.x);
    let product = vec4<u32>(low.x, add_word(mul_wide(size, age.y), low.y), 0u);
    // -p is ~p + 1.
    let term = select(product, ~product, negative);
    let first = wide_add(sum.xy, term.xy);
    let second = wide_add(first, vec2<u32>(u32(negative), 0u));
    let carry = u32(wide_less(first, sum.xy)) + u32(wide_less(second, first));
    return vec4<u32>(second, wide_add(wide_add(sum.zw, term.zw), vec2<u32>(carry, 0u)));
}

// Row 0 of a tally with an observation of 64 bits with a sign.
fn tally_sum(row: vec4<u32>, value: vec2<u32>) -> vec4<u32> {
    let low = wide_add(row.xy, value);
    let above = bitcast<u32>(bitcast<i32>(value.y) >> 31u);
    return vec4<u32>(low, row.z + above + u32(wide_less(low, value)), row.w + 1u);
}

// Row 1 of a tally.
fn tally_range(row: vec4<u32>, is_first: bool, value: vec2<u32>) -> vec4<u32> {
    let least = select(row.xy, value, is_first | real_less(value, row.xy));
    return vec4<u32>(least, select(row.zw, value, is_first | real_less(row.zw, value)));
}

// Row 2 of a tally: the sum of squares, low word first; all ones if it does not fit.
fn tally_squares(row: vec4<u32>, value: vec2<u32>) -> vec4<u32> {
    let size = select(value, wide_subtract(vec2<u32>(0u), value), bitcast<i32>(value.y) < 0);
    let low = mul_wide(size.x, size.x);
    let middle = mul_wide(size.x, size.y);
    let high = mul_wide(size.y, size.y);
    // A square of at most 2^126: twice the product of both words belongs to the second word on.
    let twice = vec4<u32>(0u, middle.x << 1u, (middle.y << 1u) | (middle.x >> 31u), middle.y >> 31u);
    return wide_add_128(row, wide_add_128(vec4<u32>(low, high), twice));
}
