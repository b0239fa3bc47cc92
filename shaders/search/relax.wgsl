// The neighbours of a cell that a path through it makes cheaper, for one invocation per search.
//
// import: search/grid.wgsl
// provides: GUESSED, IN_PARTS, look, looked, marks, next_part
// needs: terrain_of
//
// bounds: cells as in grid.wgsl, slots as in slots.wgsl. Loops count to 8.

@group(0) @binding(6) var<storage, read_write> marks: array<u32>;

// For search/thread.wgsl: the heuristic is the library's, and all moves of a cell are read
// together.
const GUESSED = false;
const IN_PARTS = false;

// The neighbour in a direction, or the cell itself if the move is not allowed.
fn neighbour(cell: u32, moves: u32, d: u32) -> u32 {
    return select(cell, cell + direction_cell(d), ((moves >> d) & 1u) == 1u);
}

// The `moves` from a cell that make a path cheaper, and 0x100 if one was skipped because its cost
// is beyond the range and it led to an unreached cell. `base` is of the slot's marks. All loads
// precede their uses, so that they overlap. No loop: kernels with run-time checks do not unroll it.
fn cheaper(base: u32, cell: u32, moves: u32, cost: u32, epoch: u32) -> u32 {
    let a = vec4<u32>(neighbour(cell, moves, 0u), neighbour(cell, moves, 1u), neighbour(cell, moves, 2u), neighbour(cell, moves, 3u));
    let b = vec4<u32>(neighbour(cell, moves, 4u), neighbour(cell, moves, 5u), neighbour(cell, moves, 6u), neighbour(cell, moves, 7u));
    let of_a = vec4<u32>(marks[base + a.x], marks[base + a.y], marks[base + a.z], marks[base + a.w]);
    let of_b = vec4<u32>(marks[base + b.x], marks[base + b.y], marks[base + b.z], marks[base + b.w]);
    let to_a = cost + work.straight * vec4<u32>(terrain_of(a.x), terrain_of(a.y), terrain_of(a.z), terrain_of(a.w));
    let to_b = cost + work.diagonal * vec4<u32>(terrain_of(b.x), terrain_of(b.y), terrain_of(b.z), terrain_of(b.w));
    let bits_a = vec4<u32>(1u, 2u, 4u, 8u);
    let bits_b = bits_a << vec4<u32>(4u);
    let range = vec4<u32>(work.range);
    let beyond = select(vec4<u32>(0u), bits_a, to_a >= range) | select(vec4<u32>(0u), bits_b, to_b >= range);
    let less = select(vec4<u32>(0u), bits_a, vec4<u32>(epoch) - to_a > of_a) | select(vec4<u32>(0u), bits_b, vec4<u32>(epoch) - to_b > of_b);
    let dropped = (beyond.x | beyond.y | beyond.z | beyond.w) & moves;
    let before = vec4<u32>(epoch - work.range);
    let fresh = select(vec4<u32>(0u), bits_a, of_a <= before) | select(vec4<u32>(0u), bits_b, of_b <= before);
    let lost = dropped & (fresh.x | fresh.y | fresh.z | fresh.w);
    return ((less.x | less.y | less.z | less.w) & moves & ~dropped) | select(0u, 0x100u, lost != 0u);
}

// The moves from a place that make a path cheaper.
fn look(base: u32, place: u32, cost: u32, epoch: u32, part: u32) -> u32 {
    let cell = cell_of(place);
    return cheaper(base, cell, allowed_from(cell), cost, epoch);
}

// The end of a move: (mark, place, cost).
fn looked(place: u32, cost: u32, part: u32, d: u32) -> vec3<u32> {
    let next = cell_of(place) + direction_cell(d);
    return vec3<u32>(next, place + direction_place(d), cost + move_cost(d) * terrain_of(next));
}

fn next_part(place: u32, part: u32) -> u32 {
    return 0u;
}
