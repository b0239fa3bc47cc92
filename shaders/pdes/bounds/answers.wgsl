// Stores, for relaxations (pdes/bounds/neighbours_relax.wgsl), the model's `answer` to arrivals and
// the LP that each LP sends to next, and checks that answers held. The queue is open.
//
// Functions: answers_open, answers_compute, answers_store, answers_check.
//
// import: pdes/model.wgsl
// import: pdes/bounds/bounds.wgsl
// provides: answers_check, answers_compute, answers_open, answers_store
// needs: State, answer, event_time, next_gap, next_to, queue_reserved_slot, queue_second
// needs: queue_size, run, speculation_reset

// Whether units begin anew: then every row's stored values must be computed again.
var<private> answers_renewed: bool;

// Call it first, with the start of this window and of the one before, and the row CONTROL_WENT.
// Returns the new row. If windows execute at one time only, the distance to the next window counts
// as how far they go.
fn answers_open(now: vec2<u32>, before: vec2<u32>, went: vec4<u32>, stopped: bool) -> vec4<u32> {
    answers_renewed = false;
    units_of_went(went);
    if stopped { return went; }
    let goes = max(went.x, bits_of(time_since(now, before)));
    answers_renewed = units_renew(now, goes);
    return vec4<u32>(goes, units_shift, units_begin);
}

fn answers_compute() -> bool {
    return answers_renewed;
}

// Stores the answer of a row with this state, which has executed this number of events and whose
// first event is at this time. Returns 1 + the row that it sends to next, or 0 for any row.
fn answers_store(row: u32, executed: vec2<u32>, begun: State, first: vec2<u32>) -> u32 {
    let name = name_of(row);
    lp_row = row;
    lp_now = TIME_ZERO;
    // The answer depends on the state that the LP has, not on speculative writes.
    speculation_reset();
    let number = wide_add(executed, vec2<u32>(1u, 0u));
    stream_open(run.seed, name, number);
    var state = begun;
    let found = answer(name, &state);
    stream_open(run.seed, name, number);
    let to = next_to(name, &state);
    stream_open(run.seed, name, wide_add(number, vec2<u32>(1u, 0u)));
    let gap = next_gap(name, &state);
    record_failure();
    // If the next destination is the LP itself, nothing is known of the others: speculative
    // execution continues to the event for another LP, and the gap lies before that.
    let anybody = (to == NEXT_ANYBODY) | (row_at(to) == row);
    var second = TIME_NEVER;
    if anybody {
        second = first;
    } else if queue_size() > 1u {
        second = event_time(queue_second());
    }
    lps[delays_row(row)] = vec4<u32>(
        units_at(found.since), units_of(found.delay), units_at(second), units_of(select(gap, TIME_ZERO, anybody))
    );
    return select(row_at(to) + 1u, 0u, anybody);
}

// Fails if messages arrive too late at a row whose budget ended within a time (STALLED). Once
// executed, a message for that time is indistinguishable from the LP's own events. All other rows
// are checked later (clock_broken in pdes/bounds/neighbours.wgsl). The queue is open.
fn answers_check(row: u32, earliest: vec2<u32>) {
    if !time_less(event_time(queue_events[queue_reserved_slot()]), earliest) { fail(row, PROMISE); }
}
