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
// They are of parity 0, between the two dispatches of a window (pdes/horizon_look.wgsl, pdes/horizon.wgsl). One invocation serves two rows: what a kernel like this
// takes of registers does not double with them, and barriers are among half as many.
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

// The rows of a workgroup, as RELAX_ROWS of src/pdes/recipes.rs says; each has its place.
override RELAX_PLACES: u32 = 2u * GROUP_SIZE;
// The earliest outputs, in two halves: relaxations read one and write the other. The last of each is of no row, and far.
override RELAX_HALF: u32 = RELAX_PLACES + 1u;
override RELAX_OUTPUTS: u32 = 2u * RELAX_HALF;
var<workgroup> relax_outputs: array<u32, RELAX_OUTPUTS>;
var<workgroup> relax_changes: atomic<u32>;
var<workgroup> relax_changed: u32;

// A row: its bounds; what may arrive from other workgroups' rows; how it answers; the places of RELAX_INSIDE senders, two to a word; whether these are more than four, and
// whether there are any anywhere.
struct Relaxed {
    output: u32,
    input: u32,
    outside: u32,
    since: u32,
    delay: u32,
    inside: vec4<u32>,
    many: bool,
    hears: bool,
}

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

    let first = run.part.queue_first + id.x * RELAX_PLACES;
    // Behind the last row of a part come those of the next one, which a dispatch of its own serves.
    let end = min(run.rows, run.part.queue_first + run.part.queue_rows);
    let other = lane + GROUP_SIZE;
    var a = relax_row(first + lane, first, end, turn);
    var b = relax_row(first + other, first, end, turn);
    let begun = vec2<u32>(a.output, b.output);
    relax_outputs[lane] = a.output;
    relax_outputs[other] = b.output;
    if lane < 2u { relax_outputs[lane * RELAX_HALF + RELAX_PLACES] = BOUND_FAR; }
    workgroupBarrier();
    for (var round = 0u; round < RELAX_ROUNDS; round += 1u) {
        let before = vec2<u32>(a.output, b.output);
        a = relax_step(a, lane, 0u, RELAX_HALF);
        b = relax_step(b, other, 0u, RELAX_HALF);
        workgroupBarrier();
        a = relax_step(a, lane, RELAX_HALF, 0u);
        b = relax_step(b, other, RELAX_HALF, 0u);
        workgroupBarrier();
        a = relax_step(a, lane, 0u, RELAX_HALF);
        b = relax_step(b, other, 0u, RELAX_HALF);
        workgroupBarrier();
        a = relax_step(a, lane, RELAX_HALF, 0u);
        b = relax_step(b, other, RELAX_HALF, 0u);
        if any(vec2<u32>(a.output, b.output) != before) { atomicStore(&relax_changes, 1u); }
        workgroupBarrier();
        if lane == 0u { relax_changed = atomicExchange(&relax_changes, 0u); }
        if workgroupUniformLoad(&relax_changed) == 0u { break; }
    }
    relax_leave(first + lane, end, turn, a);
    relax_leave(first + other, end, turn, b);
    if any(vec2<u32>(a.output, b.output) != begun) { atomicStore(&words[CHANGES + turn], 1u); }
    if first + lane == 0u { lps[control_row(1u, CONTROL_RELAXED)] = vec4<u32>(turn, 0u, 0u, 0u); }
    if first + lane < end && loops_cut(run.rows) { fail(first + lane, LOOPS_CUT); }
}

// Takes in a row of the workgroup's, from `first` to before `end`. What is past `end` is no row: it hears nothing, and sends nothing.
fn relax_row(row: u32, first: u32, end: u32, turn: u32) -> Relaxed {
    let nobody = RELAX_PLACES | (RELAX_PLACES << 16u);
    var mine = Relaxed(BOUND_FAR, BOUND_FAR, BOUND_FAR, 0u, BOUND_FAR, vec4<u32>(nobody), false, false);
    if row >= end { return mine; }
    if turn == 0u {
        let known = lps[answer_row(row)];
        mine.output = units_at(lps[dry_row(row)].xy);
        mine.since = units_at(known.xy);
        mine.delay = units_of(known.zw);
    } else {
        let kept = lps[bounds_row((turn + 1u) % 2u, row)];
        mine.output = kept.x;
        mine.since = kept.z;
        mine.delay = kept.w;
    }
    var inside = 0u;
    let senders = sender_count(name_of(row));
    // Bound: the model's; the senders of an LP. What an LP schedules for itself does not arrive.
    for (var i = 0u; i < senders; i += 1u) {
        let from_row = row_at(sender(name_of(row), i));
        if from_row >= run.rows || from_row == row { continue; }
        mine.hears = true;
        let place = from_row - first;
        if place < RELAX_PLACES && from_row < end && inside < RELAX_INSIDE {
            let shift = 16u * (inside & 1u);
            let told = (mine.inside & vec4<u32>(~(0xffffu << shift))) | vec4<u32>(place << shift);
            mine.inside = select(mine.inside, told, vec4<u32>(0u, 1u, 2u, 3u) == vec4<u32>(inside >> 1u));
            inside += 1u;
        } else {
            mine.outside = min(mine.outside, relax_before(from_row, turn));
        }
    }
    mine.many = inside > 4u;
    return mine;
}

// A relaxation of the row in a place, which reads one half and writes the other.
fn relax_step(mine: Relaxed, place: u32, from_half: u32, to_half: u32) -> Relaxed {
    var next = mine;
    next.input = min(mine.outside, relax_least(mine.inside.xy, from_half));
    if mine.many { next.input = min(next.input, relax_least(mine.inside.zw, from_half)); }
    // Nothing is sent before it arrives.
    next.output = min(mine.output, max(next.input, mine.since) + mine.delay);
    relax_outputs[to_half + place] = next.output;
    return next;
}

// The least of the outputs in four places.
fn relax_least(places: vec2<u32>, half: u32) -> u32 {
    let low = (places & vec2<u32>(0xffffu)) + half;
    let high = (places >> vec2<u32>(16u)) + half;
    return min(
        min(relax_outputs[low.x], relax_outputs[low.y]),
        min(relax_outputs[high.x], relax_outputs[high.y])
    );
}

// Keeps what was found of a row.
fn relax_leave(row: u32, end: u32, turn: u32, found: Relaxed) {
    if row >= end { return; }
    let input = select(BOUND_NEVER, found.input, found.hears);
    lps[bounds_row(turn % 2u, row)] = vec4<u32>(found.output, input, found.since, found.delay);
}

// The earliest output of a row before this dispatch.
fn relax_before(row: u32, turn: u32) -> u32 {
    if turn == 0u { return units_at(lps[dry_row(row)].xy); }
    return lps[bounds_row((turn + 1u) % 2u, row)].x;
}

// Nothing is scheduled here: what could is refused before it comes here.
fn schedule(lp: u32, time: vec2<u32>, payload: Payload) {}
