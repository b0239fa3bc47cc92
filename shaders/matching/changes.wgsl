// Which overlaps of moved regions are new, or gone. Of the pairs that overlap at one time, those remain that do
// not at the other.
//
// subscriptions, updates  all boxes at the other time, by id (import.wgsl)
// found    pairs that overlap at the one time, params.extra of them: of the moved side (SIDE 0: subscriptions, 1: updates)
//          the place among the moved ones, of the other side the id
// ids      ids of the moved regions
// flags    by id of subscription, whether it moved too. If both of a pair moved, the subscription's side reports it
//
// A task is a tile of TILE pairs, one workgroup's. Where the pairs go, the sink says.

// import: matching/params.wgsl
// import: matching/boxes.wgsl
// import: matching/tile.wgsl

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

@compute @workgroup_size(SIZE)
fn find_changes(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
                @builtin(local_invocation_index) lane: u32) {
    let task = params.first + number(group, groups);
    if task >= params.end {
        return;
    }
    if !wanted(task) {
        return;
    }
    var hits = 0u;
    for (var k = 0u; k < ITEMS; k++) {
        let i = task * TILE + k * SIZE + lane;
        if i < params.extra {
            let pair = pair_at(i);
            let twice = SIDE == 1u && flags[pair.x] != 0u;
            if !twice && !overlaps(subscription(pair.x), update(pair.y)) {
                hits |= 1u << k;
            }
        }
    }
    if begin(task, lane, countOneBits(hits)) {
        for (var k = 0u; k < ITEMS; k++) {
            if ((hits >> k) & 1u) == 1u {
                let pair = pair_at(task * TILE + k * SIZE + lane);
                put(pair.x, pair.y);
            }
        }
    }
}
