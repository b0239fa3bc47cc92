// Relaxations: every LP's earliest input is the least of the earliest outputs of those who may send to it; its earliest output is that of what it
// holds (its dry run), or earlier if what may arrive is answered earlier (pdes/bounds/answers.wgsl). Chandy, Misra and Bryant's bounds, as a fixpoint from
// above: it begins with what the LPs would send if nothing arrived, and each relaxation makes bounds earlier, until none changes any more. Then
// they are safe; what is safe before is said below.
//
// Where it is known to whom an LP sends next, all others hear from it later: after what it sends first, and after its second event, which it
// holds or which arrives. So it has two earliest outputs, and a sender counts by the one or the other.
//
// A dispatch takes the bounds of other workgroups' rows as the one before left them, and relaxes those of its own several times:
// bounds travel far in one dispatch where neighbours have numbers that are near. There is one fixpoint, whatever the order.
//
// Where the last dispatch of a window still changed bounds, those who have not heard of it may have theirs too late. But whatever they make of it is no earlier than what they have not heard:
// nothing is sent before what it answers arrives. So all bounds up to the earliest one that the last dispatch changed are as they will be, and the others no earlier than that.
//
//   lps      dispatch run.part.turn reads the bounds that the one before wrote, in half (turn + 1) % 2, and writes half turn % 2; the
//            first reads the dry runs and delays (pdes/bounds/answers.wgsl), and writes links (pdes/bounds/bounds.wgsl), which the others read
//   words    CHANGES + turn: the earliest of the bounds that it changed. A dispatch does nothing where the one before changed nothing, or the run is at its end
//
// They are of parity 0, between the two dispatches of a window (pdes/horizon/horizon_look.wgsl, pdes/horizon/horizon.wgsl). One invocation serves two rows: what a kernel like this
// takes of registers does not double with them, and barriers are among half as many.
//
// import: pdes/model.wgsl
// import: pdes/memory/lp_memory.wgsl
// import: pdes/bounds/bounds.wgsl
// provides: schedule
// needs: Payload, run, sender, sender_count

// A workgroup makes two relaxations, then looks whether anything changed, and so on, RELAX_ROUNDS times in a dispatch at the most. (As it need not come to its end: of 8 rounds and 24, windows
// of a torus of 262,144 stations with 52,429 customers take 1.10 and 1.46 times as long, and execute no more; with a customer each 1.01. H100.)
const RELAX_ROUNDS = 4u;
// Senders of a row among its workgroup's rows at the most; more are as if they were of another one.
const RELAX_INSIDE = 8u;
// No sender; and of a row that has more than four inside, or more than two elsewhere, that its senders are asked for again.
const RELAX_UNTOLD = 0xffffffffu;

// The rows of a workgroup, as RELAX_ROWS of src/pdes/device/recipes.rs says; each has its place.
override RELAX_PLACES: u32 = 2u * GROUP_SIZE;
// The earliest outputs in all places, then those to all but one, in two halves: relaxations read one and write the other. The last of each is of no
// row, and far.
override RELAX_HALF: u32 = 2u * RELAX_PLACES + 1u;
override RELAX_OUTPUTS: u32 = 2u * RELAX_HALF;
var<workgroup> relax_outputs: array<u32, RELAX_OUTPUTS>;
var<workgroup> relax_changes: atomic<u32>;
var<workgroup> relax_changed: u32;
var<workgroup> relax_earliest: atomic<u32>;

// A row: its bounds; what may arrive from other workgroups' rows; how it answers; what it sends to all but one; the places of RELAX_INSIDE senders, two
// to a word; of which senders it is not the next one to get something; whether those inside are more than four, and whether there are any anywhere.
struct Relaxed {
    output: u32,
    apart: u32,
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
    // Behind the last row of a part come those of the next one, which a dispatch of its own serves.
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

// Takes in a row of the workgroup's, from `first` to before `end`: from dry runs where relaxations begin, else from a half. What is past `end` is no row: it hears nothing, and sends nothing.
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
    mine.apart = kept.z;
    mine.others = kept.w;
    mine.since = delays.x;
    mine.delay = delays.y;
    mine.second = delays.z;
    mine.gap = delays.w;
    if links.x == RELAX_UNTOLD { return relax_senders(mine, row, first, end, false, half); }
    mine.hears = kept.y != BOUND_NEVER;
    mine.inside = vec4<u32>(links.xy, nobody, nobody);
    // Both at once, and in place of one that is not there, itself: what comes together need not be waited for twice.
    let rows = select(links.zw >> vec2<u32>(1u), vec2<u32>(row), links.zw == vec2<u32>(RELAX_UNTOLD));
    let there = vec2<bool>(links.z != RELAX_UNTOLD, links.w != RELAX_UNTOLD);
    if any(there) {
        let x = lps[bounds_row(half, rows.x)];
        let y = lps[bounds_row(half, rows.y)];
        let tells = vec2<u32>(select(x.x, x.z, (links.z & 1u) != 0u), select(y.x, y.z, (links.w & 1u) != 0u));
        let least = select(vec2<u32>(BOUND_FAR), tells, there);
        mine.outside = min(mine.outside, min(least.x, least.y));
    }
    return mine;
}

