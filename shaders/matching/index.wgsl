// The index of moving regions: for each side a tree of bounding boxes, both in the same buffers.
//
// leaves  one row per region of both sides, subscriptions first, each side in an order that keeps neighbours together: 2 DIMS
//         columns of keys as in import.wgsl; a column of names; a column of marks. A region's name is its id, of updates plus
//         the number of subscriptions. A mark is 1 for a region that moves in the step at hand
//         (moves.wgsl), else 0. A row of this buffer is a slot
// other_time  2 DIMS columns, by slot: the keys of a marked leaf at the time of the step that `leaves` does not have, before or after it
// nodes   the levels above, from 1 on: node i of a level holds the box around its children, nodes FANOUT i .. FANOUT i + FANOUT - 1
//         of the level below. Each level has 2 DIMS columns, in each the subscriptions' nodes first
// slots   by name, the slot
//
// After the linear bounding volume hierarchies of Lauterbach et al., Fast BVH Construction on GPUs, Computer Graphics Forum 28
// (2009), with wide nodes and an implicit layout.
//
// provides: params
//
// bounds: as in matching/common.wgsl. Names are numbered 0 .. n and permuted by a stable sort of n
// pairs; `slots` is the inverse. Nodes and children are compared with the sizes of their level.
// `levels` has an entry for each level (`Index::new`): 8 at most, since there are fewer than 2^28
// regions.

// import: matching/boxes.wgsl

const FANOUT = 16u;

struct IndexParams {
    // Regions of each side.
    subscriptions: u32,
    updates: u32,
    // The highest level: there a side has FANOUT nodes at the most.
    top: u32,
    // The level that the dispatch is about.
    level: u32,
    // For each level: its first word in `nodes`, the subscriptions' nodes, all nodes. Level 0 is the leaves.
    levels: array<vec4<u32>, 9>,
}

@group(0) @binding(0) var<uniform> params: IndexParams;

fn regions() -> u32 {
    return params.subscriptions + params.updates;
}

// The first node of a side in a level, and how many it has there.
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
