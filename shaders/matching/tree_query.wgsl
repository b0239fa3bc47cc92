// Queries the interval tree (tree_level.wgsl): Algorithm 5 of Marzolla and D'Angelo (2020). A walk
// visits the leaves that start below the update's end, in order, and skips the largest aligned
// block whose upper bounds are all at or below the update's start. Its only state is the next leaf,
// so it needs no stack and can stop and resume.
//
// subscriptions  ordered boxes (order.wgsl): the leaves
// updates        ordered boxes: neighbouring invocations walk through neighbouring leaves
// cursors        for each update the next leaf; 0 before the first round
// nodes          all levels (tree_level.wgsl)
// found          for each update the number of matches so far
// unfinished     [0] walks that need another round
// offsets        tasks.wgsl, here for each update
//
// A task is GROUP_SIZE updates, one per invocation; a round is at most STEPS steps. Kernels:
// count_walks, write_walks.
//
// bounds: as in matching/common.wgsl. `cursors` begins at 0 and moves to leaves below `end`, which
// is at most their number. A node of level l is a leaf's number / 8^l, and the host allocates that
// many. Levels are at most 10, since there are at most 8^10 leaves: no shift reaches 32. A round
// has STEPS steps.

// import: matching/below.wgsl
// import: matching/tasks.wgsl

override STEPS: u32 = 4096u;
const SHIFT = 3u;

struct TreeParams {
    // The root's level.
    top: u32,
    // The dimension of the order.
    dimension: u32,
    unused: vec2<u32>,
    // The first node of each level in `nodes`.
    starts: array<vec4<u32>, 3>,
}

@group(0) @binding(3) var<storage, read_write> cursors: array<u32>;
@group(0) @binding(4) var<storage, read> nodes: array<u32>;
@group(0) @binding(5) var<storage, read_write> found: array<u32>;
@group(0) @binding(9) var<storage, read_write> unfinished: array<atomic<u32>, 1>;
@group(0) @binding(10) var<uniform> tree: TreeParams;

struct Walk {
    mine: Box,
    // In the dimension of the order: the update's start, and the first leaf that starts at its end
    // or later.
    start: u32,
    end: u32,
    leaf: u32,
    level: u32,
}

// The level of the largest block that begins at a leaf.
fn level_at(leaf: u32) -> u32 {
    return min(countTrailingZeros(leaf) / SHIFT, tree.top);
}

fn open_walk(q: u32) -> Walk {
    let column = 2u * tree.dimension;
    let start = updates[column * params.updates + q];
    let end = subscriptions_below(updates[(column + 1u) * params.updates + q], column);
    let leaf = cursors[q];
    return Walk(update(q), start, end, leaf, level_at(leaf));
}

// Takes one step. Returns whether it was over a matching leaf.
fn step_over(walk: ptr<function, Walk>) -> bool {
    let leaf = (*walk).leaf;
    let level = (*walk).level;
    let node = leaf >> (SHIFT * level);
    if nodes[tree.starts[level / 4u][level % 4u] + node] <= (*walk).start {
        (*walk).leaf = (node + 1u) << (SHIFT * level);
        (*walk).level = level_at((*walk).leaf);
        return false;
    }
    if level > 0u {
        (*walk).level = level - 1u;
        return false;
    }
    (*walk).leaf = leaf + 1u;
    (*walk).level = level_at(leaf + 1u);
    return overlaps(subscription(leaf), (*walk).mine);
}

fn close_walk(q: u32, walk: Walk, hits: u32) {
    cursors[q] = walk.leaf;
    found[q] = hits;
    if walk.leaf < walk.end {
        atomicAdd(&unfinished[0], 1u);
    }
}

@compute @workgroup_size(GROUP_SIZE)
fn count_walks(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
               @builtin(local_invocation_index) lane: u32) {
    let task = task_number(group, groups);
    let q = task * GROUP_SIZE + lane;
    if task >= params.end || q >= params.updates {
        return;
    }
    var walk = open_walk(q);
    if walk.leaf >= walk.end {
        return;
    }
    var hits = found[q];
    for (var step = 0u; step < STEPS && walk.leaf < walk.end; step++) {
        if step_over(&walk) {
            hits += 1u;
        }
    }
    close_walk(q, walk, hits);
}

@compute @workgroup_size(GROUP_SIZE)
fn write_walks(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
               @builtin(local_invocation_index) lane: u32) {
    let task = task_number(group, groups);
    let q = task * GROUP_SIZE + lane;
    if task >= params.end || q >= params.updates || !in_page(q) {
        return;
    }
    var walk = open_walk(q);
    if walk.leaf >= walk.end {
        return;
    }
    var hits = found[q];
    next_place = wide_subtract(wide_add(offsets[q], vec2(hits, 0u)), params.page_first);
    for (var step = 0u; step < STEPS && walk.leaf < walk.end; step++) {
        let leaf = walk.leaf;
        if step_over(&walk) {
            put(subscription_id(leaf), update_id(q));
            hits += 1u;
        }
    }
    close_walk(q, walk, hits);
}
