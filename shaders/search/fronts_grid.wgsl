// Moves on maps, for search/fronts.wgsl.
//
// import: search/grid.wgsl
// provides: front_move, front_moves
// needs: terrain_of
//
// bounds: cells as in grid.wgsl. Moves are numbered below 8.

fn front_moves(cell: u32) -> u32 {
    return work.directions;
}

fn front_move(cell: u32, d: u32) -> vec2<u32> {
    if ((allowed_from(cell) >> d) & 1u) == 0u { return vec2<u32>(cell, 0u); }
    let next = cell + direction_cell(d);
    return vec2<u32>(next, move_cost(d) * terrain_of(next));
}
