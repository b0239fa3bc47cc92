// Arithmetic of shared servers, whose clock facility/network/sharing.wgsl describes.
//
// import: gpu/wide.wgsl
// import: time/ticks.wgsl
//
// bounds: indices are numbers of digits, at most 4; loops count to 5; divisors are numbers of
// customers or servers, above 0.

// A * factor / divisor, rounded up or down; TIME_NEVER if it does not fit. Factor and divisor are
// below 2^16, and the divisor is not 0.
fn scaled(a: vec2<u32>, factor: u32, divisor: u32, up: bool) -> vec2<u32> {
    // 16-bit digits, so that no product, and no remainder with the next digit, exceeds a word.
    var digits = array<u32, 5>();
    var carry = select(0u, divisor - 1u, up);
    for (var i = 0u; i < 4u; i += 1u) {
        let product = ((a[i >> 1u] >> (16u * (i & 1u))) & 0xffffu) * factor + carry;
        digits[i] = product & 0xffffu;
        carry = product >> 16u;
    }
    digits[4] = carry;
    var rest = 0u;
    for (var i = 5u; i > 0u; i -= 1u) {
        let part = (rest << 16u) | digits[i - 1u];
        digits[i - 1u] = part / divisor;
        rest = part % divisor;
    }
    let low = vec2<u32>(digits[0] | (digits[1] << 16u), digits[2] | (digits[3] << 16u));
    return select(low, TIME_NEVER, digits[4] != 0u);
}

// A span in the clock's unit; TIME_NEVER from 2^48 ticks on.
fn fine(span: vec2<u32>) -> vec2<u32> {
    return select(vec2<u32>(span.x << 16u, (span.y << 16u) | (span.x >> 16u)), TIME_NEVER, (span.y >> 16u) != 0u);
}

// The whole ticks until a service is complete of which `left` remains on the clock, if `customers`
// share `servers`; TIME_NEVER if they do not fit.
fn until_complete(left: vec2<u32>, customers: u32, servers: u32) -> vec2<u32> {
    var units = left;
    if customers > servers { units = scaled(units, customers, servers, true); }
    units = time_add(units, vec2<u32>(0xffffu, 0u));
    return select(vec2<u32>((units.x >> 16u) | (units.y << 16u), units.y >> 16u), TIME_NEVER, all(units == TIME_NEVER));
}

fn leaves_before(a: vec4<u32>, b: vec4<u32>) -> bool {
    return time_less(a.xy, b.xy) | (all(a.xy == b.xy) & (a.z < b.z));
}
