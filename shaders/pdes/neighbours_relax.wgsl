// Relaxations: every LP's earliest input is the least of the earliest outputs of those who may send to it; its earliest output is that of what it
// holds (its dry run), or earlier if what may arrive is answered earlier (pdes/answers.wgsl). Chandy, Misra and Bryant's bounds, as a fixpoint from
// above: it begins with what the LPs would send if nothing arrived, and each relaxation makes bounds earlier, until none changes any more. Then
// they are safe.
//
// A dispatch takes the bounds of other workgroups' rows as the one before left them, and relaxes those of its own until they do not change:
// bounds travel far in one dispatch where neighbours have numbers that are near. There is one fixpoint, whatever the order.
//
//   lps      dispatch run.part.turn reads the bounds that the one before wrote, in half (turn + 1) % 2, and writes half turn % 2; the
//            first reads the dry runs and the answers
//   words    CHANGES + turn: whether any bound changed. A dispatch does nothing where the one before changed nothing, or the run is at its end
//
// They are of parity 0, between the two dispatches of a window (pdes/horizon_look.wgsl, pdes/horizon.wgsl). One invocation serves one row.
//
// import: pdes/model.wgsl
// import: pdes/lp_memory.wgsl
// import: pdes/bounds.wgsl
//
// needs: sender_count, sender (the model)

// A workgroup makes four relaxations, then looks whether anything changed, and so on, RELAX_ROUNDS times in a dispatch at the most.
const RELAX_ROUNDS = 12u;
// Senders of a row among its workgroup's rows at the most; more are as if they were of another one.
const RELAX_INSIDE = 8u;

// The earliest outputs, in two halves: relaxations read one and write the other. The last of each is of no row, and far.
override RELAX_HALF: u32 = GROUP_SIZE + 1u;
var<workgroup> relax_outputs: array<u32, 2u * RELAX_HALF>;
var<workgroup> relax_changes: atomic<u32>;
var<workgroup> relax_changed: u32;

// Of a row: its bounds; whether others may send to it; what may arrive from other workgroups' rows; who of its own may send; how it answers.
var<private> relax_output: u32;
var<private> relax_input: u32;
var<private> relax_hears: bool;
var<private> relax_outside: u32;
var<private> relax_some: vec4<u32>;
var<private> relax_more: vec4<u32>;
var<private> relax_many: bool;
var<private> relax_since: u32;
var<private> relax_delay: u32;

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
    units_open();

    let first = run.part.queue_first + id.x * GROUP_SIZE;
    let row = first + lane;
    // Behind the last row of a part come those of the next one, which a dispatch of its own serves.
    let end = min(run.rows, run.part.queue_first + run.part.queue_rows);
    let served = row < end;
    let begun = relax_row(row, first, end, turn);
    relax_output = begun;
    relax_input = BOUND_FAR;
    relax_outputs[lane] = begun;
    if lane < 2u { relax_outputs[lane * RELAX_HALF + GROUP_SIZE] = BOUND_FAR; }
    workgroupBarrier();
    for (var round = 0u; round < RELAX_ROUNDS; round += 1u) {
        let before = relax_output;
        relax_step(lane, 0u, RELAX_HALF);
        workgroupBarrier();
        relax_step(lane, RELAX_HALF, 0u);
        workgroupBarrier();
        relax_step(lane, 0u, RELAX_HALF);
        workgroupBarrier();
        relax_step(lane, RELAX_HALF, 0u);
        if relax_output != before { atomicStore(&relax_changes, 1u); }
        workgroupBarrier();
        if lane == 0u { relax_changed = atomicExchange(&relax_changes, 0u); }
        if workgroupUniformLoad(&relax_changed) == 0u { break; }
    }
    if served {
        let input = select(BOUND_NEVER, relax_input, relax_hears);
        lps[bounds_row(turn % 2u, row)] = vec4<u32>(relax_output, input, relax_since, relax_delay);
    }
    if relax_output != begun { atomicStore(&words[CHANGES + turn], 1u); }
    if row == 0u { lps[control_row(1u, CONTROL_RELAXED)] = vec4<u32>(turn, 0u, 0u, 0u); }
    if served && loops_cut(run.rows) { fail(row, LOOPS_CUT); }
}

// Takes in a row of the workgroup's, from `first` to before `end`; returns its earliest output. What is past `end` is no row: it
// hears nothing, and sends nothing.
fn relax_row(row: u32, first: u32, end: u32, turn: u32) -> u32 {
    relax_hears = false;
    relax_outside = BOUND_FAR;
    relax_some = vec4<u32>(GROUP_SIZE);
    relax_more = vec4<u32>(GROUP_SIZE);
    relax_many = false;
    relax_since = 0u;
    relax_delay = BOUND_FAR;
    if row >= end { return BOUND_FAR; }
    var begun = lps[bounds_row((turn + 1u) % 2u, row)];
    if turn == 0u {
        let known = lps[answer_row(row)];
        begun = vec4<u32>(units_at(lps[dry_row(row)].xy), BOUND_FAR, units_at(known.xy), units_of(known.zw));
    }
    relax_since = begun.z;
    relax_delay = begun.w;
    var inside = 0u;
    let senders = sender_count(name_of(row));
    // Bound: the model's; the senders of an LP. What an LP schedules for itself does not arrive.
    for (var i = 0u; i < senders; i += 1u) {
        let from_row = row_at(sender(name_of(row), i));
        if from_row >= run.rows || from_row == row { continue; }
        relax_hears = true;
        let from_lane = from_row - first;
        if from_lane < GROUP_SIZE && from_row < end && inside < RELAX_INSIDE {
            let place = vec4<u32>(0u, 1u, 2u, 3u);
            relax_some = select(relax_some, vec4<u32>(from_lane), place == vec4<u32>(inside));
            relax_more = select(relax_more, vec4<u32>(from_lane), place + 4u == vec4<u32>(inside));
            inside += 1u;
        } else {
            relax_outside = min(relax_outside, relax_before(from_row, turn));
        }
    }
    relax_many = inside > 4u;
    return begun.x;
}

// A relaxation of a row, which reads one half and writes the other.
fn relax_step(lane: u32, from_half: u32, to_half: u32) {
    var least = min(relax_outside, relax_least(relax_some + from_half));
    if relax_many { least = min(least, relax_least(relax_more + from_half)); }
    relax_input = least;
    // Nothing is sent before it arrives.
    relax_output = min(relax_output, max(least, relax_since) + relax_delay);
    relax_outputs[to_half + lane] = relax_output;
}

fn relax_least(places: vec4<u32>) -> u32 {
    return min(
        min(relax_outputs[places.x], relax_outputs[places.y]),
        min(relax_outputs[places.z], relax_outputs[places.w])
    );
}

// The earliest output of a row before this dispatch.
fn relax_before(row: u32, turn: u32) -> u32 {
    if turn == 0u { return units_at(lps[dry_row(row)].xy); }
    return lps[bounds_row((turn + 1u) % 2u, row)].x;
}

// Nothing is scheduled here: what could is refused before it comes here.
fn schedule(lp: u32, time: vec2<u32>, payload: Payload) {}
