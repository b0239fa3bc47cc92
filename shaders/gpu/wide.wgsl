// Numbers of 64 bits as vec2<u32>(low word, high word), because WGSL has no 64-bit integers.
//
// Functions: wide_add, wide_subtract, wide_less.

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
    return a.y < b.y || (a.y == b.y && a.x < b.x);
}
