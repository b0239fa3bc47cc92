// One window of simulation if teams of invocations serve LPs (queue/cb_par.wgsl): as
// pdes/window/window.wgsl, which is read first. pdes/window/yawns.wgsl describes synchronise, leave
// and their types.
//
// import: pdes/window/execute_team.wgsl
// needs: IDLE, did_something, horizon_of, leave, merge, reduce_group, run, synchronise

// TILES rows for each team, one after the other.
@compute @workgroup_size(GROUP_SIZE)
fn window_team(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let group = group_number(id);
    let horizon = synchronise(lane);
    cb_team_begin(lane);
    var mine = IDLE;
    var served = NO_ROW;
    // All invocations know it; this makes it uniform.
    if cb_team_most(vec2<u32>(u32(horizon.serve), 0u)).x != 0u {
        for (var tile = 0u; tile < TILES; tile += 1u) {
            let row = (group * TILES + tile) * CB_TEAMS + cb_team;
            let done = execute_team(row, horizon_of(min(row, run.rows - 1u), horizon));
            if did_something(done) { served = min(served, row); }
            mine = merge(mine, done);
        }
    }
    let left = reduce_group(lane, mine);
    if lane == 0u && group < run.groups {
        leave(group, horizon, left);
    }
    // The leaders' loops are the longest.
    if served != NO_ROW && loops_cut(run.rows) { fail(served, LOOPS_CUT); }
}
