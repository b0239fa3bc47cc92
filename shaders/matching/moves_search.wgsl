// Finds the pairs that a step of moving regions changes (moves.wgsl): queries go down the other side's tree, level by level, each level a
// dispatch, so that a query with many answers is served by as many invocations.
//
// came, went  lists of (query, node): the nodes of the level above that a query goes into, and those of params.level. A node's number
//             is counted within its side
// counts      how many entries came to each level, written or not; [0] the changes
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

// Whether a query seeks pairs of the time after the step.
fn seeks_after(query: u32) -> bool {
    return (query & 1u) == 1u;
}

// The box of the time that a query seeks pairs of, or that of the other time.
fn box_of(query: u32, other: bool) -> Box {
    if seeks_after(query) != other {
        return box_after(query >> 1u);
    }
    return box_before(query >> 1u);
}

// Subscriptions look for updates, and updates for subscriptions.
fn seeks_updates(query: u32) -> bool {
    return (query >> 1u) < moved_subscriptions();
}

// How many entries a kernel takes: queries in the first dispatch.
fn entries(level: u32) -> u32 {
    if level > params.top {
        let both = sought_times() == (PAIRS_BEFORE | PAIRS_AFTER);
        return (moves[3] - moves[2]) << u32(both);
    }
    return min(atomicLoad(&counts[level]), list_capacity());
}

fn entry(level: u32, i: u32) -> vec2<u32> {
    if level <= params.top {
        return came[i];
    }
    if sought_times() == (PAIRS_BEFORE | PAIRS_AFTER) {
        return vec2(2u * moves[2] + i, 0u);
    }
    return vec2(2u * (moves[2] + i) + u32(sought_times() == PAIRS_AFTER), 0u);
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
    if !overlaps(box_of(query, false), around) {
        return false;
    }
    // All that lies inside the box at both times overlaps at both, unless it moves. Subscriptions that move report their pairs
    // themselves, so an update's query does not look at them.
    let at_rest = !seeks_updates(query) || moved_subscriptions() == rows();
    return !at_rest || !inside(around, box_of(query, true));
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
    let own = box_of(query, false);
    let own_other = box_of(query, true);
    if mark != 0u {
        // The subscription of two that move reports the pair.
        let other = 2u * (mark - 1u) + (query & 1u);
        if !seeks_updates(query) || !overlaps(own, box_of(other, false)) || overlaps(own_other, box_of(other, true)) {
            return false;
        }
    } else {
        var leaf = Box(vec4(0u), vec4(0u));
        for (var d = 0u; d < DIMS; d++) {
            leaf.lo[d] = leaves[place_of(0u, 2u * d, slot)];
            leaf.hi[d] = leaves[place_of(0u, 2u * d + 1u, slot)];
        }
        if !overlaps(own, leaf) || overlaps(own_other, leaf) {
            return false;
        }
    }
    let mine = name_of(query >> 1u);
    let name = leaves[place_of(0u, 2u * DIMS, slot)];
    let pair = select(vec2(name, mine), vec2(mine, name), seeks_updates(query));
    *found = vec2(pair.x | select(ENDED, 0u, seeks_after(query)), pair.y - params.subscriptions);
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
