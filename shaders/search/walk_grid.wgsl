// Predecessors of paths on maps, for search/walk.wgsl.
//
// import: search/grid.wgsl
// provides: place_before
// needs: marks, terrain_of
//
// bounds: cells as in grid.wgsl; `place_before` compares with the sides. The loop counts to
// `directions`.

// The predecessor of this place: the first in the order of directions. All are read in one part.
fn place_before(base: u32, place: u32, part: u32) -> vec2<u32> {
    let cell = cell_of(place);
    let mark = marks[base + cell];
    let terrain = terrain_of(cell);
    let at = vec2<i32>(i32(place & 0xffffu), i32(place >> 16u));
    for (var d = 0u; d < work.directions; d += 1u) {
        let x = at.x - direction_x(d);
        let y = at.y - direction_y(d);
        if x < 0 || y < 0 || x >= i32(work.width) || y >= i32(work.height) { continue; }
        let other = u32(y) * work.width + u32(x);
        // A mark is the epoch less the cost: the predecessor's is greater by the cost of the move.
        // Marks of earlier searches are less.
        if ((allowed_from(other) >> d) & 1u) == 1u && marks[base + other] == mark + move_cost(d) * terrain {
            return vec2<u32>(u32(x) | (u32(y) << 16u), 0u);
        }
    }
    // There is always one.
    return vec2<u32>(place, 0u);
}
