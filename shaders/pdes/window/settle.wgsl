// The start of a run, after pdes/window/start.wgsl: orders the inserted events and prepares the
// reduction for the first window (one invocation per LP).
//
// import: pdes/engine.wgsl
// needs: IDLE, initial_order, merge, reduce_group, run

@compute @workgroup_size(GROUP_SIZE)
fn settle_lps(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let group = group_number(id);
    var mine = IDLE;
    for (var tile = 0u; tile < TILES; tile += 1u) {
        let row = row_of(group, tile, lane);
        if row >= run.rows { break; }
        mine = merge(mine, initial_order(row));
        lps[run.rows + row] = vec4<u32>(0u);
    }
    let all_lps = reduce_group(lane, mine);
    if lane == 0u && group < run.groups {
        lps[2u * run.rows + group] = all_lps;
    }
    let served = row_of(group, 0u, lane);
    if served < run.rows && loops_cut(run.rows) { fail(served, LOOPS_CUT); }
}
