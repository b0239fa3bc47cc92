// Tests the candidates of ranges and passes on those that match: sort-based matching in more than one
// dimension, and grid matching. What a match is, `accept` says: accept_overlap.wgsl or accept_home.wgsl. Where
// it goes, the sink says.
//
// params.extra is the number of ranges. A task is a tile of TILE candidates, one workgroup's.

// import: matching/params.wgsl
// import: matching/candidates.wgsl

@compute @workgroup_size(SIZE)
fn filter_candidates(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
          @builtin(local_invocation_index) lane: u32) {
    let task = params.first + number(group, groups);
    if task >= params.end {
        return;
    }
    if !wanted(task) {
        return;
    }
    let start = tile_start(task);
    // In the last tile there may be fewer.
    let left = subtract(places[params.extra], start);
    let count = select(min(left.x, TILE), TILE, left.y > 0u);
    let tile = open_tile(task, start.x, lane);
    var hits = 0u;
    for (var k = 0u; k < ITEMS; k++) {
        let p = k * SIZE + lane;
        if p < count {
            let pair = candidate(tile, p);
            if accept(pair.x, pair.y) {
                hits |= 1u << k;
            }
        }
    }
    if begin(task, lane, countOneBits(hits)) {
        for (var k = 0u; k < ITEMS; k++) {
            if ((hits >> k) & 1u) == 1u {
                let pair = candidate(tile, k * SIZE + lane);
                put(subscription_id(pair.x), update_id(pair.y));
            }
        }
    }
}
