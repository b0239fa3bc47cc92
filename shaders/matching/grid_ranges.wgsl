// The candidates of grid matching, as ranges: for each entry of a subscription the updates' entries of its
// cell.
//
// subscriptions, updates  entries in the order of their cells (grid_gather.wgsl)
// begins, lengths         the range of each subscription's entry
//
// One thread per entry of a subscription.

// import: matching/params.wgsl
// import: matching/workgroup.wgsl
// import: matching/boxes.wgsl

@group(0) @binding(3) var<storage, read_write> begins: array<u32>;
@group(0) @binding(4) var<storage, read_write> lengths: array<u32>;

// How many entries of updates lie in cells below this one. At most 32 rounds.
fn entries_below(cell: u32) -> u32 {
    let column = (2u * DIMS + 2u) * params.updates;
    var first = 0u;
    var end = params.updates;
    while first < end {
        let middle = first + (end - first) / 2u;
        if updates[column + middle] < cell {
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
    if r < params.subscriptions {
        let cell = subscriptions[(2u * DIMS + 2u) * params.subscriptions + r];
        let begin = entries_below(cell);
        begins[r] = begin;
        lengths[r] = entries_below(cell + 1u) - begin;
    }
}
