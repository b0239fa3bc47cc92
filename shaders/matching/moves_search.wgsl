// Finds the pairs that a step of moving regions changes (moves.wgsl): queries descend the other
// side's tree, one dispatch per level, so that a query with many answers has many invocations.
//
// came, went  lists of (query, node): the nodes that a query enters in the level above, and those
//             in params.level. Nodes are numbered within a side; one node above the highest level
//             is a side
// counts      the entries of each level, written or not; [0] the changes; [FAR] of moves_apply.wgsl
// changes     (update, subscription) ids; the second's highest bit marks a pair that ended. As
//             64-bit numbers, low word first, they sort into begun pairs, then ended ones, each
//             ascending
//
// EACH invocations serve an entry: one per child if there are few entries, else fewer, so that a
// workgroup's barriers serve more entries. Kernels: list_queries, an invocation per row or slot;
// descend for each level from params.top to 1; find_changes for the leaves.
//
// bounds: as in moves.wgsl. Nodes in lists were compared with the size of their level, so slots are
// those of leaves. Places in lists and changes are compared with the capacities that the host
// passes with the buffers. Loops over entries have steps of at least 1,024, and counts are below
// 2^30.

// import: matching/moves.wgsl

// A power of two, at most FANOUT.
override EACH: u32 = 16u;
const ENDED = 0x80000000u;

@group(0) @binding(4) var<storage, read> slots: array<u32>;
@group(0) @binding(5) var<storage, read> leaves: array<u32>;
@group(0) @binding(6) var<storage, read> nodes: array<u32>;
@group(0) @binding(7) var<storage, read> came: array<vec2<u32>>;
@group(0) @binding(8) var<storage, read_write> went: array<vec2<u32>>;
@group(0) @binding(9) var<storage, read_write> counts: array<atomic<u32>>;
@group(0) @binding(10) var<storage, read_write> changes: array<vec2<u32>>;
@group(0) @binding(11) var<storage, read> other_time: array<u32>;

var<workgroup> shared_count: array<u32, 1>;
var<workgroup> shared_first: array<u32, 1>;
var<workgroup> found_here: array<atomic<u32>, 1>;

// The boxes of a region before and after the step.
struct Boxes {
    old: Box,
    now: Box,
}

fn moves_in_step(slot: u32) -> bool {
    return leaves[place_of(0u, 2u * DIMS + 1u, slot)] != 0u;
}

fn boxes_at(slot: u32, moves_too: bool) -> Boxes {
    var box = Box(vec4(0u), vec4(0u));
    for (var d = 0u; d < DIMS; d++) {
        box.lo[d] = leaves[place_of(0u, 2u * d, slot)];
        box.hi[d] = leaves[place_of(0u, 2u * d + 1u, slot)];
    }
    if !moves_too {
        return Boxes(box, box);
    }
    var other = Box(vec4(0u), vec4(0u));
    for (var d = 0u; d < DIMS; d++) {
        other.lo[d] = other_time[other_place(2u * d, slot)];
        other.hi[d] = other_time[other_place(2u * d + 1u, slot)];
    }
    if sought_times() == PAIRS_AFTER {
        return Boxes(other, box);
    }
    return Boxes(box, other);
}

// A query with everything that its tests need, loaded once for all children.
struct Query {
    // What it looks for: PAIRS_BEFORE, PAIRS_AFTER or both.
    times: u32,
    seeks_updates: bool,
    boxes: Boxes,
    // The box around everything it looks for.
    around: Box,
}

// Whether the region at a slot looks for updates: subscriptions do.
fn seeks_updates(slot: u32) -> bool {
    return slot < params.subscriptions;
}

fn open_query(packed: u32) -> Query {
    let slot = packed >> 2u;
    let times = packed & 3u;
    let boxes = boxes_at(slot, true);
    var around = Box(min(boxes.old.lo, boxes.now.lo), max(boxes.old.hi, boxes.now.hi));
    if times == PAIRS_BEFORE {
        around = boxes.old;
    }
    if times == PAIRS_AFTER {
        around = boxes.now;
    }
    return Query(times, seeks_updates(slot), boxes, around);
}

// The number of entries of the level above.
fn entries() -> u32 {
    return min(atomicLoad(&counts[params.level + 1u]), list_capacity());
}

fn inside(a: Box, b: Box) -> bool {
    var all_in = true;
    for (var d = 0u; d < DIMS; d++) {
        all_in = all_in && b.lo[d] <= a.lo[d] && a.hi[d] <= b.hi[d];
    }
    return all_in;
}

// A region inside the query's boxes of both times overlaps it at both, unless it moves. Moving
// subscriptions report their pairs themselves, so an update's query skips them.
fn others_rest(query: Query) -> bool {
    return !query.seeks_updates || moved_subscriptions() == rows();
}

