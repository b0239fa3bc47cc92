// 64-bit numbers as vec2<u32>(low word, high word), because WGSL has no 64-bit integers.
//
// Functions: wide_add, wide_subtract, wide_less, wide_add_128.
//
// Conditions use `&` and `|` instead of `&&` and `||`, here and wherever both sides are cheap: naga
// compiles the latter to branches, and drivers keep them.
//
// bounds: no array and no loop.

// a + b modulo 2^64.
fn wide_add(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    let low = a.x + b.x;
    return vec2<u32>(low, a.y + b.y + u32(low < a.x));
}

// a - b modulo 2^64.
fn wide_subtract(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    return vec2<u32>(a.x - b.x, a.y - b.y - u32(a.x < b.x));
}

fn wide_less(a: vec2<u32>, b: vec2<u32>) -> bool {
    return (a.y < b.y) | ((a.y == b.y) & (a.x < b.x));
}

// a + b in 128 bits, low word first; all ones if the sum does not fit.
fn wide_add_128(a: vec4<u32>, b: vec4<u32>) -> vec4<u32> {
    let low = wide_add(a.xy, b.xy);
    let high = wide_add(a.zw, b.zw);
    let carried = wide_add(high, vec2<u32>(u32(wide_less(low, a.xy)), 0u));
    let beyond = wide_less(high, a.zw) | wide_less(carried, high);
    return select(vec4<u32>(low, carried), vec4<u32>(0xffffffffu), beyond);
}
