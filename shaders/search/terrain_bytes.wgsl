// Terrain of maps: the factor of moves into a cell, a byte for each cell, four in a word.
//
// provides: terrain_of
//
// bounds: cells as in grid.wgsl: `terrain` has a byte for each.

@group(0) @binding(8) var<storage> terrain: array<u32>;

fn terrain_of(cell: u32) -> u32 {
    return (terrain[cell / 4u] >> (cell % 4u * 8u)) & 0xffu;
}
