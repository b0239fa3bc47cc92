// The bounds of each row that relaxations compute (pdes/bounds/neighbours_relax.wgsl): its earliest
// output, before which it sends nothing to others; its earliest output to all but the LP that it
// sends to next; its earliest input, before which nothing arrives. They are final once relaxations
// change nothing; until then, only up to the earliest bound that the last one changed.
//
// A bound is a number of units of 31 bits since units_begin, so that sums do not overflow. It is
// rounded down, because earlier is as safe; BOUND_FAR is any later time, and BOUND_NEVER (no
// senders) is never. A unit is a power of two of ticks. When units begin, bounds reach at least 256
// times as far as windows go (LPs report that by their marks, in bits); later, 128 times. Stored
// values are in units, so units change only if half of the range is past or they no longer suit. If
// units are coarse because part of a network is far ahead, windows are at least those of the event
// horizon.
//
// Functions: bounds_row, delays_row, links_row, next_known, units_open, units_of_went, units_renew,
// units_at, units_of, units_time, bits_of, time_max.
//
// import: pdes/engine.wgsl
// provides: NEXT_ANYBODY
// needs: run

// Index in `lps`, in units: the row's answer (since, delay); a time not after its second event; the
// gap until all but the next destination hear from it, after that time and after its first send.
// The next destination is in speculation_row.
fn delays_row(row: u32) -> u32 {
    return speculation_row(3u * run.rows + row);
}

// Index in `lps` of the row's senders in this window: places of four in the same workgroup, two to
// a word; two others (pdes/bounds/neighbours_relax.wgsl). Like all rows of this file, it holds
// arbitrary values until a window with per-LP bounds has written it.
fn links_row(row: u32) -> u32 {
    return speculation_row(4u * run.rows + row);
}

// The last word of a speculative result: 1 + the row that the row sends to next, or 0 for any.
fn next_known(known: vec4<u32>) -> u32 {
    return known.w >> 1u;
}

// The next destination if the model does not declare it.
const NEXT_ANYBODY = 0xffffffffu;

// Index in `lps` of a row's bounds, in units: earliest output, earliest input, earliest output to
// all but its next destination; for its first 32 senders, a bit if this row is not the sender's
// next destination.
fn bounds_row(half: u32, row: u32) -> u32 {
    return speculation_row((1u + half) * run.rows + row);
}

const BOUND_FAR = 0x7fffffffu;
const BOUND_NEVER = 0xffffffffu;
const BOUND_BITS = 31u;
// By how many bits bounds reach further than windows.
const BOUND_SPARE = 8u;

// When units begin, and the logarithm to base 2 of a unit.
var<private> units_begin: vec2<u32>;
var<private> units_shift: u32;

// Call it first, in relaxations and in the dispatch that executes. The first dispatch of the window
// has set the units (answers_open).
fn units_open() {
    units_of_went(lps[control_row(1u, CONTROL_WENT)]);
}

// The units in CONTROL_WENT.
fn units_of_went(went: vec4<u32>) {
    units_shift = went.y;
    units_begin = went.zw;
}

// Begins units at the time of the first event if they no longer suit windows that go this far;
// returns whether it did. Units are one bit longer than needed, and up to three may be, because
// windows vary.
fn units_renew(now: vec2<u32>, goes: u32) -> bool {
    let suits = min(max(goes + BOUND_SPARE, BOUND_BITS) - BOUND_BITS, 31u);
    let suit = (units_shift >= suits) & (units_shift <= suits + 3u);
    if suit & (units_at(now) <= BOUND_FAR / 2u) & !time_less(now, units_begin) { return false; }
    // A unit of one tick is exact already.
    units_shift = select(min(suits + 1u, 31u), 0u, suits == 0u);
    units_begin = now;
    return true;
}

// A time in units.
fn units_at(time: vec2<u32>) -> u32 {
    return units_of(time_since(time, units_begin));
}

// A length of time in units.
fn units_of(length: vec2<u32>) -> u32 {
    let units = (length.x >> units_shift) | ((length.y << 1u) << (31u - units_shift));
    return select(min(units, BOUND_FAR), BOUND_FAR, (length.y >> units_shift) != 0u);
}

// The time of a bound.
fn units_time(bound: u32) -> vec2<u32> {
    let time = time_add(units_begin, vec2<u32>(bound << units_shift, (bound >> 1u) >> (31u - units_shift)));
    return select(time, TIME_NEVER, bound == BOUND_NEVER);
}

// The number of bits of a length of time.
fn bits_of(length: vec2<u32>) -> u32 {
    return select(32u - countLeadingZeros(length.x), 64u - countLeadingZeros(length.y), length.y != 0u);
}

fn time_max(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    return select(a, b, time_less(a, b));
}
