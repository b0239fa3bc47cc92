// The boxes of both sides, in columns of `subscriptions` and `updates` keys (import.wgsl), and the
// test of Algorithm 1 of Marzolla and D'Angelo (2020) for half-open intervals in DIMS dimensions.
// Empty regions hold keys that fail it. A sorted side has the regions' ids as one more column.
//
// The importing file declares the uniform `params` with the numbers `subscriptions` and `updates`
// of boxes.
//
// needs: params
//
// bounds: as in matching/common.wgsl. Callers give boxes below the numbers in `params`.

// import: matching/common.wgsl

// Bounds in dimensions from DIMS on are ignored.
struct Box {
    lo: vec4<u32>,
    hi: vec4<u32>,
}

@group(0) @binding(1) var<storage, read> subscriptions: array<u32>;
@group(0) @binding(2) var<storage, read> updates: array<u32>;

fn overlaps(a: Box, b: Box) -> bool {
    var hit = (a.lo.x < b.hi.x) & (b.lo.x < a.hi.x);
    if DIMS > 1u {
        hit = hit & (a.lo.y < b.hi.y) & (b.lo.y < a.hi.y);
    }
    if DIMS > 2u {
        hit = hit & (a.lo.z < b.hi.z) & (b.lo.z < a.hi.z);
    }
    if DIMS > 3u {
        hit = hit & (a.lo.w < b.hi.w) & (b.lo.w < a.hi.w);
    }
    return hit;
}

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
