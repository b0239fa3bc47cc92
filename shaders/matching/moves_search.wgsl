// Finds the pairs that a step of moving regions changes (moves.wgsl): queries go down the other side's tree, level by level, each level a
// dispatch, so that a query with many answers is served by as many invocations.
//
// came, went  lists of (query, node): the nodes of the level above that a query goes into, and those of params.level. A node's number
//             is counted within its side
// counts      how many entries came to each level, written or not; [0] the changes; [FAR] of moves_apply.wgsl
// changes     (subscription, update) ids; the highest bit of the first is set where the pair ended
//
// FANOUT invocations serve an entry, one for each child. Kernels: descend for each level from params.top to 1, the first of which takes queries
// where the others take entries; find_changes for the leaves.

// import: matching/moves.wgsl

const ENTRIES = GROUP_SIZE / FANOUT;
const ENDED = 0x80000000u;

@group(0) @binding(4) var<storage, read> before: array<u32>;
@group(0) @binding(5) var<storage, read> leaves: array<u32>;
@group(0) @binding(6) var<storage, read> nodes: array<u32>;
@group(0) @binding(7) var<storage, read> came: array<vec2<u32>>;
@group(0) @binding(8) var<storage, read_write> went: array<vec2<u32>>;
@group(0) @binding(9) var<storage, read_write> counts: array<atomic<u32>>;
@group(0) @binding(10) var<storage, read_write> changes: array<vec2<u32>>;

var<workgroup> shared_count: array<u32, 1>;
var<workgroup> shared_first: array<u32, 1>;
var<workgroup> found_here: array<atomic<u32>, 1>;

fn box_before(row: u32) -> Box {
    var found = Box(vec4(0u), vec4(0u));
    for (var d = 0u; d < DIMS; d++) {
        found.lo[d] = before[row * 2u * DIMS + 2u * d];
        found.hi[d] = before[row * 2u * DIMS + 2u * d + 1u];
    }
    return found;
}

fn row_of(query: u32) -> u32 {
    return query >> 2u;
}

// The box that holds whatever a query looks for.
fn box_of(query: u32) -> Box {
    let times = query & 3u;
    if times == PAIRS_BEFORE {
        return box_before(row_of(query));
    }
    var found = box_after(row_of(query));
    if times != PAIRS_AFTER {
        let old = box_before(row_of(query));
        found = Box(min(found.lo, old.lo), max(found.hi, old.hi));
    }
    return found;
}

// Subscriptions look for updates, and updates for subscriptions.
fn seeks_updates(query: u32) -> bool {
    return row_of(query) < moved_subscriptions();
}

// How many entries a kernel takes: queries in the first dispatch.
fn entries(level: u32) -> u32 {
    if level > params.top {
        let both = sought_times() == (PAIRS_BEFORE | PAIRS_AFTER);
        return (moves[3] - moves[2]) << u32(both);
    }
    return min(atomicLoad(&counts[level]), list_capacity());
}

// An entry; the query is 0 where there is none.
fn entry(level: u32, i: u32) -> vec2<u32> {
    if level <= params.top {
        return came[i];
    }
    let both = PAIRS_BEFORE | PAIRS_AFTER;
    if sought_times() != both {
        return vec2(4u * (moves[2] + i) + sought_times(), 0u);
    }
    // Two places for each row.
    let row = moves[2] + i / 2u;
    let first = i % 2u == 0u;
    if overlaps(box_before(row), box_after(row)) {
        return vec2(select(0u, 4u * row + both, first), 0u);
    }
    return vec2(4u * row + select(PAIRS_AFTER, PAIRS_BEFORE, first), 0u);
}

fn inside(a: Box, b: Box) -> bool {
    var all_in = true;
    for (var d = 0u; d < DIMS; d++) {
        all_in = all_in && b.lo[d] <= a.lo[d] && a.hi[d] <= b.hi[d];
    }
    return all_in;
}

// Whether a query goes into a node of params.level.
fn goes_into(query: u32, node: u32) -> bool {
    var around = Box(vec4(0u), vec4(0u));
    for (var d = 0u; d < DIMS; d++) {
        around.lo[d] = nodes[place_of(params.level, 2u * d, node)];
        around.hi[d] = nodes[place_of(params.level, 2u * d + 1u, node)];
    }
    if (query & 3u) == 0u || !overlaps(box_of(query), around) {
        return false;
    }
    // All that lies inside the region's boxes of both times overlaps it at both, unless it moves. Subscriptions that move report their
    // pairs themselves, so an update's query does not look at them.
    let at_rest = !seeks_updates(query) || moved_subscriptions() == rows();
    return !at_rest || !inside(around, box_before(row_of(query))) || !inside(around, box_after(row_of(query)));
}

