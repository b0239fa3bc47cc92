// How selective each dimension is: overlaps per dimension among a sample of pairs. Every params.first-th
// subscription is tested against every params.end-th update, params.window.x of them against params.window.y.
//
// hits  for each dimension, how many of the sampled pairs overlap in it
//
// A workgroup tests SIZE of the sampled subscriptions, one per thread, against every SLICES-th of the updates: one thread
// would wait for memory too long if it tested against all.

// import: matching/params.wgsl
// import: matching/workgroup.wgsl
// import: matching/boxes.wgsl

// As in sample.rs.
const SLICES = 32u;

@group(0) @binding(3) var<storage, read_write> hits: array<atomic<u32>, 4>;

var<workgroup> group_hits: array<atomic<u32>, 4>;

@compute @workgroup_size(SIZE)
fn sample(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
          @builtin(local_invocation_index) lane: u32) {
    if lane < 4u {
        atomicStore(&group_hits[lane], 0u);
    }
    workgroupBarrier();
    let slice = number(group, groups) % SLICES;
    let i = number(group, groups) / SLICES * SIZE + lane;
    if i < params.window.x {
        let s = subscription(i * params.first);
        var found = vec4(0u);
        for (var j = slice; j < params.window.y; j += SLICES) {
            let u = update(j * params.end);
            found += select(vec4(0u), vec4(1u), (s.lo < u.hi) & (u.lo < s.hi));
        }
        atomicAdd(&group_hits[0], found.x);
        atomicAdd(&group_hits[1], found.y);
        atomicAdd(&group_hits[2], found.z);
        atomicAdd(&group_hits[3], found.w);
    }
    workgroupBarrier();
    if lane < 4u {
        atomicAdd(&hits[lane], atomicLoad(&group_hits[lane]));
    }
}
