// Partial reductions, by which workgroups of one window pass values to the next one
// (pdes/engine.wgsl: `lps`).
//
// Functions: left_read, left_by_all, left_in_half; entry point gather.
//
// import: pdes/engine.wgsl
// needs: IDLE, Reduced, merge, reduce_group, run
//
// bounds: partial results are below run.part.partials_count, which is at least 1 and which the host
// sets for `lps`. Loops have steps of GROUP_SIZE.

// An invocation's first read of the last window's partials, for left_by_all. Call it before all
// other reads of a window, so that their latencies overlap.
fn left_read(lane: u32) -> Reduced {
    return lps[run.part.partials_first + min(lane, run.part.partials_count - 1u)];
}

// The last window's reduction. Call it in all invocations of the workgroup.
fn left_by_all(lane: u32, read: Reduced) -> Reduced {
    // Merged by `gather`, or of one workgroup.
    if run.part.partials_count == 1u { return read; }
    var mine = IDLE;
    if lane < run.part.partials_count { mine = read; }
    for (var i = lane + GROUP_SIZE; i < run.part.partials_count; i += GROUP_SIZE) {
        mine = merge(mine, lps[run.part.partials_first + i]);
    }
    return reduce_group(lane, mine);
}

// The reduction of all workgroups in the half that a window of this parity reads. Call it in all
// invocations of the workgroup.
fn left_in_half(lane: u32, parity: u32) -> Reduced {
    var mine = IDLE;
    for (var i = lane; i < run.groups; i += GROUP_SIZE) {
        mine = merge(mine, lps[2u * run.rows + parity * run.groups + i]);
    }
    return reduce_group(lane, mine);
}

// Merges the partials of a half into one for runs of many workgroups, so that the next window reads
// one value in each workgroup. One workgroup of 256 invocations, whatever the window's size: no
// loop is long.
@compute @workgroup_size(GROUP_SIZE)
fn gather(@builtin(local_invocation_index) lane: u32) {
    let all_groups = left_in_half(lane, run.part.parity);
    if lane == 0u {
        lps[2u * (run.rows + run.groups)] = all_groups;
    }
    if loops_cut(run.rows) { fail(0u, LOOPS_CUT); }
}
