// The partial reductions, by which workgroups of one window tell those of the next what they left (pdes/engine.wgsl says where they lie).
//
// Functions: left_read, left_by_all, left_in_half; entry point gather.
//
// import: pdes/engine.wgsl
// needs: IDLE, Reduced, merge, reduce_group, run
//
// bounds: partial results are below run.part.partials_count, which is at least 1 and which the host
// gives with `lps`. Loops have steps of GROUP_SIZE.

// What an invocation reads first of what the last window left; for left_by_all. Asked for before everything else that a window begins with, it comes with that: windows of
// few events take 2 to 5 % less time so (H200).
fn left_read(lane: u32) -> Reduced {
    return lps[run.part.partials_first + min(lane, run.part.partials_count - 1u)];
}

// What the last window left. To be called by all invocations of the workgroup.
fn left_by_all(lane: u32, read: Reduced) -> Reduced {
    // Merged before, or of one workgroup.
    if run.part.partials_count == 1u { return read; }
    var mine = IDLE;
    if lane < run.part.partials_count { mine = read; }
    for (var i = lane + GROUP_SIZE; i < run.part.partials_count; i += GROUP_SIZE) {
        mine = merge(mine, lps[run.part.partials_first + i]);
    }
    return reduce_group(lane, mine);
}

// What all workgroups left in the half that a window of this parity reads. To be called by all invocations of the workgroup.
fn left_in_half(lane: u32, parity: u32) -> Reduced {
    var mine = IDLE;
    for (var i = lane; i < run.groups; i += GROUP_SIZE) {
        mine = merge(mine, lps[2u * run.rows + parity * run.groups + i]);
    }
    return reduce_group(lane, mine);
}

// The second reduction, for runs of many workgroups: merges the partials of a half into one, so that the next window need not
// read them all in every workgroup. One workgroup, whatever the size of those of the window: with 256 invocations no loop is long.
@compute @workgroup_size(GROUP_SIZE)
fn gather(@builtin(local_invocation_index) lane: u32) {
    let all_groups = left_in_half(lane, run.part.parity);
    if lane == 0u {
        lps[2u * (run.rows + run.groups)] = all_groups;
    }
    if loops_cut(run.rows) { fail(0u, LOOPS_CUT); }
}
