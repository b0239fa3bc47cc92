// How selective each dimension is: overlaps per dimension among a sample of pairs, those of every so manieth subscription
// with every so manieth update.
//
// hits  for each dimension, how many of the sampled pairs overlap in it
//
// A workgroup tests GROUP_SIZE of the sampled subscriptions, one per invocation, against every SLICES-th of the sampled
// updates: one invocation would wait for memory too long if it tested against all.
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
    // Every so manieth of each side is sampled, and so many are.
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
