// Results: what the model's `output` makes of each LP's state and memory (one invocation per LP). It changes nothing of the run; what it
// fails in is recorded in a control block of its own, which is bound as `words`.
//
//   run      as ever, but: run.until is the time for which results are asked, and the dispatch serves the rows from
//            run.part.first_group * GROUP_SIZE on, one to an invocation
//   outputs  an Output for each of these rows
//
// import: pdes/model.wgsl
// import: pdes/memory/lp_memory.wgsl
// provides: schedule
// needs: Output, Payload, output, run, run_begin, run_open

@group(0) @binding(8) var<storage, read_write> outputs: array<Output>;

// `init` and `handle` call it. Here neither runs, and an `output` that could reach it is refused before it comes here.
fn schedule(lp: u32, time: vec2<u32>, payload: Payload) {}

@compute @workgroup_size(GROUP_SIZE)
fn write_outputs(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    run_begin();
    let row = row_of(group_number(id), 0u, lane);
    if row >= run.rows { return; }
    run_open(row);
    lp_row = row;
    lp_now = run.until;
    var state = states_get(row);
    outputs[row - run.part.first_group * GROUP_SIZE] = output(name_of(row), &state);
    record_failure();
    if loops_cut(run.rows) { fail(row, LOOPS_CUT); }
}
