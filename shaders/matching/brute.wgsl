// Brute-force matching: every subscription is tested against every update. Algorithm 2 of Marzolla and D'Angelo
// (2020).
//
// subscriptions, updates  boxes in columns (import.wgsl); ids are indices
//
// A task is SIZE subscriptions, one per thread, against TILES x SIZE updates, which pass through workgroup
// memory. One workgroup per task; tasks that share their subscriptions follow one another.

// import: matching/boxes.wgsl

const TILES = 16u;
const SPAN = TILES * SIZE;

// 2 DIMS columns of SIZE keys.
var<workgroup> tile: array<u32, 8 * SIZE>;

fn tile_box(k: u32) -> Box {
    var found = Box(vec4(tile[k], 0u, 0u, 0u), vec4(tile[SIZE + k], 0u, 0u, 0u));
    if DIMS > 1u {
        found.lo.y = tile[2u * SIZE + k];
        found.hi.y = tile[3u * SIZE + k];
    }
    if DIMS > 2u {
        found.lo.z = tile[4u * SIZE + k];
        found.hi.z = tile[5u * SIZE + k];
    }
    if DIMS > 3u {
        found.lo.w = tile[6u * SIZE + k];
        found.hi.w = tile[7u * SIZE + k];
    }
    return found;
}

// Tests subscription `s` against the updates from `first` on, as many as a task has.
fn test(s: u32, first: u32, lane: u32, writing: bool) -> u32 {
    // Beyond the last subscription there is a box that overlaps none.
    var mine = Box(vec4(~0u), vec4(0u));
    if s < params.subscriptions {
        mine = subscription(s);
    }
    var hits = 0u;
    for (var t = 0u; t < TILES && first + t * SIZE < params.updates; t++) {
        let base = first + t * SIZE;
        if base + lane < params.updates {
            for (var c = 0u; c < 2u * DIMS; c++) {
                tile[c * SIZE + lane] = updates[c * params.updates + base + lane];
            }
        }
        workgroupBarrier();
        let count = min(SIZE, params.updates - base);
        for (var k = 0u; k < count; k++) {
            if overlaps(mine, tile_box(k)) {
                hits += 1u;
                if writing {
                    put(s, base + k);
                }
            }
        }
        workgroupBarrier();
    }
    return hits;
}

@compute @workgroup_size(SIZE)
fn brute(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
         @builtin(local_invocation_index) lane: u32) {
    let task = params.first + number(group, groups);
    if task >= params.end {
        return;
    }
    if !wanted(task) {
        return;
    }
    let spans = (params.updates + SPAN - 1u) / SPAN;
    let s = task / spans * SIZE + lane;
    let first = task % spans * SPAN;
    let hits = test(s, first, lane, false);
    if begin(task, lane, hits) {
        test(s, first, lane, true);
    }
}
