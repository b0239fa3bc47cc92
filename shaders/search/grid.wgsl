// A space of search/slots.wgsl: the cells of a map.
//
//   allowed   a byte for each cell, four in a word: bit d says whether the move in direction d is allowed. Blocked cells, the map's end and
//             corners that would be cut are all in it
//
// A place is x | y << 16; in the map and in `marks` a cell is y * width + x.
//
// import: search/slots.wgsl
// provides: cell_of, heuristic
//
// bounds: cells are starts and goals that the host compared with the map, or lie a move from such a
// cell that the host lets lead to cells only: below `cells`, the length of `allowed`, `terrain` and
// of a slot's part of `marks`.

@group(0) @binding(1) var<storage> allowed: array<u32>;

fn cell_of(place: u32) -> u32 {
    return (place >> 16u) * work.width + (place & 0xffffu);
}

fn allowed_from(cell: u32) -> u32 {
    return (allowed[cell / 4u] >> (cell % 4u * 8u)) & 0xffu;
}

// The directions: right, down, left, up, then the diagonals from right and down on clockwise. Two bits of a table are x + 1, and y + 1.
fn direction_x(direction: u32) -> i32 {
    return i32((0x8246u >> (2u * direction)) & 3u) - 1;
}

fn direction_y(direction: u32) -> i32 {
    return i32((0x0a19u >> (2u * direction)) & 3u) - 1;
}

// What a move adds to a place, and to a cell.
fn direction_place(direction: u32) -> u32 {
    return u32(direction_x(direction) + direction_y(direction) * 65536);
}

fn direction_cell(direction: u32) -> u32 {
    return u32(direction_x(direction) + direction_y(direction) * i32(work.width));
}

fn move_cost(direction: u32) -> u32 {
    return select(work.diagonal, work.straight, direction < 4u);
}

// The least that a path between two places can cost.
fn heuristic(place: u32, goal: u32) -> u32 {
    let apart = abs(vec2<i32>(i32(place & 0xffffu), i32(place >> 16u)) - vec2<i32>(i32(goal & 0xffffu), i32(goal >> 16u)));
    return work.far * u32(max(apart.x, apart.y)) + work.near * u32(min(apart.x, apart.y));
}
