// The first dispatch of an event-horizon window (pdes/horizon/horizon.wgsl): every LP drains its
// mailbox and executes speculatively to find the time of the first event that it sends to another
// LP, if nothing else arrives.
//
// A result is valid (SPECULATED) until its LP executes an event or one arrives, or units of bounds
// begin anew (pdes/bounds/bounds.wgsl); most LPs only repeat theirs. Speculation stops at the
// reach, a guess of the horizon with a margin: an LP whose first event is later is not served. If
// no horizon is found within the reach, the reach bounds the window and the next reach is longer.
//
// The dispatch has parity 0: it reads half 0, which the window before wrote, and writes
//   control     the same, with the time of the first pending event and whether the run is at its
//               end; CONTROL_REACH: the reach from that time (2); CONTROL_WENT
//   partials    the earliest time of a send to another LP; a bound of the number of events before
//               it
// One invocation serves TILES rows.
//
// import: pdes/engine.wgsl
// import: pdes/window/partials.wgsl
// import: pdes/queues/queue_windows.wgsl
// import: pdes/window/pack.wgsl
// import: pdes/queues/mails.wgsl
// needs: answers_check, answers_compute, answers_open, answers_store, event_time, queue_close
// needs: queue_first, queue_size, reduce_group, run, speculate, states_get

// Whether the reach is unlimited: for per-LP bounds (pdes/bounds/neighbours.wgsl).
override LOOK_FAR: bool = false;

@compute @workgroup_size(GROUP_SIZE)
fn look_ahead(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let group = group_number(id);
    let read = left_read(lane);
    let done = lps[control_row(0u, CONTROL_DONE)];
    let status = lps[control_row(0u, CONTROL_STATUS)];
    let span = lps[control_row(0u, CONTROL_REACH)].xy;
    let went = lps[control_row(0u, CONTROL_WENT)];
    let failure = atomicLoad(&words[FAILURE]);
    let last = left_by_all(lane, read);
    let now = time_min(last.xy, run.earliest);
    let events = wide_add(done.zw, vec2<u32>(last.z, 0u));
    let stopped = (failure != NO_FAILURE) | all(now == TIME_NEVER) | !time_less(now, run.until)
        | !time_less(events, run.event_limit) | !time_less(events, run.pause);
    // One short window says little about the next one: the remembered distance shrinks by a bit.
    let goes = max(last.w, select(max(went.x, 1u) - 1u, went.x, stopped));
    let before = select(status.xy, now, all(done.xy == vec2<u32>(0u)));
    let units = answers_open(now, before, vec4<u32>(goes, went.yzw), stopped);
    let anew = answers_compute();
    var reach = time_add(now, span);
    // With per-LP bounds, each result bounds other rows, however late it is.
    if LOOK_FAR { reach = TIME_NEVER; }
    var mine = IDLE;
    var served = NO_ROW;
    var chosen = 0u;
    if !stopped {
        for (var tile = 0u; tile < TILES; tile += 4u) {
            let rows = rows_of_four(group, tile, lane);
            // Reads of four rows are issued together.
            let there = rows_to_read(rows);
            let a = look_reported(there.x);
            let b = look_reported(there.y);
            let c = look_reported(there.z);
            let d = look_reported(there.w);
            let real = rows < vec4<u32>(run.rows);
            let holds = vec4<bool>(
                look_holds(a, reach), look_holds(b, reach), look_holds(c, reach), look_holds(d, reach)
            ) & vec4<bool>(!anew);
            if real.x && holds.x { mine = merge(mine, vec4<u32>(a.known.xyz, 0u)); }
            if real.y && holds.y { mine = merge(mine, vec4<u32>(b.known.xyz, 0u)); }
            if real.z && holds.z { mine = merge(mine, vec4<u32>(c.known.xyz, 0u)); }
            if real.w && holds.w { mine = merge(mine, vec4<u32>(d.known.xyz, 0u)); }
            let bits = select(vec4<u32>(0u), vec4<u32>(1u, 2u, 4u, 8u), real & !holds);
            chosen |= (bits.x | bits.y | bits.z | bits.w) << tile;
        }
    }
    let total = pack(group, lane, chosen);
    for (var step = 0u; step < pack_steps(total); step += 1u) {
        let row = pack_row(step, total, group, lane, chosen);
        if row == NO_ROW { continue; }
        served = min(served, row);
        mine = merge(mine, look(row, reach));
    }
    let left = reduce_group(lane, mine);
    if lane == 0u && group < run.groups {
        lps[2u * run.rows + run.groups + group] = left;
        if group == 0u {
            let rounds = select(0u, status.w, all(status.xy == now));
            lps[control_row(1u, CONTROL_DONE)] = vec4<u32>(done.xy, events);
            lps[control_row(1u, CONTROL_STATUS)] = vec4<u32>(now, u32(stopped), rounds);
            for (var turn = 0u; turn < RELAXATIONS; turn += 1u) { atomicStore(&words[CHANGES + turn], UNCHANGED); }
            lps[control_row(1u, CONTROL_WENT)] = units;
            lps[control_row(1u, CONTROL_REACH)] = vec4<u32>(span, 0u, 0u);
            // A minimum, not a store: invocations of this dispatch may be recording failures there.
            atomicMin(&words[FAILURE + 1u], failure);
        }
    }
    if served != NO_ROW && loops_cut(run.rows) { fail(served, LOOPS_CUT); }
}

// What is known of a row.
struct RowReport {
    known: vec4<u32>,
    words: u32,
    mails: u32,
}

fn look_reported(row: u32) -> RowReport {
    return RowReport(lps[speculation_row(row)], lps[row].z, atomicLoad(&words[mail_count(0u, row)]));
}

// Whether a row's speculative result is valid.
fn look_holds(report: RowReport, reach: vec2<u32>) -> bool {
    let known = report.known;
    // A result that was limited by the reach is not valid within a longer reach.
    let within_reach = ((known.w & 1u) == 0u) | !time_less(known.xy, reach);
    // Event-limited runs cannot use the estimate of pdes/horizon/speculate_earliest.wgsl, which
    // another run may have left.
    let counted = (known.z < run.budget) | all(run.event_limit == TIME_NEVER);
    return ((report.words & SPECULATED) != 0u) & within_reach & counted & (report.mails == 0u);
}

// Serves a row anew; returns its part of the reduction.
fn look(row: u32, reach: vec2<u32>) -> Reduced {
    let kept = lps[row];
    // Read early: nothing below changes these, and their latency overlaps.
    let number = lps[run.rows + row].xy;
    let state = states_get(row);
    let mails = min(atomicLoad(&words[mail_count(0u, row)]), run.mail_capacity);
    if !mails_open(row, kept.zw, mails) { return IDLE; }
    let earliest = mails_push(row, mails);
    if (kept.z & STALLED) != 0u { answers_check(row, earliest); }
    var first = TIME_NEVER;
    if queue_size() > 0u { first = event_time(queue_first()); }
    // Before `speculate` and for every row: `earliest` makes the draws of `answer` again, and
    // compilers can reuse them in this order.
    let next = answers_store(row, number, state, first);
    let found = speculate(row, number, state, reach);
    let words_kept = queue_close();
    lps[row] = vec4<u32>(first, words_kept.x | (kept.z & STALLED) | SPECULATED, words_kept.y);
    lps[speculation_row(row)] = vec4<u32>(found.earliest, found.events, u32(found.reached) | (next << 1u));
    return vec4<u32>(found.earliest, found.events, 0u);
}
