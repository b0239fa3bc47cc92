// Numbers of 64 bits as vec2<u32>(low word, high word), for adapters with 64-bit integers (wgpu's SHADER_INT64): the same functions as in gpu/wide.wgsl, in fewer instructions.
//
// Where that counts: near teams are 1.03 to 1.055 times as fast with it (`bench replicas` on an H100, 16 and 64 LPs at rate 0.1), threads as fast as without, windows of 1,048,576 LPs 0.97
// times. So it is for near teams.
//
// Functions: wide_add, wide_add_capped, wide_subtract, wide_less, wide_add_128.
//
// instead of: gpu/wide.wgsl
// requires: int64

fn wide_u64(a: vec2<u32>) -> u64 {
    return u64(a.x) | (u64(a.y) << 32u);
}

fn wide_of_u64(a: u64) -> vec2<u32> {
    return vec2<u32>(u32(a), u32(a >> 32u));
}

// a + b modulo 2^64.
fn wide_add(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    return wide_of_u64(wide_u64(a) + wide_u64(b));
}

// a + b, or all ones where the sum does not fit.
fn wide_add_capped(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    let sum = wide_u64(a) + wide_u64(b);
    return wide_of_u64(select(sum, 0xfffffffffffffffflu, sum < wide_u64(a)));
}

// a - b modulo 2^64.
fn wide_subtract(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    return wide_of_u64(wide_u64(a) - wide_u64(b));
}

fn wide_less(a: vec2<u32>, b: vec2<u32>) -> bool {
    return wide_u64(a) < wide_u64(b);
}

// a + b in 128 bits, low word first; all ones where the sum does not fit.
fn wide_add_128(a: vec4<u32>, b: vec4<u32>) -> vec4<u32> {
    let a_low = wide_u64(a.xy);
    let a_high = wide_u64(a.zw);
    let low = a_low + wide_u64(b.xy);
    let high = a_high + wide_u64(b.zw);
    let carried = high + select(0lu, 1lu, low < a_low);
    let beyond = (high < a_high) | (carried < high);
    return select(vec4<u32>(wide_of_u64(low), wide_of_u64(carried)), vec4<u32>(0xffffffffu), beyond);
}
