// A step of moving regions by matching from scratch: the sets get the new bounds (moves.wgsl), and
// the old ones again if the step is taken back.
//
// before  for each row the 2 DIMS keys before the step
// counts  [FAR] the number of regions whose old and new boxes are disjoint
//
// One invocation per row. The trees are unchanged: they are rebuilt before their next use.
//
// provides: Reduced, merge
//
// bounds: as in moves.wgsl.

// import: gpu/reduce.wgsl
// import: matching/moves.wgsl

@group(0) @binding(4) var<storage, read_write> before: array<u32>;
@group(0) @binding(5) var<storage, read_write> counts: array<atomic<u32>>;
@group(0) @binding(6) var<storage, read_write> settled_subscriptions: array<u32>;
@group(0) @binding(7) var<storage, read_write> settled_updates: array<u32>;

alias Reduced = u32;

fn merge(a: u32, b: u32) -> u32 {
    return a + b;
}

// Sets a key of a region and returns its old value.
fn exchange_key(name: u32, column: u32, key: u32) -> u32 {
    if name < params.subscriptions {
        let place = column * params.subscriptions + name;
        let old = settled_subscriptions[place];
        settled_subscriptions[place] = key;
        return old;
    }
    let place = column * params.updates + (name - params.subscriptions);
    let old = settled_updates[place];
    settled_updates[place] = key;
    return old;
}

@compute @workgroup_size(GROUP_SIZE)
fn exchange(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
            @builtin(local_invocation_index) lane: u32) {
    let row = group_number(group, groups) * GROUP_SIZE + lane;
    var far = 0u;
    if row < rows() {
        var old = Box(vec4(0u), vec4(0u));
        for (var d = 0u; d < DIMS; d++) {
            old.lo[d] = exchange_key(name_of(row), 2u * d, key_after(row, 2u * d));
            old.hi[d] = exchange_key(name_of(row), 2u * d + 1u, key_after(row, 2u * d + 1u));
            before[row * 2u * DIMS + 2u * d] = old.lo[d];
            before[row * 2u * DIMS + 2u * d + 1u] = old.hi[d];
        }
        far = u32(key_after(row, 0u) < key_after(row, 1u) && !overlaps(old, box_after(row)));
    }
    far = reduce_group(lane, far);
    if lane == 0u && far > 0u {
        atomicAdd(&counts[FAR], far);
    }
}

@compute @workgroup_size(GROUP_SIZE)
fn take_back(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
             @builtin(local_invocation_index) lane: u32) {
    let row = group_number(group, groups) * GROUP_SIZE + lane;
    if row < rows() {
        for (var c = 0u; c < 2u * DIMS; c++) {
            let key = exchange_key(name_of(row), c, before[row * 2u * DIMS + c]);
        }
    }
}
