// How selective each dimension is: overlaps per dimension among a sample of pairs. Every params.first-th
// subscription is tested against every params.end-th update, params.window.x of them against params.window.y.
//
// hits  for each dimension, how many of the sampled pairs overlap in it
//
// One thread per sampled subscription.

// import: matching/params.wgsl
// import: matching/workgroup.wgsl
// import: matching/boxes.wgsl

@group(0) @binding(3) var<storage, read_write> hits: array<atomic<u32>, 4>;

@compute @workgroup_size(SIZE)
fn sample(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
          @builtin(local_invocation_index) lane: u32) {
    let i = number(group, groups) * SIZE + lane;
    if i < params.window.x {
        let s = subscription(i * params.first);
        var found = vec4(0u);
        for (var j = 0u; j < params.window.y; j++) {
            let u = update(j * params.end);
            found += select(vec4(0u), vec4(1u), (s.lo < u.hi) & (u.lo < s.hi));
        }
        atomicAdd(&hits[0], found.x);
        atomicAdd(&hits[1], found.y);
        atomicAdd(&hits[2], found.z);
        atomicAdd(&hits[3], found.w);
    }
}
