// The bounds that relaxations find for each row (pdes/bounds/neighbours_relax.wgsl): its earliest output, a time before which it sends nothing to others; where
// it is known to whom it sends next, its earliest output to all but that one; and its earliest input, before which nothing arrives. They are so once nothing changes any more; before, together with the
// earliest of those that the last relaxation changed (pdes/bounds/neighbours_relax.wgsl). They have two halves, which relaxations write by turns.
//
// A bound is a number of *units* since some time, of 31 bits, so that sums need no care. It is rounded down, because an earlier bound is
// as safe; and so is BOUND_FAR, for whatever is later. The earliest input where there are no senders is BOUND_NEVER, and that is never.
//
// What is kept of a row while its dry run holds is in units, too, so these stay as they are until half of the bounds that there are would be in the past, or they do not suit any more how far windows go; then they begin
// anew with the first event, and every row is looked at (pdes/horizon/horizon_look.wgsl). (Without that, relaxations had to make units of what dispatches before them left, and read twice as much of it: windows of a torus of 262,144 stations took 1.07 times as long, of a million 1.09. H100.)
//
// A unit is a power of two of ticks, such that bounds reach at least 256 times as far as windows went when units began, and 128 times later; how far that was, LPs tell by their marks
// (pdes/queues/queue_windows.wgsl), in bits. What is remembered of it becomes a bit less with each window (pdes/horizon/horizon_look.wgsl). So windows that end because
// bounds do reach 128 times as far the next time. And where units are coarse, because one part of a network is far ahead of another, windows are
// those of the event horizon at least (pdes/bounds/neighbours.wgsl).
//
// Functions: bounds_row, delays_row, links_row, next_known, units_open, units_of_went, units_renew, units_at, units_of, units_time, bits_of, time_max.
//
// import: pdes/engine.wgsl
// provides: NEXT_ANYBODY
// needs: run

// Where it lies, in units, what a row answers, and what it sends to all but the one that it sends to next (pdes/bounds/answers.wgsl): since, delay; a time that is not after the second event that it holds,
// how long after that, and after what it sends first, it sends to them. To whom it sends next lies in what its dry run left (pdes/engine.wgsl).
fn delays_row(row: u32) -> u32 {
    return speculation_row(3u * run.rows + row);
}

// Who may send to a row, as relaxations of a window keep it (pdes/bounds/neighbours_relax.wgsl): places of four in the same workgroup, two to a word; two others.
fn links_row(row: u32) -> u32 {
    return speculation_row(4u * run.rows + row);
}

// Of what a dry run left the last word: 1 + the row to which the row sends next, or 0 if that may be any.
fn next_known(known: vec4<u32>) -> u32 {
    return known.w >> 1u;
}

// To whom an LP sends next, where nobody says so.
const NEXT_ANYBODY = 0xffffffffu;

// Where the bounds of a row lie, in units: earliest output, earliest input, earliest output to all but one; and of its first 32 senders, a bit for
// each, to which of them it is not that one.
fn bounds_row(half: u32, row: u32) -> u32 {
    return speculation_row((1u + half) * run.rows + row);
}

const BOUND_FAR = 0x7fffffffu;
const BOUND_NEVER = 0xffffffffu;
const BOUND_BITS = 31u;
// By how many bits bounds reach further than windows do.
const BOUND_SPARE = 8u;

// When units begin, and the logarithm to base 2 of one.
var<private> units_begin: vec2<u32>;
var<private> units_shift: u32;

// To be called first, in relaxations and in the dispatch that executes: they have the same units, which the first dispatch of the window has opened (answers_open).
fn units_open() {
    units_of_went(lps[control_row(1u, CONTROL_WENT)]);
}

// The units that CONTROL_WENT keeps.
fn units_of_went(went: vec4<u32>) {
    units_shift = went.y;
    units_begin = went.zw;
}

// Has units begin anew where they must, at the time of the first event, for windows that go so far. Returns whether it has. (Units are a bit longer than they have to be, and may be up to three: how far windows go varies.)
fn units_renew(now: vec2<u32>, goes: u32) -> bool {
    let suits = min(max(goes + BOUND_SPARE, BOUND_BITS) - BOUND_BITS, 31u);
    let suit = (units_shift >= suits) & (units_shift <= suits + 3u);
    if suit & (units_at(now) <= BOUND_FAR / 2u) & !time_less(now, units_begin) { return false; }
    // Where a tick does, it is as exact as it gets.
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

// How many bits a length of time has.
fn bits_of(length: vec2<u32>) -> u32 {
    return select(32u - countLeadingZeros(length.x), 64u - countLeadingZeros(length.y), length.y != 0u);
}

fn time_max(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    return select(a, b, time_less(a, b));
}
