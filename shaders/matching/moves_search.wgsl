// Finds the pairs that a step of moving regions changes (moves.wgsl): queries go down the other side's tree, level by level, each level a
// dispatch, so that a query with many answers is served by as many invocations.
//
// came, went  lists of (query, node): the nodes of the level above that a query goes into, and those of params.level. A node's number
//             is counted within its side
// counts      how many entries came to each level, written or not; [0] the changes; [FAR] of moves_apply.wgsl
// changes     (update, subscription) ids; the highest bit of the second is set where the pair ended. So as 64-bit numbers, low word first, those
//             in ascending order are the pairs that began, and then those that ended, each in ascending order
//
// EACH invocations serve an entry: one for each child where there are few entries, and fewer where there are enough, because then the waits in a
// workgroup are for more of them. Kernels: descend for each level from params.top to 1, the first of which takes queries
// where the others take entries; find_changes for the leaves.

// import: matching/moves.wgsl

// A power of two, FANOUT at the most.
override EACH: u32 = 16u;
const ENDED = 0x80000000u;

@group(0) @binding(4) var<storage, read> before: array<u32>;
@group(0) @binding(5) var<storage, read> leaves: array<u32>;
@group(0) @binding(6) var<storage, read> nodes: array<u32>;
@group(0) @binding(7) var<storage, read> came: array<vec2<u32>>;
@group(0) @binding(8) var<storage, read_write> went: array<vec2<u32>>;
@group(0) @binding(9) var<storage, read_write> counts: array<atomic<u32>>;
@group(0) @binding(10) var<storage, read_write> changes: array<vec2<u32>>;
@group(0) @binding(11) var<storage, read> others: array<u32>;

var<workgroup> shared_count: array<u32, 1>;
var<workgroup> shared_first: array<u32, 1>;
var<workgroup> found_here: array<atomic<u32>, 1>;

fn box_before(row: u32) -> Box {
    var old = Box(vec4(0u), vec4(0u));
    for (var d = 0u; d < DIMS; d++) {
        old.lo[d] = before[row * 2u * DIMS + 2u * d];
        old.hi[d] = before[row * 2u * DIMS + 2u * d + 1u];
    }
    return old;
}

// A query with all that its tests need, loaded once for all children.
struct Query {
    row: u32,
    // What it looks for: PAIRS_BEFORE, PAIRS_AFTER or both; 0 where there is no query.
    times: u32,
    seeks_updates: bool,
    old: Box,
    now: Box,
    // Holds whatever it looks for.
    around: Box,
}

// Whether a row looks for updates: that of a subscription does.
fn seeks_updates(row: u32) -> bool {
    return row < moved_subscriptions();
}

