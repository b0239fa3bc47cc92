// Brute-force matching: every subscription is tested against every update. Algorithm 2 of Marzolla
// and D'Angelo (2020).
//
// subscriptions, updates  boxes in columns (import.wgsl); ids are indices
//
// A task (tasks.wgsl) is GROUP_SIZE subscriptions, one per invocation, against TILES x GROUP_SIZE
// updates, which pass through workgroup memory. Tasks with the same subscriptions are consecutive.
//
// bounds: as in matching/common.wgsl. Staged boxes are at k < GROUP_SIZE. The divisor `spans()` is
// at least 1, because no kernel starts for a side without regions.

// import: matching/boxes.wgsl
// import: matching/tasks.wgsl

const TILES = 16u;
const SPAN = TILES * GROUP_SIZE;

// 2 DIMS columns of GROUP_SIZE keys.
var<workgroup> staged: array<u32, 8 * GROUP_SIZE>;

fn staged_box(k: u32) -> Box {
    var found = Box(vec4(staged[k], 0u, 0u, 0u), vec4(staged[GROUP_SIZE + k], 0u, 0u, 0u));
    if DIMS > 1u {
        found.lo.y = staged[2u * GROUP_SIZE + k];
        found.hi.y = staged[3u * GROUP_SIZE + k];
    }
    if DIMS > 2u {
        found.lo.z = staged[4u * GROUP_SIZE + k];
        found.hi.z = staged[5u * GROUP_SIZE + k];
    }
    if DIMS > 3u {
        found.lo.w = staged[6u * GROUP_SIZE + k];
        found.hi.w = staged[7u * GROUP_SIZE + k];
    }
    return found;
}

// Stages the updates from `base` on and returns their number.
fn stage(base: u32, lane: u32) -> u32 {
    if base + lane < params.updates {
        for (var c = 0u; c < 2u * DIMS; c++) {
            staged[c * GROUP_SIZE + lane] = updates[c * params.updates + base + lane];
        }
    }
    workgroupBarrier();
    return min(GROUP_SIZE, params.updates - base);
}

fn spans() -> u32 {
    return (params.updates + SPAN - 1u) / SPAN;
}

// The first update of a task.
fn first_update(task: u32) -> u32 {
    return task % spans() * SPAN;
}

// The subscription that an invocation tests; params.subscriptions or more if it has none.
fn subscription_of(task: u32, lane: u32) -> u32 {
    return task / spans() * GROUP_SIZE + lane;
}

// Its box, or one that overlaps no other.
fn tested(s: u32) -> Box {
    if s < params.subscriptions {
        return subscription(s);
    }
    return Box(vec4(~0u), vec4(0u));
}

fn count_hits(mine: Box, first: u32, lane: u32) -> u32 {
    var hits = 0u;
    for (var t = 0u; t < TILES && first + t * GROUP_SIZE < params.updates; t++) {
        let count = stage(first + t * GROUP_SIZE, lane);
        for (var k = 0u; k < count; k++) {
            if overlaps(mine, staged_box(k)) {
                hits += 1u;
            }
        }
        workgroupBarrier();
    }
    return hits;
}

@compute @workgroup_size(GROUP_SIZE)
fn count_pairs(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
               @builtin(local_invocation_index) lane: u32) {
    let task = task_number(group, groups);
    if task < params.end {
        let mine = tested(subscription_of(task, lane));
        keep_count(task, lane, count_hits(mine, first_update(task), lane));
    }
}

@compute @workgroup_size(GROUP_SIZE)
fn write_pairs(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
               @builtin(local_invocation_index) lane: u32) {
    let task = task_number(group, groups);
    if task >= params.end {
        return;
    }
    if !in_page(task) {
        return;
    }
    let s = subscription_of(task, lane);
    let mine = tested(s);
    let first = first_update(task);
    open_places(task, lane, count_hits(mine, first, lane));
    for (var t = 0u; t < TILES && first + t * GROUP_SIZE < params.updates; t++) {
        let base = first + t * GROUP_SIZE;
        let count = stage(base, lane);
        for (var k = 0u; k < count; k++) {
            if overlaps(mine, staged_box(k)) {
                put(s, base + k);
            }
        }
        workgroupBarrier();
    }
}
