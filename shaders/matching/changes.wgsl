// Which overlaps of moved regions are new, or gone. Of the pairs that overlap at one time, those remain that do
// not at the other.
//
// subscriptions, updates  all boxes at the other time, by id (import.wgsl)
// found    the candidates: pairs that overlap at the one time, fewer than 2^32, of the moved side (SIDE 0: subscriptions,
//          1: updates) the place among the moved ones, of the other side the id
// ids      ids of the moved regions
// flags    by id of subscription, whether it moved too. If both of a pair moved, the subscription's side reports it
//
// A task (tasks.wgsl) is a tile of TILE pairs.

// import: matching/boxes.wgsl
// import: matching/tasks.wgsl

override SIDE: u32 = 0u;

@group(0) @binding(3) var<storage, read> found: array<vec2<u32>>;
@group(0) @binding(4) var<storage, read> ids: array<u32>;
@group(0) @binding(5) var<storage, read> flags: array<u32>;

fn pair_at(i: u32) -> vec2<u32> {
    let pair = found[i];
    if SIDE == 0u {
        return vec2(ids[pair.x], pair.y);
    }
    return vec2(pair.x, ids[pair.y]);
}

// Which of the invocation's pairs are changes: bit k for item k.
fn test_pairs(task: u32, lane: u32) -> u32 {
    var hits = 0u;
    for (var k = 0u; k < ITEMS; k++) {
        let i = task * TILE + k * GROUP_SIZE + lane;
        if i < params.candidates.x {
            let pair = pair_at(i);
            let twice = SIDE == 1u && flags[pair.x] != 0u;
            if !twice && !overlaps(subscription(pair.x), update(pair.y)) {
                hits |= 1u << k;
            }
        }
    }
    return hits;
}

@compute @workgroup_size(GROUP_SIZE)
fn count_changes(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
                 @builtin(local_invocation_index) lane: u32) {
    let task = task_number(group, groups);
    if task < params.end {
        keep_count(task, lane, countOneBits(test_pairs(task, lane)));
    }
}

@compute @workgroup_size(GROUP_SIZE)
fn write_changes(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
                 @builtin(local_invocation_index) lane: u32) {
    let task = task_number(group, groups);
    if task >= params.end {
        return;
    }
    if !in_page(task) {
        return;
    }
    let hits = test_pairs(task, lane);
    open_places(task, lane, countOneBits(hits));
    for (var k = 0u; k < ITEMS; k++) {
        if ((hits >> k) & 1u) == 1u {
            let pair = pair_at(task * TILE + k * GROUP_SIZE + lane);
            put(pair.x, pair.y);
        }
    }
}