// Whether a query enters a node of params.level.
fn goes_into(query: Query, rest: bool, node: u32) -> bool {
    var box = Box(vec4(0u), vec4(0u));
    for (var d = 0u; d < DIMS; d++) {
        box.lo[d] = nodes[place_of(params.level, 2u * d, node)];
        box.hi[d] = nodes[place_of(params.level, 2u * d + 1u, node)];
    }
    return overlaps(query.around, box) && !(rest && inside(box, query.boxes.old) && inside(box, query.boxes.now));
}

// The first place in a list for an invocation's results. All invocations of a workgroup call it.
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
    // This load includes barriers on both sides.
    return workgroupUniformLoad(&shared_first[0]) + before_mine;
}

// The queries of the region with this number among rows or slots: up to two.
fn queries_of(number: u32) -> vec2<u32> {
    var slot = number;
    if (moves[4] & BY_SLOTS) == 0u {
        slot = slots[name_of(number)];
    } else if !moves_in_step(slot) {
        return vec2(0u);
    }
    let both = PAIRS_BEFORE | PAIRS_AFTER;
    if sought_times() != both {
        return vec2(4u * slot + sought_times(), 0u);
    }
    let boxes = boxes_at(slot, true);
    if overlaps(boxes.old, boxes.now) {
        return vec2(4u * slot + both, 0u);
    }
    return vec2(4u * slot + PAIRS_BEFORE, 4u * slot + PAIRS_AFTER);
}

@compute @workgroup_size(GROUP_SIZE)
fn list_queries(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
                @builtin(local_invocation_index) lane: u32) {
    let number = moves[2] + group_number(group, groups) * GROUP_SIZE + lane;
    var queries = vec2(0u);
    if number < moves[3] {
        queries = queries_of(number);
    }
    let place = first_place(lane, u32(queries.x != 0u) + u32(queries.y != 0u), params.level);
    if queries.x != 0u && place < list_capacity() {
        went[place] = vec2(queries.x, 0u);
    }
    if queries.y != 0u && place + 1u < list_capacity() {
        went[place + 1u] = vec2(queries.y, 0u);
    }
}

@compute @workgroup_size(GROUP_SIZE)
fn descend(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
           @builtin(local_invocation_index) lane: u32) {
    if lane == 0u {
        shared_count[0] = entries();
    }
    let count = workgroupUniformLoad(&shared_count[0]);
    let step = groups.x * groups.y * (GROUP_SIZE / EACH);
    for (var first = group_number(group, groups) * (GROUP_SIZE / EACH); first < count; first += step) {
        let i = first + lane / EACH;
        var parent = vec2(0u);
        var hits = 0u;
        if i < count {
            parent = came[i];
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
        // At most FANOUT rounds.
        while hits != 0u {
            if place < list_capacity() {
                went[place] = vec2(parent.x, parent.y * FANOUT + countTrailingZeros(hits));
            }
            place += 1u;
            hits &= hits - 1u;
        }
    }
}

// Whether a query finds a change at a slot, and if so, whether the pair ended.
fn change_at(query: Query, slot: u32) -> vec2<bool> {
    let moves_too = moves_in_step(slot);
    // If both regions move, the subscription reports the pair.
    if moves_too && !query.seeks_updates {
        return vec2(false);
    }
    let boxes = boxes_at(slot, moves_too);
    let overlapped = overlaps(query.boxes.old, boxes.old);
    let times = select(PAIRS_AFTER, PAIRS_BEFORE, overlapped);
    return vec2((query.times & times) != 0u && overlapped != overlaps(query.boxes.now, boxes.now), overlapped);
}

fn put_change(place: u32, from_slot: u32, slot: u32, ended: bool) {
    let names = vec2(leaves[place_of(0u, 2u * DIMS, from_slot)], leaves[place_of(0u, 2u * DIMS, slot)]);
    let pair = select(names.yx, names, seeks_updates(from_slot));
    changes[place] = vec2(pair.y - params.subscriptions, pair.x | select(0u, ENDED, ended));
}

@compute @workgroup_size(GROUP_SIZE)
fn find_changes(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
                @builtin(local_invocation_index) lane: u32) {
    if lane == 0u {
        shared_count[0] = entries();
    }
    let count = workgroupUniformLoad(&shared_count[0]);
    let step = groups.x * groups.y * (GROUP_SIZE / EACH);
    for (var first = group_number(group, groups) * (GROUP_SIZE / EACH); first < count; first += step) {
        let i = first + lane / EACH;
        var parent = vec2(0u);
        var hits = 0u;
        var ended = 0u;
        if i < count {
            parent = came[i];
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
        let mine = parent.x >> 2u;
        let first_leaf = nodes_of(0u, seeks_updates(mine)).x + parent.y * FANOUT;
        // At most FANOUT rounds.
        while hits != 0u {
            let child = countTrailingZeros(hits);
            if place < changes_capacity() {
                put_change(place, mine, first_leaf + child, ((ended >> child) & 1u) != 0u);
            }
            place += 1u;
            hits &= hits - 1u;
        }
    }
}
