// The start of a run: initial states and first events, by every LP's `init` (one invocation per
// LP). pdes/window/settle.wgsl then orders the events. The lookahead does not apply before the
// first window.
//
// If the queues take several bindings, `init` runs once for each, each time on zeroed LP memory,
// and only events for that binding are inserted. Likewise, a part of a run first runs `init` of the
// LPs of all other parts (run.part.others_first) for the events that they schedule here: no outbox
// could hold a whole population.
//
// import: pdes/model.wgsl
// import: pdes/memory/lp_memory.wgsl
// provides: schedule
// needs: Payload, State, event_item, init, initial_insert, run, run_begin, run_open

fn schedule(lp: u32, time: vec2<u32>, payload: Payload) {
    let row = deliver_to(lp_row, lp, time);
    if row == NO_ROW { return; }
    // The row is in another part, which runs this `init`, too.
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
