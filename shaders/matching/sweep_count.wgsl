// Counts overlaps in one dimension without testing pairs. With n subscriptions and m updates, none
// empty,
//
//     overlaps = (pairs with u.lo < s.hi) + (pairs with s.lo < u.hi) - n m,
//
// because every pair has one of the two properties, and overlapping pairs have both. Either sum is
// the ranks of one side's upper bounds among the other side's sorted lower bounds.
//
// 1. copy_bounds copies each side's lower bounds to copied_starts and upper bounds to copied_ends,
//    padding the smaller side to places() with empty regions, which sort last.
// 2. A radix sort of both, starts as keys and ends as values, so that neighbours search close
//    together.
// 3. count_ranks sums the ranks of each workgroup's tiles of ENDS x GROUP_SIZE ends into `ranks`.
// 4. total_ranks, one workgroup: total[0] is the sum of `ranks`, less n m.
//
// provides: Reduced, merge, params
//
// bounds: as in matching/common.wgsl. Ranks lie between the two ends of a search, which are places
// of one side; staged keys are below STAGED. The step over tiles is the number of workgroups of the
// side that has this one, so at least 1.

// import: gpu/reduce.wgsl
// import: gpu/wide.wgsl
// import: matching/common.wgsl

struct CountParams {
    // n m of the regions that are not empty.
    pairs: vec2<u32>,
    // Regions of each side, and the number that are not empty.
    subscriptions: u32,
    updates: u32,
    filled_subscriptions: u32,
    filled_updates: u32,
    // Workgroups that serve each side's ends.
    subscription_groups: u32,
    update_groups: u32,
}

override ENDS: u32 = 6u;
const STAGED = 2048u;
// ROWS squared is GROUP_SIZE.
const ROWS = 16u;

@group(0) @binding(0) var<uniform> params: CountParams;
@group(0) @binding(1) var<storage, read> subscriptions: array<u32>;
@group(0) @binding(2) var<storage, read> updates: array<u32>;
@group(0) @binding(3) var<storage, read_write> copied_starts: array<u32>;
@group(0) @binding(4) var<storage, read_write> copied_ends: array<u32>;
@group(0) @binding(5) var<storage, read> starts: array<u32>;
@group(0) @binding(6) var<storage, read> ends: array<u32>;
@group(0) @binding(7) var<storage, read_write> ranks: array<vec2<u32>>;
@group(0) @binding(8) var<storage, read> all_ranks: array<vec2<u32>>;
@group(0) @binding(9) var<storage, read_write> total: array<vec2<u32>>;

var<workgroup> near: array<u32, STAGED>;
var<workgroup> smallest: array<u32, GROUP_SIZE>;
var<workgroup> largest: array<u32, GROUP_SIZE>;
var<workgroup> bounds: array<u32, 2>;

alias Reduced = vec2<u32>;

fn merge(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    return wide_add(a, b);
}

// Places of each side in the sorted arrays.
fn places() -> u32 {
    return max(params.subscriptions, params.updates);
}

@compute @workgroup_size(GROUP_SIZE)
fn copy_bounds(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
               @builtin(local_invocation_index) lane: u32) {
    let place = group_number(group, groups) * GROUP_SIZE + lane;
    if place >= 2u * places() {
        return;
    }
    // Empty regions as in import.wgsl.
    var lo = ~0u;
    var hi = 0u;
    if place < places() {
        if place < params.subscriptions {
            lo = subscriptions[place];
            hi = subscriptions[params.subscriptions + place];
        }
    } else if place - places() < params.updates {
        lo = updates[place - places()];
        hi = updates[params.updates + place - places()];
    }
    copied_starts[place] = lo;
    copied_ends[place] = hi;
}

// Not gpu/search.wgsl: these two searches, specialised to their arrays, are the time of a count.

// The first of starts[from_index..to_index] that is not below the key. At most 32 rounds.
fn rank(key: u32, from_index: u32, to_index: u32) -> u32 {
    var first = from_index;
    var end = to_index;
    while first < end {
        let middle = first + (end - first) / 2u;
        if starts[middle] < key {
            first = middle + 1u;
        } else {
            end = middle;
        }
    }
    return first;
}

