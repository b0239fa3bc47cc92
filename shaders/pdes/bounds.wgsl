// The bounds that relaxations find for each row (pdes/neighbours_relax.wgsl): its earliest output, a time before which it sends nothing to others; and
// its earliest input, before which nothing arrives. They have two halves, which relaxations write by turns.
//
// Functions: bounds_row, answer_row, clock_row, time_max.
//
// import: pdes/engine.wgsl

// Of control, half 1: the last relaxation of this window that was made; unused (3).
const CONTROL_RELAXED = 3u;

// Where the answer of a row lies: (since (2), delay (2)), as pdes/answers.wgsl has them.
fn answer_row(row: u32) -> u32 {
    return dry_row(3u * run.rows + row);
}

// Where the clock of a row lies: the time of the last event that it executed (2); unused (2). What arrives later must be later: a promise that
// was broken may show nowhere else, because bounds that are found afterwards know better.
fn clock_row(row: u32) -> u32 {
    return dry_row(4u * run.rows + row);
}

fn bounds_row(half: u32, row: u32) -> u32 {
    return dry_row((1u + half) * run.rows + row);
}

fn time_max(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    return select(a, b, time_less(a, b));
}
