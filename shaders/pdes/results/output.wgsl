// Results: the model's `output` of each LP's state and memory (one invocation per LP). It does not
// change the run; failures go to a control block of its own, bound as `words`.
//
//   run      as usual, but run.until is the time of the results, and the dispatch serves
//            run.part.others_rows rows from run.part.others_first on, one for each invocation
//   outputs  an Output for each of these rows
//
// import: pdes/model.wgsl
// import: pdes/memory/lp_memory.wgsl
// provides: schedule
// needs: Output, Payload, output, run, run_begin, run_open

@group(0) @binding(8) var<storage, read_write> outputs: array<Output>;

// For `init` and `handle`, which do not run here. An `output` that could call it is refused
// earlier.
fn schedule(lp: u32, time: vec2<u32>, payload: Payload) {}

@compute @workgroup_size(GROUP_SIZE)
fn write_outputs(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    run_begin();
    let place = id.x * GROUP_SIZE + lane;
    if place >= run.part.others_rows { return; }
    let row = run.part.others_first + place;
    run_open(row);
    lp_row = row;
    lp_now = run.until;
    var state = states_get(row);
    outputs[place] = output(name_of(row), &state);
    record_failure();
    if loops_cut(run.rows) { fail(row, LOOPS_CUT); }
}
