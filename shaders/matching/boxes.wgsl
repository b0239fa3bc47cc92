// The boxes of both sides, in columns of `subscriptions` and `updates` keys (import.wgsl). A side that was put
// in order has the regions' ids as one more column.
//
// The file that imports this declares `params` with the counts of both sides.

// import: matching/overlap.wgsl

@group(0) @binding(1) var<storage, read> subscriptions: array<u32>;
@group(0) @binding(2) var<storage, read> updates: array<u32>;

fn subscription(i: u32) -> Box {
    let n = params.subscriptions;
    var found = Box(vec4(subscriptions[i], 0u, 0u, 0u), vec4(subscriptions[n + i], 0u, 0u, 0u));
    if DIMS > 1u {
        found.lo.y = subscriptions[2u * n + i];
        found.hi.y = subscriptions[3u * n + i];
    }
    if DIMS > 2u {
        found.lo.z = subscriptions[4u * n + i];
        found.hi.z = subscriptions[5u * n + i];
    }
    if DIMS > 3u {
        found.lo.w = subscriptions[6u * n + i];
        found.hi.w = subscriptions[7u * n + i];
    }
    return found;
}

fn update(i: u32) -> Box {
    let n = params.updates;
    var found = Box(vec4(updates[i], 0u, 0u, 0u), vec4(updates[n + i], 0u, 0u, 0u));
    if DIMS > 1u {
        found.lo.y = updates[2u * n + i];
        found.hi.y = updates[3u * n + i];
    }
    if DIMS > 2u {
        found.lo.z = updates[4u * n + i];
        found.hi.z = updates[5u * n + i];
    }
    if DIMS > 3u {
        found.lo.w = updates[6u * n + i];
        found.hi.w = updates[7u * n + i];
    }
    return found;
}

fn subscription_id(i: u32) -> u32 {
    return subscriptions[2u * DIMS * params.subscriptions + i];
}

fn update_id(i: u32) -> u32 {
    return updates[2u * DIMS * params.updates + i];
}
