// Puts the bounds of both sides in one dimension where they are sorted together: lower bounds as keys, upper bounds as
// values.
//
// subscriptions, updates  a column of lower keys, then one of upper keys (import.wgsl)
// starts  lower bounds: params.extra of subscriptions, then as many of updates. The smaller side is filled up with empty
//         regions, which come last in the order
// ends    upper bounds likewise
//
// One thread per place.

// import: matching/params.wgsl
// import: matching/workgroup.wgsl

@group(0) @binding(1) var<storage, read> subscriptions: array<u32>;
@group(0) @binding(2) var<storage, read> updates: array<u32>;
@group(0) @binding(3) var<storage, read_write> starts: array<u32>;
@group(0) @binding(4) var<storage, read_write> ends: array<u32>;

@compute @workgroup_size(SIZE)
fn copy_bounds(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
               @builtin(local_invocation_index) lane: u32) {
    let place = number(group, groups) * SIZE + lane;
    if place >= 2u * params.extra {
        return;
    }
    // As import.wgsl has empty regions.
    var lo = ~0u;
    var hi = 0u;
    if place < params.extra {
        if place < params.subscriptions {
            lo = subscriptions[place];
            hi = subscriptions[params.subscriptions + place];
        }
    } else if place - params.extra < params.updates {
        lo = updates[place - params.extra];
        hi = updates[params.updates + place - params.extra];
    }
    starts[place] = lo;
    ends[place] = hi;
}
