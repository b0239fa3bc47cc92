// Simulation time: 64 bits of ticks as vec2<u32>(low word, high word). WGSL has no 64-bit integer.
//
// TIME_NEVER is later than every event. A sum beyond the range is TIME_NEVER, so an overflow shows
// as "never happens" and not as an early event. The reference implementation is `time::Ticks`.
//
// Functions: time_add, time_since, time_less, time_min.
//
// import: gpu/wide.wgsl
// provides: TIME_NEVER, TIME_ZERO, time_add, time_less, time_since
//
// bounds: no array and no loop.

const TIME_ZERO = vec2<u32>(0u, 0u);
const TIME_NEVER = vec2<u32>(0xffffffffu, 0xffffffffu);

// a + b, or TIME_NEVER if the sum does not fit.
@must_use
fn time_add(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    let low = a.x + b.x;
    let high = a.y + b.y;
    let carried = high + u32(low < a.x);
    return select(vec2<u32>(low, carried), TIME_NEVER, (high < a.y) | (carried < high));
}

// The time from `begin` to `end`; TIME_ZERO if the end comes first.
@must_use
fn time_since(end: vec2<u32>, begin: vec2<u32>) -> vec2<u32> {
    return select(wide_subtract(end, begin), TIME_ZERO, wide_less(end, begin));
}

fn time_less(a: vec2<u32>, b: vec2<u32>) -> bool {
    return wide_less(a, b);
}

@must_use
fn time_min(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    return select(b, a, time_less(a, b));
}
