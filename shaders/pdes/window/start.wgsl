// The start of a run: initial states and first events, by every LP's `init` (one invocation per LP). What was put is then put in order
// (pdes/window/settle.wgsl).
//
// There is no lookahead to keep before the first window. Where the queues take several bindings, `init` runs once for each of them, each time on zeroed LP
// memory, and what it schedules is kept where it goes there. In the same way a part of a run runs `init` of the LPs of all others first, in place of its own
// (run.part.others_first), for what they schedule for its own: no outbox could hold a whole population.
//
// import: pdes/model.wgsl
// import: pdes/memory/lp_memory.wgsl
// provides: schedule
// needs: Payload, State, event_item, init, initial_insert, run, run_begin, run_open

fn schedule(lp: u32, time: vec2<u32>, payload: Payload) {
    let row = deliver_to(lp_row, lp, time);
    if row == NO_ROW { return; }
    // Another part's, which runs this `init`, too.
    if row >= run.rows { return; }
    initial_insert(row, event_item(time, payload));
}

@compute @workgroup_size(GROUP_SIZE)
fn start_lps(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    run_begin();
    for (var tile = 0u; tile < TILES; tile += 1u) {
        let row = row_of(group_number(id), tile, lane);
        let others = run.part.others_rows;
        if row >= select(run.rows, others, others > 0u) { break; }
        run_open(row);
        lp_row = row;
        let name = select(name_of(row), run.part.others_first + row, others > 0u);
        stream_open(run.seed, name, vec2<u32>(0u, 0u));
        var state: State;
        init(name, &state);
        record_failure();
        states_set(row, state);
        if loops_cut(run.rows) { fail(row, LOOPS_CUT); }
    }
}
