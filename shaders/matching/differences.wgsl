// The differences between two lists of pairs, both ascending.
//
// pairs    (subscription, update) ids in any order
// keys     key_pairs: the same as 64-bit numbers, low word first: the subscription is the high word
// now, old the two lists, as such numbers
// flags    find_differences: 1 for each number that the other list lacks, first `now`, then `old`
// places   the sums of the flags before each (64 bits)
// changes  put_differences: the flagged numbers, ENDED set in those of `old`; so they ascend
//          (moves_search.wgsl)
//
// One invocation per number.
//
// provides: Sought, goes_before, params
//
// bounds: as in matching/common.wgsl. The host passes the lengths of the lists; places of written
// numbers are the exclusive prefix sum of 0 or 1 for each number.

// import: gpu/search.wgsl
// import: gpu/wide.wgsl
// import: matching/common.wgsl

const ENDED = 0x80000000u;

struct DifferenceParams {
    // The lengths of the lists; their sum is below 2^31.
    now: u32,
    old: u32,
}

@group(0) @binding(0) var<uniform> params: DifferenceParams;
@group(0) @binding(1) var<storage, read> pairs: array<vec2<u32>>;
@group(0) @binding(2) var<storage, read_write> keys: array<vec2<u32>>;
@group(0) @binding(3) var<storage, read> now: array<vec2<u32>>;
@group(0) @binding(4) var<storage, read> old: array<vec2<u32>>;
@group(0) @binding(5) var<storage, read_write> flags: array<u32>;
@group(0) @binding(6) var<storage, read> marked: array<u32>;
@group(0) @binding(7) var<storage, read> places: array<vec2<u32>>;
@group(0) @binding(8) var<storage, read_write> changes: array<vec2<u32>>;

struct Sought {
    in_old: bool,
    key: vec2<u32>,
}

fn goes_before(i: u32, sought: Sought) -> bool {
    if sought.in_old {
        return wide_less(old[i], sought.key);
    }
    return wide_less(now[i], sought.key);
}

@compute @workgroup_size(GROUP_SIZE)
fn key_pairs(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
             @builtin(local_invocation_index) lane: u32) {
    let i = group_number(group, groups) * GROUP_SIZE + lane;
    if i < params.now {
        keys[i] = pairs[i].yx;
    }
}

@compute @workgroup_size(GROUP_SIZE)
fn find_differences(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
                    @builtin(local_invocation_index) lane: u32) {
    let i = group_number(group, groups) * GROUP_SIZE + lane;
    if i < params.now {
        let place = search(0u, params.old, Sought(true, now[i]));
        var found = false;
        if place < params.old {
            found = all(old[place] == now[i]);
        }
        flags[i] = select(1u, 0u, found);
    } else if i - params.now < params.old {
        let key = old[i - params.now];
        let place = search(0u, params.now, Sought(false, key));
        var found = false;
        if place < params.now {
            found = all(now[place] == key);
        }
        flags[i] = select(1u, 0u, found);
    }
}

@compute @workgroup_size(GROUP_SIZE)
fn put_differences(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
                   @builtin(local_invocation_index) lane: u32) {
    let i = group_number(group, groups) * GROUP_SIZE + lane;
    if i >= params.now + params.old {
        return;
    }
    if marked[i] == 0u {
        return;
    }
    if i < params.now {
        changes[places[i].x] = now[i];
    } else {
        let key = old[i - params.now];
        changes[places[i].x] = vec2(key.x, key.y | ENDED);
    }
}
