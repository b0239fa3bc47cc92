// The second reduction, for runs of many workgroups: merges the partials of a half into one, so that the next
// window need not read them all in every workgroup. One workgroup, whatever the size of those of the window: with
// 256 invocations no loop is long.
//
// import: pdes/yawns.wgsl

@compute @workgroup_size(GROUP_SIZE)
fn gather(@builtin(local_invocation_index) lane: u32) {
    let partials = 2u * run.rows;
    var mine = IDLE;
    for (var i = lane; i < run.groups; i += GROUP_SIZE) {
        mine = merge(mine, lps[partials + part.parity * run.groups + i]);
    }
    let all_groups = reduce_group(lane, mine);
    if lane == 0u {
        lps[partials + 2u * run.groups] = all_groups;
    }
    if loops_cut(run.rows) { fail(0u, LOOPS_CUT); }
}
