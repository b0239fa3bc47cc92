// Relaxations: every LP's earliest input is the least of the earliest outputs of those who may send to it; its earliest output is that of what it
// holds (its dry run), or earlier if what may arrive is answered earlier (pdes/answers.wgsl). Chandy, Misra and Bryant's bounds, as a fixpoint from
// above: it begins with what the LPs would send if nothing arrived, and each relaxation makes bounds earlier, until none changes any more. Then
// they are safe.
//
// A dispatch takes the bounds of other workgroups' rows as the one before left them, and relaxes those of its own until they do not change:
// bounds travel far in one dispatch where neighbours have numbers that are near. There is one fixpoint, whatever the order.
//
//   lps      dispatch run.part.turn reads the bounds that the one before wrote, in half (turn + 1) % 2, and writes half turn % 2; the
//            first reads the dry runs
//   words    CHANGES + turn: whether any bound changed. A dispatch does nothing where the one before changed nothing, or the run is at its end
//
// They are of parity 0, between the two dispatches of a window (pdes/horizon_look.wgsl, pdes/horizon.wgsl). One invocation serves one row.
//
// import: pdes/model.wgsl
// import: pdes/lp_memory.wgsl
// import: pdes/bounds.wgsl
//
// needs: sender_count, sender (the model)

// Relaxations of a workgroup in a dispatch at the most.
const RELAX_HERE = 48u;
// Senders of a row among its workgroup's rows at the most; more are as if they were of another one.
const RELAX_INSIDE = 8u;

var<workgroup> relax_outputs: array<vec2<u32>, GROUP_SIZE>;
var<workgroup> relax_changes: atomic<u32>;
var<workgroup> relax_changed: u32;

@compute @workgroup_size(GROUP_SIZE)
fn relax(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let turn = run.part.turn;
    if lane == 0u {
        let stopped = lps[control_row(1u, CONTROL_STATUS)].z != 0u;
        var still = false;
        if turn > 0u { still = atomicLoad(&words[CHANGES + turn - 1u]) == 0u; }
        relax_changed = u32(!(stopped || still || any(run.event_limit != TIME_NEVER)));
    }
    if workgroupUniformLoad(&relax_changed) == 0u { return; }

    let first = run.part.queue_first + id.x * GROUP_SIZE;
    let row = first + lane;
    // Behind the last row of a part come those of the next one, which a dispatch of its own serves.
    let end = min(run.rows, run.part.queue_first + run.part.queue_rows);
    let served = row < end;
    var begun = vec4<u32>(TIME_NEVER, TIME_NEVER);
    var known = vec4<u32>(0u);
    // What may arrive from other workgroups' rows, and who of its own may send: two invocations to a word, and else this one itself.
    var outside = TIME_NEVER;
    var inside = vec4<u32>(lane * 0x10001u);
    var inside_count = 0u;
    if served {
        begun = relax_before(row, turn);
        known = lps[answer_row(row)];
        let senders = sender_count(name_of(row));
        // Bound: the model's; the senders of an LP. What an LP schedules for itself does not arrive.
        for (var i = 0u; i < senders; i += 1u) {
            let from_row = row_at(sender(name_of(row), i));
            if from_row >= run.rows || from_row == row { continue; }
            let from_lane = from_row - first;
            if from_lane < GROUP_SIZE && from_row < end && inside_count < RELAX_INSIDE {
                inside[inside_count / 2u] = insertBits(inside[inside_count / 2u], from_lane, inside_count % 2u * 16u, 16u);
                inside_count += 1u;
            } else {
                outside = time_min(outside, relax_before(from_row, turn).xy);
            }
        }
    }
    var output = begun.xy;
    var input = outside;
    relax_outputs[lane] = output;
    workgroupBarrier();
    for (var step = 0u; step < RELAX_HERE; step += 1u) {
        input = time_min(time_min(outside, relax_inside(inside.x, lane)), relax_inside(inside.y, lane));
        if inside_count > 4u { input = time_min(input, time_min(relax_inside(inside.z, lane), relax_inside(inside.w, lane))); }
        // Nothing is sent before it arrives.
        let answered = time_min(output, time_add(time_max(input, known.xy), known.zw));
        let changed = served && any(answered != output);
        workgroupBarrier();
        if changed {
            output = answered;
            relax_outputs[lane] = output;
            atomicStore(&relax_changes, 1u);
        }
        workgroupBarrier();
        if lane == 0u { relax_changed = atomicExchange(&relax_changes, 0u); }
        if workgroupUniformLoad(&relax_changed) == 0u { break; }
    }
    if served { lps[bounds_row(turn % 2u, row)] = vec4<u32>(output, input); }
    if any(output != begun.xy) { atomicStore(&relax_changes, 1u); }
    workgroupBarrier();
    if lane == 0u {
        if atomicLoad(&relax_changes) != 0u { atomicStore(&words[CHANGES + turn], 1u); }
        if row == 0u { lps[control_row(1u, CONTROL_RELAXED)] = vec4<u32>(turn, 0u, 0u, 0u); }
    }
    if served && loops_cut(run.rows) { fail(row, LOOPS_CUT); }
}

// The earlier output of two invocations, which are not this one.
fn relax_inside(lanes: u32, lane: u32) -> vec2<u32> {
    let pair = vec2<u32>(lanes & 0xffffu, lanes >> 16u);
    let a = select(relax_outputs[pair.x], TIME_NEVER, pair.x == lane);
    return time_min(a, select(relax_outputs[pair.y], TIME_NEVER, pair.y == lane));
}

// The bounds of a row before this dispatch.
fn relax_before(row: u32, turn: u32) -> vec4<u32> {
    if turn == 0u { return vec4<u32>(lps[dry_row(row)].xy, TIME_NEVER); }
    return lps[bounds_row((turn + 1u) % 2u, row)];
}

// Nothing is scheduled here: what could is refused before it comes here.
fn schedule(lp: u32, time: vec2<u32>, payload: Payload) {}
