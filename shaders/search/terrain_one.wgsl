// Terrain of maps on which all passable cells have 1.
//
// provides: terrain_of
//
// bounds: nothing is read.

fn terrain_of(cell: u32) -> u32 {
    return 1u;
}
