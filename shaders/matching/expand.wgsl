// Writes the pairs of ranges that hold nothing but matches: sort-based matching in one dimension. The ranges'
// prefix sums say which pair belongs at each place of the output, so every thread has the same work however the
// ranges' lengths are spread.
//
// pairs  the page: (subscription, update) ids from place params.window of the output on, params.room of them
//
// A workgroup writes tiles of TILE pairs, neighbouring threads neighbouring pairs.

// import: matching/params.wgsl
// import: matching/candidates.wgsl

@group(0) @binding(7) var<storage, read_write> pairs: array<vec2<u32>>;

@compute @workgroup_size(SIZE)
fn expand(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
          @builtin(local_invocation_index) lane: u32) {
    let task = params.first + number(group, groups);
    if task >= params.end {
        return;
    }
    // A page has fewer than 2^32 pairs.
    let tile = open_tile(task, params.window.x + task * TILE, lane);
    for (var k = 0u; k < ITEMS; k++) {
        let p = k * SIZE + lane;
        let slot = task * TILE + p;
        if slot < params.room {
            let found = candidate(tile, p);
            pairs[slot] = vec2(subscription_id(found.x), update_id(found.y));
        }
    }
}
