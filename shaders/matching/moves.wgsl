// Shared by the kernels of a step of moving regions: the regions that move, from where and to
// where.
//
// moves   HEADER words: rows; subscriptions among them (first); this submission's rows or slots,
//         first and end; what it looks for (PAIRS_BEFORE, PAIRS_AFTER or both, and BY_SLOTS);
//         capacities of a list and of the changes; whether it ends the step. Then a row per moving
//         region: its name (index.wgsl) and its 2 DIMS keys after the step
// before  for each row the 2 DIMS keys before the step
//
// A query is a moving region's slot and what it looks for, as 4 slot + PAIRS_BEFORE, PAIRS_AFTER or
// both. A region whose old and new boxes overlap (a short move) looks for both at once, with the
// box around the two. If many move, queries are ordered by slot: neighbours meet the same nodes.
//
// bounds: as in matching/common.wgsl and index.wgsl. The host compares names of rows with the
// lengths of the sets, and keeps the numbers of a submission below those of rows or slots.

// import: matching/index.wgsl

const HEADER = 8u;
const PAIRS_BEFORE = 1u;
const PAIRS_AFTER = 2u;
const BY_SLOTS = 4u;

@group(0) @binding(3) var<storage, read> moves: array<u32>;

fn rows() -> u32 {
    return moves[0];
}

fn moved_subscriptions() -> u32 {
    return moves[1];
}

fn sought_times() -> u32 {
    return moves[4] & 3u;
}

fn list_capacity() -> u32 {
    return moves[5];
}

fn changes_capacity() -> u32 {
    return moves[6];
}

fn row_place(row: u32) -> u32 {
    return HEADER + row * (2u * DIMS + 1u);
}

fn name_of(row: u32) -> u32 {
    return moves[row_place(row)];
}

fn key_after(row: u32, column: u32) -> u32 {
    return moves[row_place(row) + 1u + column];
}

// The index in `counts` (moves_search.wgsl) of the number of rows that moved out of their old box.
const FAR = 15u;

fn box_after(row: u32) -> Box {
    var found = Box(vec4(0u), vec4(0u));
    for (var d = 0u; d < DIMS; d++) {
        found.lo[d] = key_after(row, 2u * d);
        found.hi[d] = key_after(row, 2u * d + 1u);
    }
    return found;
}
