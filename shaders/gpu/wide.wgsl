// Numbers of 64 bits as vec2<u32>(low word, high word), because WGSL has no 64-bit integers.
//
// Functions: wide_add, wide_subtract, wide_less, wide_add_128.
//
// `&` and `|` of conditions, not `&&` and `||`, here and wherever both sides are cheap: naga makes a branch of each of the others, and drivers leave it one. (An H200, when only this file and
// the order of events were so written: windows of PHOLD took 1 to 6 % less time, runs by threads and by teams 4 to 10 %.)
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

// a + b in 128 bits, low word first; all ones where the sum does not fit.
fn wide_add_128(a: vec4<u32>, b: vec4<u32>) -> vec4<u32> {
    let low = wide_add(a.xy, b.xy);
    let high = wide_add(a.zw, b.zw);
    let carried = wide_add(high, vec2<u32>(u32(wide_less(low, a.xy)), 0u));
    let beyond = wide_less(high, a.zw) | wide_less(carried, high);
    return select(vec4<u32>(low, carried), vec4<u32>(0xffffffffu), beyond);
}