// The first time: from dry runs and answers. It leaves who may send to it (links).
fn relax_begin(found: Relaxed, row: u32, first: u32, end: u32) -> Relaxed {
    var mine = found;
    let delays = lps[delays_row(row)];
    mine.output = units_at(lps[speculation_row(row)].xy);
    mine.since = delays.x;
    mine.delay = delays.y;
    mine.second = delays.z;
    mine.gap = delays.w;
    mine.apart = relax_apart(mine.output, mine.second, mine.gap);
    return relax_senders(mine, row, first, end, true, 0u);
}

// Takes in who may send to a row, from the model.
fn relax_senders(found: Relaxed, row: u32, first: u32, end: u32, begins: bool, half: u32) -> Relaxed {
    var mine = found;
    var inside = 0u;
    var outside = 0u;
    var elsewhere = vec2<u32>(RELAX_UNTOLD);
    lp_row = row; // whose memory these may read
    let senders = min(sender_count(name_of(row)), NO_ROW - 4u);
    // Bound: the model's; the senders of an LP, by fours: what is asked for together comes together. (It ends whatever that is.)
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
            // Turned, because indexing by a variable sends a vector to memory on some GPUs.
            from_rows = from_rows.yzwx;
            others >>= 1u;
            if from_row == NO_ROW { continue; }
            mine.hears = true;
            let place = from_row - first;
            if place < RELAX_PLACES && from_row < end && inside < RELAX_INSIDE {
                let shift = 16u * (inside & 1u);
                let there = place + select(0u, RELAX_PLACES, is_other);
                let told = (mine.inside & vec4<u32>(~(0xffffu << shift))) | vec4<u32>(there << shift);
                mine.inside = select(mine.inside, told, vec4<u32>(0u, 1u, 2u, 3u) == vec4<u32>(inside >> 1u));
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
        if mine.many || outside > 2u { links.x = RELAX_UNTOLD; }
        lps[links_row(row)] = links;
    }
    return mine;
}

// The row of a sender by its number, or NO_ROW where there is none. What an LP schedules for itself does not arrive.
fn relax_sender(row: u32, index: u32, senders: u32) -> u32 {
    if index >= senders { return NO_ROW; }
    let from_row = row_at(sender(name_of(row), index));
    return select(NO_ROW, from_row, (from_row < run.rows) & (from_row != row));
}

// A relaxation of the row in a place, which reads one half and writes the other.
fn relax_step(mine: Relaxed, place: u32, from_half: u32, to_half: u32) -> Relaxed {
    var next = mine;
    next.input = min(mine.outside, relax_least(mine.inside.xy, from_half));
    if mine.many { next.input = min(next.input, relax_least(mine.inside.zw, from_half)); }
    // Nothing is sent before it arrives.
    next.output = min(mine.output, max(next.input, mine.since) + mine.delay);
    next.apart = relax_apart(next.output, min(mine.second, next.input), mine.gap);
    relax_put(next, to_half + place);
    return next;
}

// The earliest output to all but one, of a row that sends first, and has its second event, at these times.
fn relax_apart(output: u32, second: u32, gap: u32) -> u32 {
    return max(output, second) + gap;
}

fn relax_put(found: Relaxed, place: u32) {
    relax_outputs[place] = found.output;
    relax_outputs[place + RELAX_PLACES] = found.apart;
}

// What relaxations change of two rows.
fn relax_found(a: Relaxed, b: Relaxed) -> vec4<u32> {
    return vec4<u32>(a.output, b.output, a.apart, b.apart);
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
    lps[bounds_row(turn % 2u, row)] = vec4<u32>(found.output, input, found.apart, found.others);
}

// The earliest output of a row before this dispatch, or that to all but one.
fn relax_before(row: u32, begins: bool, half: u32, is_other: bool) -> u32 {
    if !begins {
        let kept = lps[bounds_row(half, row)];
        return select(kept.x, kept.z, is_other);
    }
    let output = units_at(lps[speculation_row(row)].xy);
    if !is_other { return output; }
    let delays = lps[delays_row(row)];
    return relax_apart(output, delays.z, delays.w);
}

// Nothing is scheduled here: what could is refused before it comes here.
fn schedule(lp: u32, time: vec2<u32>, payload: Payload) {}
