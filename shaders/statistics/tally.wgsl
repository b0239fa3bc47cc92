// A tally: count, sum, sum of squares, smallest and largest of 64-bit observations, exactly. The
// reference implementation is `statistics::Tally`.
//
// A zeroed Tally is empty and counts every observation. Values are passed by value, because WGSL
// has no pointers to fields:
//
//     (*state).wait = tally_add((*state).wait, event.time, wait);
//
// models: tally_since(time), tally_add(number, time, number)
//
// import: gpu/wide.wgsl
// import: random/distributions.wgsl
// import: time/ticks.wgsl

// 64 bytes, aligned to 16. Numbers of 64 and 128 bits, low word first.
struct Tally {
    // Of the observations. It always fits.
    sum: vec4<u32>,
    // Sum of their squares; all ones if it does not fit.
    squares: vec4<u32>,
    // Smallest and largest; 0 if count is 0.
    minimum: vec2<u32>,
    maximum: vec2<u32>,
    count: vec2<u32>,
    // In ticks: observations before this time do not count.
    since: vec2<u32>,
}

// An empty tally that begins at `time`, in ticks: earlier observations do not count.
@must_use
fn tally_since(time: vec2<u32>) -> Tally {
    var tally = Tally();
    tally.since = time;
    return tally;
}

// The tally with the observation `value` at `time` (in ticks).
@must_use
fn tally_add(tally: Tally, time: vec2<u32>, value: vec2<u32>) -> Tally {
    if time_less(time, tally.since) {
        return tally;
    }
    let first = all(tally.count == vec2<u32>(0u, 0u));
    var next = tally;
    next.sum = wide_add_128(tally.sum, vec4<u32>(value, 0u, 0u));
    next.squares = wide_add_128(tally.squares, product_128(value, value));
    next.minimum = select(tally.minimum, value, first | wide_less(value, tally.minimum));
    next.maximum = select(tally.maximum, value, wide_less(tally.maximum, value));
    next.count = wide_add(tally.count, vec2<u32>(1u, 0u));
    return next;
}
