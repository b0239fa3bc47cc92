// The start of a run (one invocation per LP): initial states and first events.
//
// start_lps    every LP's `init`. There is no lookahead to keep before the first window. Where the queues take several bindings, `init`
//              runs once for each of them, each time on zeroed LP memory, and what it schedules is kept where it goes there.
// settle_lps   what was put is put in order, and the reduction for the first window is prepared.
//
// import: pdes/model.wgsl
// import: pdes/lp_memory.wgsl
//
// needs: begin_put, begin_settle (pdes/queues_start.wgsl or pdes/calendar_start.wgsl), Reduced, IDLE, merge, reduce_group (the file that
// synchronises)

fn schedule(lp: u32, time: vec2<u32>, payload: Payload) {
    let row = deliver_to(lp_row, lp, time);
    if row == NO_ROW { return; }
    begin_put(row, event_item(time, payload));
}

@compute @workgroup_size(GROUP_SIZE)
fn start_lps(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    for (var tile = 0u; tile < TILES; tile += 1u) {
        let row = row_of(group_number(id), tile, lane);
        if row >= run.rows { break; }
        lp_row = row;
        stream_open(run.seed, name_of(row), vec2<u32>(0u, 0u));
        var state: State;
        init(name_of(row), &state);
        states[row] = state;
        if loops_cut(run.rows) { fail(row, LOOPS_CUT); }
    }
}

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
        mine = merge(mine, begin_settle(row));
        lps[run.rows + row] = vec4<u32>(0u);
    }
    let all_lps = reduce_group(lane, mine);
    if lane == 0u && group < run.groups {
        lps[2u * run.rows + group] = all_lps;
    }
    let served = row_of(group, 0u, lane);
    if served < run.rows && loops_cut(run.rows) { fail(served, LOOPS_CUT); }
}
