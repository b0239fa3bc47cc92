// The candidates of sort-based and of grid matching, as ranges (candidates.wgsl).
//
// A sweep orders both sides by their lower bounds in one dimension. Two intervals overlap if the
// update starts inside the subscription (s.lo <= u.lo < s.hi) or the subscription starts inside the
// update, behind its first point (u.lo < s.lo < u.hi). Either set is a range of the other side's
// order, so two searches replace the active sets of Algorithm 4 of Marzolla and D'Angelo (2020). In
// a grid the range of a subscription's entry is the updates' entries of its cell.
//
// subscriptions, updates  ordered boxes (order.wgsl), none empty; or entries in the order of their
//                         cells (grid_entries.wgsl), rows without an entry last
// begins, lengths         start of each region's range in the other side's order, and its length:
//                         first the subscriptions', then, in a sweep, the updates'
//
// One invocation per range.
//
// provides: params
//
// bounds: as in matching/common.wgsl. Searches end at the number of boxes of the other side, or of
// entries.

// import: matching/below.wgsl
// import: matching/grid.wgsl

struct RangeParams {
    // Boxes of each side: the length of its columns.
    subscriptions: u32,
    updates: u32,
    // The dimension of a sweep.
    dimension: u32,
}

@group(0) @binding(0) var<uniform> params: RangeParams;
@group(0) @binding(3) var<storage, read_write> begins: array<u32>;
@group(0) @binding(4) var<storage, read_write> lengths: array<u32>;

@compute @workgroup_size(GROUP_SIZE)
fn sweep_ranges(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
                @builtin(local_invocation_index) lane: u32) {
    let r = group_number(group, groups) * GROUP_SIZE + lane;
    let lo = 2u * params.dimension;
    if r < params.subscriptions {
        let begin = updates_below(subscriptions[lo * params.subscriptions + r], lo);
        begins[r] = begin;
        lengths[r] = updates_below(subscriptions[(lo + 1u) * params.subscriptions + r], lo) - begin;
    } else if r - params.subscriptions < params.updates {
        let u = r - params.subscriptions;
        // A lower bound is below 2^32 - 1, because an upper bound is above it.
        let begin = subscriptions_below(updates[lo * params.updates + u] + 1u, lo);
        begins[r] = begin;
        lengths[r] = subscriptions_below(updates[(lo + 1u) * params.updates + u], lo) - begin;
    }
}

@compute @workgroup_size(GROUP_SIZE)
fn grid_ranges(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
               @builtin(local_invocation_index) lane: u32) {
    let r = group_number(group, groups) * GROUP_SIZE + lane;
    let cells = 2u * DIMS + 2u;
    if r < params.subscriptions {
        let cell = subscriptions[cells * params.subscriptions + r];
        var begin = 0u;
        var end = 0u;
        if cell != NO_CELL {
            begin = updates_below(cell, cells);
            end = updates_below(cell + 1u, cells);
        }
        begins[r] = begin;
        lengths[r] = end - begin;
    }
}
