// Counts overlaps in one dimension without looking at pairs. With n subscriptions and m updates, none empty,
//
//     overlaps = (pairs with u.lo < s.hi) + (pairs with s.lo < u.hi) - n m,
//
// because every pair has one of the two properties, and overlapping pairs have both. Either sum is the ranks of
// one side's upper bounds among the other side's sorted lower bounds.
//
// starts   lower bounds of the subscriptions, sorted, and from params.extra on those of the updates
// ends     upper bounds of both sides in the same order, which makes neighbours search near one another
// ranks    64-bit sums of ranks, one per workgroup
//
// params.subscriptions and params.updates are the regions of each side that are not empty. Workgroups up to params.first
// serve the ends of subscriptions, those from there up to params.end the ends of updates.
//
// A workgroup takes tiles of ITEMS x SIZE ends. It stages the starts between the tile's smallest and largest rank if
// there are at most STAGED, which they are where intervals have similar lengths.

// import: matching/params.wgsl
// import: matching/sum_wide.wgsl

override ITEMS: u32 = 6u;
const STAGED = 2048u;
// ROWS squared is SIZE.
const ROWS = 16u;

@group(0) @binding(1) var<storage, read> starts: array<u32>;
@group(0) @binding(2) var<storage, read> ends: array<u32>;
@group(0) @binding(3) var<storage, read_write> ranks: array<vec2<u32>>;

var<workgroup> near: array<u32, STAGED>;
var<workgroup> smallest: array<u32, SIZE>;
var<workgroup> largest: array<u32, SIZE>;
var<workgroup> bounds: array<u32, 2>;

// The first of starts[from_index..to_index] that does not lie below the key. At most 32 rounds.
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
fn near_rank(key: u32, count: u32) -> u32 {
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

@compute @workgroup_size(SIZE)
fn count_ranks(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
               @builtin(local_invocation_index) lane: u32) {
    let task = number(group, groups);
    if task >= params.end {
        return;
    }
    // The side whose ends are searched, where it begins, and likewise the starts of the other side.
    let of_updates = task >= params.first;
    let mine = select(task, task - params.first, of_updates);
    let step = select(params.first, params.end - params.first, of_updates);
    let count = select(params.subscriptions, params.updates, of_updates);
    let ends_first = select(0u, params.extra, of_updates);
    let starts_first = params.extra - ends_first;
    let starts_end = starts_first + select(params.updates, params.subscriptions, of_updates);
    let tile_size = ITEMS * SIZE;
    let tiles = (count + tile_size - 1u) / tile_size;
    var sum = vec2(0u);
    for (var t = mine; t < tiles; t += step) {
        var least = ~0u;
        var most = 0u;
        for (var k = 0u; k < ITEMS; k++) {
            let i = t * tile_size + k * SIZE + lane;
            if i < count {
                least = min(least, ends[ends_first + i]);
                most = max(most, ends[ends_first + i]);
            }
        }
        smallest[lane] = least;
        largest[lane] = most;
        workgroupBarrier();
        // ROWS threads reduce ROWS values each, then one thread theirs.
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
        // Likely in another subgroup: the two searches wait for memory at the same time.
        if lane == SIZE / 2u {
            for (var k = 0u; k < ROWS; k++) {
                most = max(most, largest[k]);
            }
            bounds[1] = rank(most, starts_first, starts_end);
        }
        let low = workgroupUniformLoad(&bounds[0]);
        let high = workgroupUniformLoad(&bounds[1]);
        let staged = high - low <= STAGED;
        if staged {
            for (var i = lane; i < high - low; i += SIZE) {
                near[i] = starts[low + i];
            }
        }
        workgroupBarrier();
        for (var k = 0u; k < ITEMS; k++) {
            let i = t * tile_size + k * SIZE + lane;
            if i < count {
                var place = low;
                if staged {
                    place += near_rank(ends[ends_first + i], high - low);
                } else {
                    place = rank(ends[ends_first + i], low, high);
                }
                sum = add(sum, vec2(place - starts_first, 0u));
            }
        }
        workgroupBarrier();
    }
    sum = sum_wide(lane, sum);
    if lane == 0u {
        ranks[task] = sum;
    }
}
