// A relaxation: every LP's earliest input is the least of the earliest outputs of those who may send to it; its earliest output is that of what it
// holds (its dry run), or earlier if what may arrive is answered earlier. Chandy, Misra and Bryant's bounds, as a fixpoint from above: it begins with
// what the LPs would send if nothing arrived, and each relaxation makes bounds earlier, until none changes any more. Then they are safe.
//
// Relaxation run.part.turn reads the bounds that the one before wrote, in half (turn + 1) % 2, and writes half turn % 2; the first reads
// the dry runs. It does nothing where the one before changed nothing, or the run is at its end.
//
// It is a dispatch of parity 0, between the two of a window (pdes/horizon_look.wgsl, pdes/horizon.wgsl). One invocation serves TILES rows.
//
// import: pdes/model.wgsl
// import: pdes/lp_memory.wgsl
// import: pdes/bounds.wgsl
//
// needs: sender_count, sender (the model), answer (the model or pdes/answer.wgsl)

var<workgroup> relax_changes: atomic<u32>;

@compute @workgroup_size(GROUP_SIZE)
fn relax(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let group = group_number(id);
    let turn = run.part.turn;
    let stopped = lps[control_row(1u, CONTROL_STATUS)].z != 0u;
    var still = false;
    if turn > 0u { still = atomicLoad(&words[CHANGES + turn - 1u]) == 0u; }
    let idle = stopped || still || any(run.event_limit != TIME_NEVER);
    var served = NO_ROW;
    if !idle {
        var changed = false;
        for (var tile = 0u; tile < TILES; tile += 1u) {
            let row = row_of(group, tile, lane);
            if row >= run.rows { break; }
            served = min(served, row);
            changed |= relax_row(row, turn);
        }
        if changed { atomicStore(&relax_changes, 1u); }
    }
    workgroupBarrier();
    if lane == 0u && !idle {
        if atomicLoad(&relax_changes) != 0u { atomicStore(&words[CHANGES + turn], 1u); }
        if group == 0u { lps[control_row(1u, CONTROL_RELAXED)] = vec4<u32>(turn, 0u, 0u, 0u); }
    }
    if served != NO_ROW && loops_cut(run.rows) { fail(served, LOOPS_CUT); }
}

// Whether the bounds of a row changed.
fn relax_row(row: u32, turn: u32) -> bool {
    let name = name_of(row);
    let senders = sender_count(name);
    var input = TIME_NEVER;
    // Bound: the model's; the senders of an LP.
    for (var i = 0u; i < senders; i += 1u) {
        let from_row = row_at(sender(name, i));
        // What an LP schedules for itself does not arrive.
        if from_row == row || from_row >= run.rows { continue; }
        input = time_min(input, relax_before(from_row, turn).xy);
    }
    let before = relax_before(row, turn);
    var output = before.xy;
    // Nothing is sent before it arrives, and what arrives as early as before was answered.
    if time_less(input, output) && any(input != before.zw) {
        lp_row = row;
        lp_now = input;
        stream_open(run.seed, name, wide_add(lps[run.rows + row].xy, vec2<u32>(1u, 0u)));
        var state = states[row];
        output = time_min(output, time_add(input, time_since(answer(name, &state, input), input)));
    }
    lps[bounds_row(turn % 2u, row)] = vec4<u32>(output, input);
    return any(output != before.xy);
}

// The bounds of a row before this relaxation.
fn relax_before(row: u32, turn: u32) -> vec4<u32> {
    if turn == 0u { return vec4<u32>(lps[dry_row(row)].xy, TIME_NEVER); }
    return lps[bounds_row((turn + 1u) % 2u, row)];
}

// `answer` schedules nothing: one that could is refused before it comes here.
fn schedule(lp: u32, time: vec2<u32>, payload: Payload) {}