// The same in workgroup memory, from 0.
fn local_rank(key: u32, count: u32) -> u32 {
    var first = 0u;
    var end = count;
    while first < end {
        let middle = first + (end - first) / 2u;
        if near[middle] < key {
            first = middle + 1u;
        } else {
            end = middle;
        }
    }
    return first;
}

// Starts between a tile's smallest and largest rank are staged if there are at most STAGED, which
// is usual if intervals have similar lengths.
@compute @workgroup_size(GROUP_SIZE)
fn count_ranks(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
               @builtin(local_invocation_index) lane: u32) {
    let task = group_number(group, groups);
    if task >= params.subscription_groups + params.update_groups {
        return;
    }
    // The side whose ends are searched, its first place, and the starts of the other side.
    let of_updates = task >= params.subscription_groups;
    let mine = select(task, task - params.subscription_groups, of_updates);
    let step = select(params.subscription_groups, params.update_groups, of_updates);
    let count = select(params.filled_subscriptions, params.filled_updates, of_updates);
    let ends_first = select(0u, places(), of_updates);
    let starts_first = places() - ends_first;
    let starts_end = starts_first + select(params.filled_updates, params.filled_subscriptions, of_updates);
    let tile_size = ENDS * GROUP_SIZE;
    let tiles = (count + tile_size - 1u) / tile_size;
    var sum = vec2(0u);
    for (var t = mine; t < tiles; t += step) {
        var least = ~0u;
        var most = 0u;
        for (var k = 0u; k < ENDS; k++) {
            let i = t * tile_size + k * GROUP_SIZE + lane;
            if i < count {
                least = min(least, ends[ends_first + i]);
                most = max(most, ends[ends_first + i]);
            }
        }
        smallest[lane] = least;
        largest[lane] = most;
        workgroupBarrier();
        // ROWS invocations reduce ROWS values each, then one reduces theirs: two barriers per tile;
        // gpu/reduce.wgsl has eleven.
        if lane < ROWS {
            for (var k = 1u; k < ROWS; k++) {
                smallest[lane] = min(smallest[lane], smallest[k * ROWS + lane]);
                largest[lane] = max(largest[lane], largest[k * ROWS + lane]);
            }
        }
        workgroupBarrier();
        if lane == 0u {
            for (var k = 1u; k < ROWS; k++) {
                least = min(least, smallest[k]);
            }
            bounds[0] = rank(min(least, smallest[0]), starts_first, starts_end);
        }
        // Usually in another subgroup, so that the two searches wait for memory at the same time.
        if lane == GROUP_SIZE / 2u {
            for (var k = 0u; k < ROWS; k++) {
                most = max(most, largest[k]);
            }
            bounds[1] = rank(most, starts_first, starts_end);
        }
        let low = workgroupUniformLoad(&bounds[0]);
        let high = workgroupUniformLoad(&bounds[1]);
        let staged = high - low <= STAGED;
        if staged {
            for (var i = lane; i < high - low; i += GROUP_SIZE) {
                near[i] = starts[low + i];
            }
        }
        workgroupBarrier();
        for (var k = 0u; k < ENDS; k++) {
            let i = t * tile_size + k * GROUP_SIZE + lane;
            if i < count {
                var place = low;
                if staged {
                    place += local_rank(ends[ends_first + i], high - low);
                } else {
                    place = rank(ends[ends_first + i], low, high);
                }
                sum = wide_add(sum, vec2(place - starts_first, 0u));
            }
        }
        workgroupBarrier();
    }
    sum = reduce_group(lane, sum);
    if lane == 0u {
        ranks[task] = sum;
    }
}

@compute @workgroup_size(GROUP_SIZE)
fn total_ranks(@builtin(local_invocation_index) lane: u32) {
    var sum = vec2(0u);
    for (var i = lane; i < params.subscription_groups + params.update_groups; i += GROUP_SIZE) {
        sum = wide_add(sum, all_ranks[i]);
    }
    sum = reduce_group(lane, sum);
    if lane == 0u {
        total[0] = wide_subtract(sum, params.pairs);
    }
}
