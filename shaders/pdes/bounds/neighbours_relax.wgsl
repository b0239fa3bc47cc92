// Relaxations: a fixpoint from above for per-LP bounds (after Chandy-Misra-Bryant). An LP's
// earliest input is the least earliest output of its senders. Its earliest output is that of the
// events it holds (speculative execution), or earlier if it answers an arrival earlier.
// If an LP's next destination is known, all others hear from it only after its first send and after
// its second event, held or arriving. So it has two earliest outputs; a receiver uses one.
//
// A dispatch reads other workgroups' bounds as the dispatch before left them, and relaxes its own
// rows several times. The fixpoint is the same in any order. If the last dispatch still changed
// bounds, all up to the earliest changed one are final: nothing is sent before the arrival that it
// answers.
// Dispatch run.part.turn writes half turn % 2 of bounds_row, CHANGES + turn and, if it is the
// first, links_row. It does nothing if the one before changed nothing or the run is at its end. It
// has parity 0 and runs between the two dispatches of a window. An invocation serves two rows.
//
// import: pdes/model.wgsl
// import: pdes/memory/lp_memory.wgsl
// import: pdes/bounds/bounds.wgsl
// provides: schedule
// needs: Payload, run, sender, sender_count

// A workgroup checks for changes after every two relaxations, at most RELAX_ROUNDS times in a
// dispatch. Bounds need not converge.
const RELAX_ROUNDS = 4u;
// Senders of a row in its own workgroup at most; more are read as if they were in another one.
const RELAX_INSIDE = 8u;
// No sender. In links_row: more than four senders inside or two elsewhere, so the model lists them
// again.
const RELAX_UNLISTED = 0xffffffffu;

// The rows of a workgroup: RELAX_ROWS of src/pdes/device/recipes.rs. Each has its place.
override RELAX_PLACES: u32 = 2u * GROUP_SIZE;
// Two halves, one read and one written: the earliest outputs in all places, then those to all but
// one, then an unused place that is far.
override RELAX_HALF: u32 = 2u * RELAX_PLACES + 1u;
override RELAX_OUTPUTS: u32 = 2u * RELAX_HALF;
var<workgroup> relax_outputs: array<u32, RELAX_OUTPUTS>;
var<workgroup> relax_changes: atomic<u32>;
var<workgroup> relax_changed: u32;
var<workgroup> relax_earliest: atomic<u32>;

// A row: its bounds (output, rest_output, input), the input from other workgroups, its answer and
// delays_row, its senders' places, two to a word, and for each sender whether this row is not its
// next destination. `many`: more than four senders inside; `hears`: has senders.
struct Relaxed {
    output: u32,
    rest_output: u32,
    input: u32,
    outside: u32,
    since: u32,
    delay: u32,
    second: u32,
    gap: u32,
    inside: vec4<u32>,
    others: u32,
    many: bool,
    hears: bool,
}

@compute @workgroup_size(GROUP_SIZE)
fn relax(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let turn = run.part.turn;
    let half = (turn + 1u) % 2u;
    let begins = turn == 0u;
    units_open();
    if lane == 0u {
        let stopped = lps[control_row(1u, CONTROL_STATUS)].z != 0u;
        var still = false;
        if turn > 0u { still = atomicLoad(&words[CHANGES + turn - 1u]) == UNCHANGED; }
        atomicStore(&relax_earliest, UNCHANGED);
        relax_changed = u32(!(stopped | still | any(run.event_limit != TIME_NEVER)));
    }
    if workgroupUniformLoad(&relax_changed) == 0u { return; }

    let first = run.part.queue_first + id.x * RELAX_PLACES;
    // Rows behind the last one of a part belong to the next part, which has its own dispatch.
    let end = min(run.rows, run.part.queue_first + run.part.queue_rows);
    let other = lane + GROUP_SIZE;
    var a = relax_open(first + lane, first, end, begins, half);
    var b = relax_open(first + other, first, end, begins, half);
    let begun = relax_found(a, b);
    relax_put(a, lane);
    relax_put(b, other);
    if lane < 2u { relax_outputs[lane * RELAX_HALF + 2u * RELAX_PLACES] = BOUND_FAR; }
    workgroupBarrier();
    for (var round = 0u; round < RELAX_ROUNDS; round += 1u) {
        let before = relax_found(a, b);
        a = relax_step(a, lane, 0u, RELAX_HALF);
        b = relax_step(b, other, 0u, RELAX_HALF);
        workgroupBarrier();
        a = relax_step(a, lane, RELAX_HALF, 0u);
        b = relax_step(b, other, RELAX_HALF, 0u);
        if any(relax_found(a, b) != before) { atomicStore(&relax_changes, 1u); }
        workgroupBarrier();
        if lane == 0u { relax_changed = atomicExchange(&relax_changes, 0u); }
        if workgroupUniformLoad(&relax_changed) == 0u { break; }
    }
    relax_leave(first + lane, end, turn, a);
    relax_leave(first + other, end, turn, b);
    let found = relax_found(a, b);
    let changed = select(vec4<u32>(UNCHANGED), found, found != begun);
    let earliest = min(min(changed.x, changed.y), min(changed.z, changed.w));
    if earliest != UNCHANGED { atomicMin(&relax_earliest, earliest); }
    workgroupBarrier();
    if lane == 0u {
        let all = atomicLoad(&relax_earliest);
        if all != UNCHANGED { atomicMin(&words[CHANGES + turn], all); }
    }
    if first + lane == 0u { lps[control_row(1u, CONTROL_RELAXED)] = vec4<u32>(turn, 0u, 0u, 0u); }
    if first + lane < end && loops_cut(run.rows) { fail(first + lane, LOOPS_CUT); }
}

