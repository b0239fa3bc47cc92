// Queries the interval tree (tree_level.wgsl): Algorithm 5 of Marzolla and D'Angelo (2020). A walk goes through
// the leaves that start below the update's end, in order, and skips the largest aligned block whose upper
// bounds all lie at or below the update's start. Its only state is the next leaf, so it needs no stack and can
// stop and go on.
//
// subscriptions  ordered boxes (boxes.wgsl): the leaves
// updates        ordered boxes: neighbouring threads then walk through neighbouring leaves
// cursors        for each update the next leaf; 0 before the first round
// nodes          all levels (tree_level.wgsl), each from levels.starts[level] on; levels.top.x is the root's
// found          for each update how many matches were found so far
// unfinished     [0] walks that need another round
//
// params.extra is the dimension of the order. One thread per update; a round is STEPS steps at the most.

// import: matching/params.wgsl
// import: matching/workgroup.wgsl
// import: matching/boxes.wgsl
// import: matching/subscriptions_below.wgsl

override STEPS: u32 = 4096u;
const SHIFT = 3u;

struct Levels {
    top: vec4<u32>,
    starts: array<vec4<u32>, 3>,
}

@group(0) @binding(3) var<storage, read_write> cursors: array<u32>;
@group(0) @binding(4) var<storage, read> nodes: array<u32>;
@group(0) @binding(5) var<storage, read_write> found: array<u32>;
@group(0) @binding(8) var<storage, read_write> unfinished: array<atomic<u32>, 1>;
@group(0) @binding(9) var<uniform> levels: Levels;

// The level of the largest block that begins at a leaf.
fn level_at(leaf: u32) -> u32 {
    return min(countTrailingZeros(leaf) / SHIFT, levels.top.x);
}

@compute @workgroup_size(SIZE)
fn query(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
         @builtin(local_invocation_index) lane: u32) {
    let task = params.first + number(group, groups);
    let q = task * SIZE + lane;
    if task >= params.end || q >= params.updates || !wanted(q) {
        return;
    }
    let mine = update(q);
    let column = 2u * params.extra * params.updates;
    let start = updates[column + q];
    let end = subscriptions_below(updates[column + params.updates + q]);
    var leaf = cursors[q];
    if leaf >= end {
        return;
    }
    var hits = found[q];
    var level = level_at(leaf);
    for (var step = 0u; step < STEPS && leaf < end; step++) {
        let node = leaf >> (SHIFT * level);
        if nodes[levels.starts[level / 4u][level % 4u] + node] <= start {
            leaf = (node + 1u) << (SHIFT * level);
            level = level_at(leaf);
        } else if level > 0u {
            level -= 1u;
        } else {
            if overlaps(subscription(leaf), mine) {
                put(q, hits, leaf);
                hits += 1u;
            }
            leaf += 1u;
            level = level_at(leaf);
        }
    }
    cursors[q] = leaf;
    found[q] = hits;
    if leaf < end {
        atomicAdd(&unfinished[0], 1u);
    }
}
