// Time is cut into epochs of length L, the lookahead, or one tick without a lookahead. Epoch i is
// [i L, (i + 1) L). A YAWNS window lies in one epoch.
//
// It does not reach a lookahead beyond its first event: calendars and teams would report other
// faults, fixed mailboxes would need more room, and a stopped run would not resume to the same end.
// Event-limited runs end with an epoch in every synchronisation, as in the sequential engine
// (src/pdes/sequential/engine.rs).
//
// Functions: epoch_split, epoch_end, epoch_key.
//
// import: pdes/engine.wgsl
// import: gpu/wide.wgsl
// import: time/ticks.wgsl
// needs: mul_wide, run
//
// bounds: no array and no loop; shifts and divisors are constants above 0, or 1 more than what they
// were.

// floor(span / L), and the remainder.
struct EpochSplit {
    epochs: vec2<u32>,
    rest: vec2<u32>,
}

fn epoch_split(span: vec2<u32>) -> EpochSplit {
    // The high words of span * floor((2^64 - 1) / L): floor(span / L), or one less, because
    // span / L - 1 < span * floor((2^64 - 1) / L) / 2^64 <= span / L.
    let m = run.reciprocal;
    let low = wide_add(mul_wide(span.x, m.y), vec2<u32>(mul_wide(span.x, m.x).y, 0u));
    let middle = wide_add(mul_wide(span.y, m.x), vec2<u32>(low.x, 0u));
    let epochs = wide_add(wide_add(mul_wide(span.y, m.y), vec2<u32>(low.y, 0u)), vec2<u32>(middle.y, 0u));
    let rest = wide_subtract(span, wide_multiply(epochs, run.epoch_length));
    if wide_less(rest, run.epoch_length) { return EpochSplit(epochs, rest); }
    return EpochSplit(wide_add(epochs, vec2<u32>(1u, 0u)), wide_subtract(rest, run.epoch_length));
}

// a * b modulo 2^64.
fn wide_multiply(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    return wide_add(mul_wide(a.x, b.x), vec2<u32>(0u, a.x * b.y + a.y * b.x));
}

// The end of the epoch of a time.
fn epoch_end(time: vec2<u32>) -> vec2<u32> {
    return time_add(wide_subtract(time, epoch_split(time).rest), run.epoch_length);
}

// A time within an epoch as a number of 31 bits: exact if epochs are no longer than that; otherwise
// later times may have the same number.
fn epoch_key(since: vec2<u32>) -> u32 {
    if (run.epoch_length.y == 0u) & (run.epoch_length.x <= 0x80000000u) { return since.x; }
    let shift = 33u - countLeadingZeros(run.epoch_length.y);
    if shift >= 32u { return since.y >> (shift - 32u); }
    return (since.x >> shift) | (since.y << (32u - shift));
}