// The place in a list of what an invocation found: beyond every list if it found nothing. By all invocations of a workgroup.
fn list_place(lane: u32, hit: bool, count: u32) -> u32 {
    if lane == 0u {
        atomicStore(&found_here[0], 0u);
    }
    workgroupBarrier();
    var place = 0u;
    if hit {
        place = atomicAdd(&found_here[0], 1u);
    }
    workgroupBarrier();
    if lane == 0u {
        let found = atomicLoad(&found_here[0]);
        if found > 0u {
            shared_first[0] = atomicAdd(&counts[count], found);
        }
    }
    // With barriers on both sides.
    let first = workgroupUniformLoad(&shared_first[0]);
    return select(~0u, first + place, hit);
}

@compute @workgroup_size(GROUP_SIZE)
fn descend(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
           @builtin(local_invocation_index) lane: u32) {
    if lane == 0u {
        shared_count[0] = entries(params.level + 1u);
    }
    let count = workgroupUniformLoad(&shared_count[0]);
    let step = groups.x * groups.y * ENTRIES;
    for (var first = group_number(group, groups) * ENTRIES; first < count; first += step) {
        let i = first + lane / FANOUT;
        var found = vec2(0u);
        var hit = false;
        if i < count {
            let parent = entry(params.level + 1u, i);
            let tree = nodes_of(params.level, seeks_updates(parent.x));
            found = vec2(parent.x, parent.y * FANOUT + lane % FANOUT);
            if found.y < tree.y {
                hit = goes_into(found.x, tree.x + found.y);
            }
        }
        let place = list_place(lane, hit, params.level);
        if place < list_capacity() {
            went[place] = found;
        }
    }
}

// The change that a query finds at a slot, if it is one.
fn change_at(query: u32, slot: u32, found: ptr<function, vec2<u32>>) -> bool {
    let mark = leaves[place_of(0u, 2u * DIMS + 1u, slot)];
    var old = Box(vec4(0u), vec4(0u));
    var now = old;
    if mark != 0u {
        // The subscription of two that move reports the pair.
        if !seeks_updates(query) {
            return false;
        }
        old = box_before(mark - 1u);
        now = box_after(mark - 1u);
    } else {
        for (var d = 0u; d < DIMS; d++) {
            old.lo[d] = leaves[place_of(0u, 2u * d, slot)];
            old.hi[d] = leaves[place_of(0u, 2u * d + 1u, slot)];
        }
        now = old;
    }
    let overlapped = overlaps(box_before(row_of(query)), old);
    let times = select(PAIRS_AFTER, PAIRS_BEFORE, overlapped);
    if (query & times) == 0u || overlapped == overlaps(box_after(row_of(query)), now) {
        return false;
    }
    let mine = name_of(row_of(query));
    let name = leaves[place_of(0u, 2u * DIMS, slot)];
    let pair = select(vec2(name, mine), vec2(mine, name), seeks_updates(query));
    *found = vec2(pair.x | select(0u, ENDED, overlapped), pair.y - params.subscriptions);
    return true;
}

@compute @workgroup_size(GROUP_SIZE)
fn find_changes(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
                @builtin(local_invocation_index) lane: u32) {
    if lane == 0u {
        shared_count[0] = entries(1u);
    }
    let count = workgroupUniformLoad(&shared_count[0]);
    let step = groups.x * groups.y * ENTRIES;
    for (var first = group_number(group, groups) * ENTRIES; first < count; first += step) {
        let i = first + lane / FANOUT;
        var found = vec2(0u);
        var hit = false;
        if i < count {
            let parent = entry(1u, i);
            let tree = nodes_of(0u, seeks_updates(parent.x));
            let leaf = parent.y * FANOUT + lane % FANOUT;
            if leaf < tree.y {
                hit = change_at(parent.x, tree.x + leaf, &found);
            }
        }
        let place = list_place(lane, hit, 0u);
        if place < changes_capacity() {
            changes[place] = found;
        }
    }
}