// Reads a row of the workgroup's rows `first` .. `end`: from speculative results in the first
// dispatch, else from a half. A row from `end` on does not exist: it has no senders, and sends
// nothing.
fn relax_open(row: u32, first: u32, end: u32, begins: bool, half: u32) -> Relaxed {
    let nobody = 2u * RELAX_PLACES * 0x10001u;
    var mine = Relaxed(
        BOUND_FAR, BOUND_FAR, BOUND_FAR, BOUND_FAR, 0u, BOUND_FAR, BOUND_FAR, 0u, vec4<u32>(nobody), 0u, false, false
    );
    if row >= end { return mine; }
    if begins { return relax_begin(mine, row, first, end); }
    let kept = lps[bounds_row(half, row)];
    let delays = lps[delays_row(row)];
    let links = lps[links_row(row)];
    mine.output = kept.x;
    mine.rest_output = kept.z;
    mine.others = kept.w;
    mine.since = delays.x;
    mine.delay = delays.y;
    mine.second = delays.z;
    mine.gap = delays.w;
    if links.x == RELAX_UNLISTED { return relax_senders(mine, row, first, end, false, half); }
    mine.hears = kept.y != BOUND_NEVER;
    mine.inside = vec4<u32>(links.xy, nobody, nobody);
    // Both reads are issued together; a missing sender is replaced by the row itself.
    let rows = select(links.zw >> vec2<u32>(1u), vec2<u32>(row), links.zw == vec2<u32>(RELAX_UNLISTED));
    let there = vec2<bool>(links.z != RELAX_UNLISTED, links.w != RELAX_UNLISTED);
    if any(there) {
        let x = lps[bounds_row(half, rows.x)];
        let y = lps[bounds_row(half, rows.y)];
        let received = vec2<u32>(select(x.x, x.z, (links.z & 1u) != 0u), select(y.x, y.z, (links.w & 1u) != 0u));
        let least = select(vec2<u32>(BOUND_FAR), received, there);
        mine.outside = min(mine.outside, min(least.x, least.y));
    }
    return mine;
}

// The first dispatch: reads speculative results and answers, and writes the row's senders (links).
fn relax_begin(found: Relaxed, row: u32, first: u32, end: u32) -> Relaxed {
    var mine = found;
    let delays = lps[delays_row(row)];
    mine.output = units_at(lps[speculation_row(row)].xy);
    mine.since = delays.x;
    mine.delay = delays.y;
    mine.second = delays.z;
    mine.gap = delays.w;
    mine.rest_output = relax_rest(mine.output, mine.second, mine.gap);
    return relax_senders(mine, row, first, end, true, 0u);
}

