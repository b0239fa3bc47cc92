// The bounds that relaxations find for each row (pdes/neighbours_relax.wgsl): its earliest output, a time before which it sends nothing to others; where
// it is known to whom it sends next, its earliest output to all but that one; and its earliest input, before which nothing arrives. They are so once nothing changes any more; before, together with the
// earliest of those that the last relaxation changed (pdes/neighbours_relax.wgsl). They have two halves, which relaxations write by turns.
//
// A bound is a number of *units* since the time of the first event, of 31 bits, so that sums need no care. It is rounded down, because an earlier bound is
// as safe; and so is BOUND_FAR, for whatever is later. The earliest input where there are no senders is BOUND_NEVER, and that is never.
//
// A unit is a power of two of ticks, such that bounds reach at least 256 times as far as windows went; how far that was, LPs tell by their marks
// (pdes/queue_windows.wgsl), in bits. What is remembered of it becomes a bit less with each window (pdes/horizon_look.wgsl). So windows that end because
// bounds do reach 256 times as far the next time. And where units are coarse, because one part of a network is far ahead of another, windows are
// those of the event horizon at least (pdes/neighbours.wgsl).
//
// Functions: bounds_row, answer_row, next_row, delays_row, links_row, next_told, units_open, units_at, units_of, units_time, bits_of, time_max.
//
// import: pdes/engine.wgsl

// Where the answer of a row lies: (since (2), delay (2)), as pdes/answers.wgsl has them. Beside next_row, because they are written and read together.
fn answer_row(row: u32) -> u32 {
    return dry_row(3u * run.rows + 2u * row);
}

// Where it lies what a row sends to all but the one that it sends to next: (a time that is not after the second event that it holds (2), how long
// after that, and after what it sends first, it sends to them (2)). To whom it sends next lies in what its dry run left (pdes/engine.wgsl).
fn next_row(row: u32) -> u32 {
    return dry_row(3u * run.rows + 2u * row + 1u);
}

// What relaxations of a window keep of a row: its answer and what it sends to others than next, in units (since, delay, second, gap);
fn delays_row(row: u32) -> u32 {
    return dry_row(5u * run.rows + row);
}

// and who may send to it, as pdes/neighbours_relax.wgsl has it (places of four in the same workgroup, two to a word; two others).
fn links_row(row: u32) -> u32 {
    return dry_row(6u * run.rows + row);
}

// Of what a dry run left the last word: 1 + the row to which the row sends next, or 0 if that may be any.
fn next_told(known: vec4<u32>) -> u32 {
    return known.w >> 1u;
}

// To whom an LP sends next, where nobody says so.
const NEXT_ANYBODY = 0xffffffffu;

// Where the bounds of a row lie, in units: earliest output, earliest input, earliest output to all but one; and of its first 32 senders, a bit for
// each, to which of them it is not that one.
fn bounds_row(half: u32, row: u32) -> u32 {
    return dry_row((1u + half) * run.rows + row);
}

const BOUND_FAR = 0x7fffffffu;
const BOUND_NEVER = 0xffffffffu;
const BOUND_BITS = 31u;
// By how many bits bounds reach further than windows do.
const BOUND_SPARE = 8u;

// When units begin, and the logarithm to base 2 of one.
var<private> units_begin: vec2<u32>;
var<private> units_shift: u32;

// To be called first, in relaxations and in the dispatch that executes: they have the same units.
fn units_open() {
    units_begin = lps[control_row(1u, CONTROL_STATUS)].xy;
    let went = lps[control_row(1u, CONTROL_WENT)].x;
    units_shift = min(max(went + BOUND_SPARE, BOUND_BITS) - BOUND_BITS, 31u);
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

// How many bits a length of time has.
fn bits_of(length: vec2<u32>) -> u32 {
    return select(32u - countLeadingZeros(length.x), 64u - countLeadingZeros(length.y), length.y != 0u);
}

fn time_max(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    return select(a, b, time_less(a, b));
}
