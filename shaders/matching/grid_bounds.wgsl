// Grid-based matching, first step: the bounding box of all regions that are not empty.
//
// subscriptions, updates  boxes in columns (import.wgsl)
// bounds   [2d] complement of the smallest lower bound in dimension d, [2d + 1] greatest upper
//          bound; initially zeros
//
// One invocation per region, first those of subscriptions.
//
// provides: Reduced, merge
//
// bounds: as in matching/common.wgsl. `bounds` is indexed by dimension.

// import: gpu/reduce.wgsl
// import: matching/boxes.wgsl
// import: matching/grid_params.wgsl

@group(0) @binding(3) var<storage, read_write> bounds: array<atomic<u32>, 8>;

// A bounding box with complemented lower bounds, so that empty regions are zeros.
struct Reduced {
    below: vec4<u32>,
    hi: vec4<u32>,
}

fn merge(a: Reduced, b: Reduced) -> Reduced {
    return Reduced(max(a.below, b.below), max(a.hi, b.hi));
}

@compute @workgroup_size(GROUP_SIZE)
fn find_bounds(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
               @builtin(local_invocation_index) lane: u32) {
    let i = group_number(group, groups) * GROUP_SIZE + lane;
    var mine = Reduced(vec4(0u), vec4(0u));
    if i < params.subscriptions + params.updates {
        let region = region_of(i);
        mine = Reduced(~region.lo, region.hi);
    }
    let all = reduce_group(lane, mine);
    if lane < DIMS {
        atomicMax(&bounds[2u * lane], all.below[lane]);
        atomicMax(&bounds[2u * lane + 1u], all.hi[lane]);
    }
}
