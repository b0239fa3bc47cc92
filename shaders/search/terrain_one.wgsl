// Terrain of maps on which all passable cells have 1.

fn terrain_of(cell: u32) -> u32 {
    return 1u;
}