fn open_query(packed: u32) -> Query {
    let row = packed >> 2u;
    let times = packed & 3u;
    let old = box_before(row);
    let now = box_after(row);
    var around = Box(min(old.lo, now.lo), max(old.hi, now.hi));
    if times == PAIRS_BEFORE {
        around = old;
    }
    if times == PAIRS_AFTER {
        around = now;
    }
    return Query(row, times, seeks_updates(row), old, now, around);
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
    // Two places for each row, of which a near one needs one.
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

// All that lies inside the region's boxes of both times overlaps it at both, unless it moves. Subscriptions that move report their
// pairs themselves, so an update's query does not look at them.
fn others_rest(query: Query) -> bool {
    return !query.seeks_updates || moved_subscriptions() == rows();
}

// Whether a query goes into a node of params.level.
fn goes_into(query: Query, rest: bool, node: u32) -> bool {
    var box = Box(vec4(0u), vec4(0u));
    for (var d = 0u; d < DIMS; d++) {
        box.lo[d] = nodes[place_of(params.level, 2u * d, node)];
        box.hi[d] = nodes[place_of(params.level, 2u * d + 1u, node)];
    }
    return overlaps(query.around, box) && !(rest && inside(box, query.old) && inside(box, query.now));
}

// The first place in a list for what an invocation found. By all invocations of a workgroup.
fn first_place(lane: u32, found: u32, count: u32) -> u32 {
    if lane == 0u {
        atomicStore(&found_here[0], 0u);
    }
    workgroupBarrier();
    var before_mine = 0u;
    if found > 0u {
        before_mine = atomicAdd(&found_here[0], found);
    }
    workgroupBarrier();
    if lane == 0u {
        let all = atomicLoad(&found_here[0]);
        if all > 0u {
            shared_first[0] = atomicAdd(&counts[count], all);
        }
    }
    // With barriers on both sides.
    return workgroupUniformLoad(&shared_first[0]) + before_mine;
}

@compute @workgroup_size(GROUP_SIZE)
fn descend(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
           @builtin(local_invocation_index) lane: u32) {
    if lane == 0u {
        shared_count[0] = entries(params.level + 1u);
    }
    let count = workgroupUniformLoad(&shared_count[0]);
    let step = groups.x * groups.y * (GROUP_SIZE / EACH);
    for (var first = group_number(group, groups) * (GROUP_SIZE / EACH); first < count; first += step) {
        let i = first + lane / EACH;
        var parent = vec2(0u);
        var hits = 0u;
        if i < count {
            parent = entry(params.level + 1u, i);
        }
        if (parent.x & 3u) != 0u {
            let query = open_query(parent.x);
            let rest = others_rest(query);
            let tree = nodes_of(params.level, query.seeks_updates);
            for (var child = lane % EACH; child < FANOUT; child += EACH) {
                let node = parent.y * FANOUT + child;
                if node < tree.y && goes_into(query, rest, tree.x + node) {
                    hits |= 1u << child;
                }
            }
        }
        var place = first_place(lane, countOneBits(hits), params.level);
        // FANOUT at the most.
        while hits != 0u {
            if place < list_capacity() {
                went[place] = vec2(parent.x, parent.y * FANOUT + countTrailingZeros(hits));
            }
            place += 1u;
            hits &= hits - 1u;
        }
    }
}

// Whether a query finds a change at a slot, and then whether the pair ended.
fn change_at(query: Query, slot: u32) -> vec2<bool> {
    let moves_too = leaves[place_of(0u, 2u * DIMS + 1u, slot)] != 0u;
    // The subscription of two that move reports the pair.
    if moves_too && !query.seeks_updates {
        return vec2(false);
    }
    var old = Box(vec4(0u), vec4(0u));
    for (var d = 0u; d < DIMS; d++) {
        old.lo[d] = leaves[place_of(0u, 2u * d, slot)];
        old.hi[d] = leaves[place_of(0u, 2u * d + 1u, slot)];
    }
    var now = old;
    if moves_too {
        for (var d = 0u; d < DIMS; d++) {
            now.lo[d] = others[other_place(2u * d, slot)];
            now.hi[d] = others[other_place(2u * d + 1u, slot)];
        }
        if sought_times() == PAIRS_AFTER {
            let after = old;
            old = now;
            now = after;
        }
    }
    let overlapped = overlaps(query.old, old);
    let times = select(PAIRS_AFTER, PAIRS_BEFORE, overlapped);
    return vec2((query.times & times) != 0u && overlapped != overlaps(query.now, now), overlapped);
}

fn put_change(place: u32, row: u32, slot: u32, ended: bool) {
    let mine = name_of(row);
    let name = leaves[place_of(0u, 2u * DIMS, slot)];
    let pair = select(vec2(name, mine), vec2(mine, name), seeks_updates(row));
    changes[place] = vec2(pair.y - params.subscriptions, pair.x | select(0u, ENDED, ended));
}

@compute @workgroup_size(GROUP_SIZE)
fn find_changes(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
                @builtin(local_invocation_index) lane: u32) {
    if lane == 0u {
        shared_count[0] = entries(1u);
    }
    let count = workgroupUniformLoad(&shared_count[0]);
    let step = groups.x * groups.y * (GROUP_SIZE / EACH);
    for (var first = group_number(group, groups) * (GROUP_SIZE / EACH); first < count; first += step) {
        let i = first + lane / EACH;
        var parent = vec2(0u);
        var hits = 0u;
        var ended = 0u;
        if i < count {
            parent = entry(1u, i);
            let query = open_query(parent.x);
            let tree = nodes_of(0u, query.seeks_updates);
            for (var child = lane % EACH; child < FANOUT; child += EACH) {
                let leaf = parent.y * FANOUT + child;
                if leaf < tree.y {
                    let change = change_at(query, tree.x + leaf);
                    hits |= u32(change.x) << child;
                    ended |= u32(change.y) << child;
                }
            }
        }
        var place = first_place(lane, countOneBits(hits), 0u);
        let row = parent.x >> 2u;
        let slots = nodes_of(0u, seeks_updates(row)).x + parent.y * FANOUT;
        // FANOUT at the most.
        while hits != 0u {
            let child = countTrailingZeros(hits);
            if place < changes_capacity() {
                put_change(place, row, slots + child, ((ended >> child) & 1u) != 0u);
            }
            place += 1u;
            hits &= hits - 1u;
        }
    }
}
