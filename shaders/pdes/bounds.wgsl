// The bounds that relaxations find for each row (pdes/neighbours_relax.wgsl): its earliest output, a time before which it sends nothing to others; and
// its earliest input, before which nothing arrives. They have two halves, which relaxations write by turns.
//
// Functions: bounds_row.
//
// import: pdes/engine.wgsl

// Of control, half 1: the last relaxation of this window that was made; unused (3).
const CONTROL_RELAXED = 3u;

fn bounds_row(half: u32, row: u32) -> u32 {
    return dry_row((1u + half) * run.rows + row);
}
