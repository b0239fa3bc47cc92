// The index of moving regions: a tree of bounding boxes for each side, both in the same buffers.
// After the linear bounding volume hierarchies of Lauterbach et al., "Fast BVH Construction on
// GPUs", Computer Graphics Forum 28 (2009), with wide nodes and an implicit layout.
//
// leaves  a row (slot) per region, subscriptions first, neighbours close together: 2 DIMS columns
//         of keys as in import.wgsl, then names (the id, for updates plus the number of
//         subscriptions), then marks (1 if the region moves in the current step)
// other_time  2 DIMS columns, by slot: a marked leaf's keys at the time that `leaves` does not have
// nodes   the levels from 1 on: node i bounds nodes FANOUT i .. FANOUT i + FANOUT - 1 of the level
//         below. Each level has 2 DIMS columns, with the subscriptions' nodes first
// slots   by name, the slot
//
// provides: params
//
// bounds: as in matching/common.wgsl. Names are numbered 0 .. n and permuted by a stable sort of n
// pairs; `slots` is the inverse. Nodes and children are compared with the sizes of their level.
// `levels` has an entry for each level (`Index::new`): at most 8, since there are fewer than 2^28
// regions.

// import: matching/boxes.wgsl

const FANOUT = 16u;

struct IndexParams {
    // Regions of each side.
    subscriptions: u32,
    updates: u32,
    // The highest level: a side has at most FANOUT nodes there.
    top: u32,
    // The level of the dispatch.
    level: u32,
    // For each level: its first word in `nodes`, the subscriptions' nodes, all nodes. Level 0 is
    // the leaves.
    levels: array<vec4<u32>, 9>,
}

@group(0) @binding(0) var<uniform> params: IndexParams;

fn regions() -> u32 {
    return params.subscriptions + params.updates;
}

// The first node of a side in a level, and the side's number of nodes there.
fn nodes_of(level: u32, of_updates: bool) -> vec2<u32> {
    let sizes = params.levels[level];
    return select(vec2(0u, sizes.y), vec2(sizes.y, sizes.z - sizes.y), of_updates);
}

// The place of a key in `other_time`.
fn other_place(column: u32, slot: u32) -> u32 {
    return column * regions() + slot;
}

// The place of a key in `leaves` (level 0) or in `nodes`.
fn place_of(level: u32, column: u32, node: u32) -> u32 {
    let sizes = params.levels[level];
    return sizes.x + column * sizes.z + node;
}
