// The beginning and the end of a step of moving regions (moves.wgsl).
//
// mark    marks the leaves of moving regions, stores their keys of the other time and those before
//         the step. If both times are sought at once, the boxes above grow to hold the new bounds,
//         too, so that queries reach a leaf by its old and its new box. Counts the regions with
//         disjoint boxes
// settle  writes the new bounds to the columns by id and to the leaves and removes the marks,
//         unless a list or the changes did not fit: then the step is repeated
//
// One invocation per row.
//
// provides: Reduced, merge
//
// bounds: as in moves.wgsl. The row of an empty region has keys as in import.wgsl. Loops over
// levels end at params.top.

// import: gpu/reduce.wgsl
// import: matching/moves.wgsl

@group(0) @binding(4) var<storage, read_write> before: array<u32>;
@group(0) @binding(5) var<storage, read> slots: array<u32>;
@group(0) @binding(6) var<storage, read_write> leaves: array<u32>;
@group(0) @binding(7) var<storage, read_write> nodes: array<atomic<u32>>;
@group(0) @binding(8) var<storage, read_write> counts: array<atomic<u32>>;
@group(0) @binding(9) var<storage, read_write> settled_subscriptions: array<u32>;
@group(0) @binding(10) var<storage, read_write> settled_updates: array<u32>;
@group(0) @binding(11) var<storage, read_write> other_time: array<u32>;

alias Reduced = u32;

fn merge(a: u32, b: u32) -> u32 {
    return a + b;
}

fn grow(row: u32, slot: u32, of_updates: bool) {
    var node = slot - nodes_of(0u, of_updates).x;
    // At most 8 levels.
    for (var level = 1u; level <= params.top; level++) {
        node /= FANOUT;
        let place = nodes_of(level, of_updates).x + node;
        var grew = false;
        for (var d = 0u; d < DIMS; d++) {
            let lo = key_after(row, 2u * d);
            let hi = key_after(row, 2u * d + 1u);
            grew |= lo < atomicMin(&nodes[place_of(level, 2u * d, place)], lo);
            grew |= hi > atomicMax(&nodes[place_of(level, 2u * d + 1u, place)], hi);
        }
        // The invocation that made it so large grows the levels above.
        if !grew {
            return;
        }
    }
}

// Whether the region's old and new boxes are disjoint.
fn mark_row(row: u32) -> bool {
    let name = name_of(row);
    let slot = slots[name];
    let of_updates = name >= params.subscriptions;
    leaves[place_of(0u, 2u * DIMS + 1u, slot)] = 1u;
    if (sought_times() & PAIRS_BEFORE) == 0u {
        for (var c = 0u; c < 2u * DIMS; c++) {
            other_time[other_place(c, slot)] = before[row * 2u * DIMS + c];
        }
        return false;
    }
    var old = Box(vec4(0u), vec4(0u));
    for (var d = 0u; d < DIMS; d++) {
        old.lo[d] = leaves[place_of(0u, 2u * d, slot)];
        old.hi[d] = leaves[place_of(0u, 2u * d + 1u, slot)];
        before[row * 2u * DIMS + 2u * d] = old.lo[d];
        before[row * 2u * DIMS + 2u * d + 1u] = old.hi[d];
        other_time[other_place(2u * d, slot)] = key_after(row, 2u * d);
        other_time[other_place(2u * d + 1u, slot)] = key_after(row, 2u * d + 1u);
    }
    if key_after(row, 0u) >= key_after(row, 1u) {
        return false;
    }
    if sought_times() == (PAIRS_BEFORE | PAIRS_AFTER) {
        grow(row, slot, of_updates);
    }
    return !overlaps(old, box_after(row));
}

@compute @workgroup_size(GROUP_SIZE)
fn mark(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
    let row = group_number(group, groups) * GROUP_SIZE + lane;
    var far = 0u;
    if row < rows() {
        far = u32(mark_row(row));
    }
    far = reduce_group(lane, far);
    if lane == 0u && far > 0u {
        atomicAdd(&counts[FAR], far);
    }
}

@compute @workgroup_size(GROUP_SIZE)
fn settle(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
          @builtin(local_invocation_index) lane: u32) {
    let row = group_number(group, groups) * GROUP_SIZE + lane;
    var fits = moves[7] != 0u && atomicLoad(&counts[0]) <= changes_capacity();
    for (var level = 1u; level <= params.top + 1u; level++) {
        fits = fits && atomicLoad(&counts[level]) <= list_capacity();
    }
    if row >= rows() || !fits {
        return;
    }
    let name = name_of(row);
    let slot = slots[name];
    for (var c = 0u; c < 2u * DIMS; c++) {
        let key = key_after(row, c);
        leaves[place_of(0u, c, slot)] = key;
        if name < params.subscriptions {
            settled_subscriptions[c * params.subscriptions + name] = key;
        } else {
            settled_updates[c * params.updates + (name - params.subscriptions)] = key;
        }
    }
    leaves[place_of(0u, 2u * DIMS + 1u, slot)] = 0u;
}
