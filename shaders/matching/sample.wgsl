// The selectivity of each dimension: overlaps per dimension among sampled pairs. The sample pairs
// every n-th subscription with every m-th update.
//
// hits  for each dimension, the number of sampled pairs that overlap in it
//
// A workgroup tests GROUP_SIZE sampled subscriptions, one per invocation, against every SLICES-th
// sampled update. With all updates, an invocation would wait for memory too long.
//
// provides: Reduced, merge, params
//
// bounds: as in matching/common.wgsl. Sampled boxes are below the numbers in `params`: the host
// chooses the step.

// import: gpu/reduce.wgsl
// import: matching/boxes.wgsl

const SLICES = 32u;

struct SampleParams {
    // Boxes of each side.
    subscriptions: u32,
    updates: u32,
    // The steps between sampled boxes of each side, and the numbers of sampled boxes.
    subscription_step: u32,
    update_step: u32,
    sampled_subscriptions: u32,
    sampled_updates: u32,
}

@group(0) @binding(0) var<uniform> params: SampleParams;
@group(0) @binding(3) var<storage, read_write> hits: array<atomic<u32>, 4>;

alias Reduced = vec4<u32>;

fn merge(a: vec4<u32>, b: vec4<u32>) -> vec4<u32> {
    return a + b;
}

@compute @workgroup_size(GROUP_SIZE)
fn sample(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
          @builtin(local_invocation_index) lane: u32) {
    let slice = group_number(group, groups) % SLICES;
    let i = group_number(group, groups) / SLICES * GROUP_SIZE + lane;
    var found = vec4(0u);
    if i < params.sampled_subscriptions {
        let s = subscription(i * params.subscription_step);
        for (var j = slice; j < params.sampled_updates; j += SLICES) {
            let u = update(j * params.update_step);
            found += select(vec4(0u), vec4(1u), (s.lo < u.hi) & (u.lo < s.hi));
        }
    }
    found = reduce_group(lane, found);
    if lane < 4u {
        atomicAdd(&hits[lane], found[lane]);
    }
}
