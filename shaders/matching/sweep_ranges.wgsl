// The candidates of sort-based matching, as ranges. Both sides are ordered by their lower bounds in the sweep
// dimension. Two intervals overlap in one of two ways: the update starts inside the subscription (s.lo <= u.lo
// < s.hi), or the subscription starts inside the update, behind its first point (u.lo < s.lo < u.hi). Either
// set is a range of the other side's order, so two searches replace the active sets of Algorithm 4 of Marzolla
// and D'Angelo (2020).
//
// subscriptions, updates  ordered boxes (boxes.wgsl), none empty
// begins, lengths         where the range of each region begins in the other side's order, and how long it is: first the
//                         subscriptions', then the updates'
//
// params.extra is the sweep dimension. One thread per region.

// import: matching/params.wgsl
// import: matching/workgroup.wgsl
// import: matching/boxes.wgsl
// import: matching/subscriptions_below.wgsl

@group(0) @binding(3) var<storage, read_write> begins: array<u32>;
@group(0) @binding(4) var<storage, read_write> lengths: array<u32>;

// How many updates start below the key. At most 32 rounds.
fn updates_below(key: u32) -> u32 {
    let column = 2u * params.extra * params.updates;
    var first = 0u;
    var end = params.updates;
    while first < end {
        let middle = first + (end - first) / 2u;
        if updates[column + middle] < key {
            first = middle + 1u;
        } else {
            end = middle;
        }
    }
    return first;
}

@compute @workgroup_size(SIZE)
fn ranges(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
          @builtin(local_invocation_index) lane: u32) {
    let r = number(group, groups) * SIZE + lane;
    let lo = 2u * params.extra;
    if r < params.subscriptions {
        let begin = updates_below(subscriptions[lo * params.subscriptions + r]);
        begins[r] = begin;
        lengths[r] = updates_below(subscriptions[(lo + 1u) * params.subscriptions + r]) - begin;
    } else if r < params.end {
        let u = r - params.subscriptions;
        // A lower bound is below 2^32 - 1, because an upper bound is above it.
        let begin = subscriptions_below(updates[lo * params.updates + u] + 1u);
        begins[r] = begin;
        lengths[r] = subscriptions_below(updates[(lo + 1u) * params.updates + u]) - begin;
    }
}
