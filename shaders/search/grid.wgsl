// A space of search/slots.wgsl: the cells of a map.
//
//   allowed   a byte per cell, four in a word: bit d is set if the move in direction d is allowed,
//             with respect to blocked cells, the map's edge and cut corners
//
// A place is x | y << 16; in the map and in `marks` a cell is y * width + x.
//
// import: search/slots.wgsl
// provides: cell_of, heuristic
//
// bounds: cells are starts and goals that the host compared with the map, or one move away from
// such a cell, and the host lets moves lead to cells only: below `cells`, the length of `allowed`,
// `terrain` and of a slot's part of `marks`.

@group(0) @binding(1) var<storage> allowed: array<u32>;

fn cell_of(place: u32) -> u32 {
    return (place >> 16u) * work.width + (place & 0xffffu);
}

fn allowed_from(cell: u32) -> u32 {
    return (allowed[cell / 4u] >> (cell % 4u * 8u)) & 0xffu;
}

// Directions: right, down, left, up, then the diagonals, clockwise from right and down. A table has
// x + 1, or y + 1, in two bits each.
fn direction_x(direction: u32) -> i32 {
    return i32((0x8246u >> (2u * direction)) & 3u) - 1;
}

fn direction_y(direction: u32) -> i32 {
    return i32((0x0a19u >> (2u * direction)) & 3u) - 1;
}

// The change of a place, and below, of a cell, by a move.
fn direction_place(direction: u32) -> u32 {
    return u32(direction_x(direction) + direction_y(direction) * 65536);
}

fn direction_cell(direction: u32) -> u32 {
    return u32(direction_x(direction) + direction_y(direction) * i32(work.width));
}

fn move_cost(direction: u32) -> u32 {
    return select(work.diagonal, work.straight, direction < 4u);
}

// A lower bound of the cost of a path between two places.
fn heuristic(place: u32, goal: u32) -> u32 {
    let apart = abs(vec2<i32>(i32(place & 0xffffu), i32(place >> 16u)) - vec2<i32>(i32(goal & 0xffffu), i32(goal >> 16u)));
    return work.far * u32(max(apart.x, apart.y)) + work.near * u32(min(apart.x, apart.y));
}
