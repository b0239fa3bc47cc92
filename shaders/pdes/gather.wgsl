// The second reduction, for runs of many workgroups: merges the partials of a half into one, so that the next
// window need not read them all in every workgroup. One workgroup, whatever the size of those of the window: with
// 256 threads no loop is long.
//
// import: pdes/engine.wgsl
// import: pdes/reduce.wgsl

@compute @workgroup_size(GROUP)
fn gather(@builtin(local_invocation_index) lane: u32) {
    var mine = IDLE;
    for (var i = lane; i < run.groups; i += GROUP) {
        mine = merge(mine, partials[run.parity * run.groups + i]);
    }
    let all_groups = reduce_group(lane, mine);
    if lane == 0u {
        partials[run.partials_first] = all_groups;
    }
}
