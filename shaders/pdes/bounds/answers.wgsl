// What an LP answers to what arrives, and to whom it sends next, from the model, for relaxations to use without it (pdes/bounds/neighbours_relax.wgsl); and
// whether answers were true.
//
// Functions: answers_open, answers_compute, answers_store, answers_check.
//
// import: pdes/model.wgsl
// import: pdes/bounds/bounds.wgsl
// provides: answers_check, answers_compute, answers_open, answers_store
// needs: State, answer, event_time, next_gap, next_to, queue_reserved_slot, queue_second
// needs: queue_size, run, speculation_reset
//
// The queue is open.

// Whether units begin anew: what is kept of every row has to be told in them.
var<private> answers_renewed: bool;

// To be called first, with the times at which a window and the one before it begin, and what CONTROL_WENT keeps, of which the first says how far windows go. Returns what it is to keep. (Where windows execute at one time, how far it is
// to the next one counts, too.)
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

// Keeps the answer of a row, which has executed so many events and has this state, and whose first event is at this time. Returns 1 + the row that it
// sends to next, or 0 where that may be any.
fn answers_store(row: u32, executed: vec2<u32>, begun: State, first: vec2<u32>) -> u32 {
    let name = name_of(row);
    lp_row = row;
    lp_now = TIME_ZERO;
    // It is about what the LP is, not what it may become.
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
    // Where that is the LP itself, nothing is known of the others: a dry run goes on to what it sends to them, and the gap lies before that.
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

// Finds mails that are too late, of which the earliest is at this time, for a row that was left within a time (STALLED) and whose queue is open: what arrives for that time is, too, and when it is executed
// nobody could tell it from what the LP holds. (For all others it shows then: clock_broken in pdes/bounds/neighbours.wgsl. To ask here of each row, windows of a torus of 262,144 stations took 1 % longer: H200.)
fn answers_check(row: u32, earliest: vec2<u32>) {
    if !time_less(event_time(queue_events[queue_reserved_slot()]), earliest) { fail(row, PROMISE); }
}