// Reads a row's senders from the model.
fn relax_senders(found: Relaxed, row: u32, first: u32, end: u32, begins: bool, half: u32) -> Relaxed {
    var mine = found;
    var inside = 0u;
    var outside = 0u;
    var elsewhere = vec2<u32>(RELAX_UNLISTED);
    // sender_count and sender may read this row's memory.
    lp_row = row;
    let senders = min(sender_count(name_of(row)), NO_ROW - 4u);
    // Bound: the senders of an LP, which the model gives, by fours, so that their reads are issued
    // together. The loop ends whatever that number is.
    for (var i = 0u; i < senders; i += 4u) {
        var from_rows = vec4<u32>(
            relax_sender(row, i, senders), relax_sender(row, i + 1u, senders),
            relax_sender(row, i + 2u, senders), relax_sender(row, i + 3u, senders)
        );
        if begins && i < 32u {
            let there = select(from_rows, vec4<u32>(row), from_rows == vec4<u32>(NO_ROW));
            let a = lps[speculation_row(there.x)];
            let b = lps[speculation_row(there.y)];
            let c = lps[speculation_row(there.z)];
            let d = lps[speculation_row(there.w)];
            let nexts = vec4<u32>(next_known(a), next_known(b), next_known(c), next_known(d));
            let other = (nexts != vec4<u32>(0u)) & (nexts != vec4<u32>(row + 1u));
            let bits = select(vec4<u32>(0u), vec4<u32>(1u, 2u, 4u, 8u), other);
            mine.others |= (bits.x | bits.y | bits.z | bits.w) << i;
        }
        var others = select(0u, mine.others >> (i & 31u), i < 32u);
        for (var k = 0u; k < 4u; k += 1u) {
            let from_row = from_rows.x;
            let is_other = (others & 1u) != 0u;
            // Rotated, because indexing by a variable moves a vector to memory on some GPUs.
            from_rows = from_rows.yzwx;
            others >>= 1u;
            if from_row == NO_ROW { continue; }
            mine.hears = true;
            let place = from_row - first;
            if place < RELAX_PLACES && from_row < end && inside < RELAX_INSIDE {
                let shift = 16u * (inside & 1u);
                let there = place + select(0u, RELAX_PLACES, is_other);
                let places = (mine.inside & vec4<u32>(~(0xffffu << shift))) | vec4<u32>(there << shift);
                mine.inside = select(mine.inside, places, vec4<u32>(0u, 1u, 2u, 3u) == vec4<u32>(inside >> 1u));
                inside += 1u;
            } else {
                mine.outside = min(mine.outside, relax_before(from_row, begins, half, is_other));
                elsewhere = vec2<u32>((from_row << 1u) | u32(is_other), elsewhere.x);
                outside += 1u;
            }
        }
    }
    record_failure();
    mine.many = inside > 4u;
    if begins {
        var links = vec4<u32>(mine.inside.xy, elsewhere);
        if mine.many || outside > 2u { links.x = RELAX_UNLISTED; }
        lps[links_row(row)] = links;
    }
    return mine;
}

// The row of a sender by its number, or NO_ROW. What an LP schedules for itself does not arrive.
fn relax_sender(row: u32, index: u32, senders: u32) -> u32 {
    if index >= senders { return NO_ROW; }
    let from_row = row_at(sender(name_of(row), index));
    return select(NO_ROW, from_row, (from_row < run.rows) & (from_row != row));
}

// Relaxes the row in a place; reads one half and writes the other.
fn relax_step(mine: Relaxed, place: u32, from_half: u32, to_half: u32) -> Relaxed {
    var next = mine;
    next.input = min(mine.outside, relax_least(mine.inside.xy, from_half));
    if mine.many { next.input = min(next.input, relax_least(mine.inside.zw, from_half)); }
    // Nothing is sent before the arrival that causes it.
    next.output = min(mine.output, max(next.input, mine.since) + mine.delay);
    next.rest_output = relax_rest(next.output, min(mine.second, next.input), mine.gap);
    relax_put(next, to_half + place);
    return next;
}

// The earliest output to all but one of a row whose first send and second event are at these times.
fn relax_rest(output: u32, second: u32, gap: u32) -> u32 {
    return max(output, second) + gap;
}

fn relax_put(found: Relaxed, place: u32) {
    relax_outputs[place] = found.output;
    relax_outputs[place + RELAX_PLACES] = found.rest_output;
}

// What relaxations change of two rows.
fn relax_found(a: Relaxed, b: Relaxed) -> vec4<u32> {
    return vec4<u32>(a.output, b.output, a.rest_output, b.rest_output);
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

// Writes a row's bounds.
fn relax_leave(row: u32, end: u32, turn: u32, found: Relaxed) {
    if row >= end { return; }
    let input = select(BOUND_NEVER, found.input, found.hears);
    lps[bounds_row(turn % 2u, row)] = vec4<u32>(found.output, input, found.rest_output, found.others);
}

// The earliest output of a row before this dispatch, or its output to all but one.
fn relax_before(row: u32, begins: bool, half: u32, is_other: bool) -> u32 {
    if !begins {
        let kept = lps[bounds_row(half, row)];
        return select(kept.x, kept.z, is_other);
    }
    let output = units_at(lps[speculation_row(row)].xy);
    if !is_other { return output; }
    let delays = lps[delays_row(row)];
    return relax_rest(output, delays.z, delays.w);
}

// Nothing is scheduled here: a model that could is refused earlier.
fn schedule(lp: u32, time: vec2<u32>, payload: Payload) {}
