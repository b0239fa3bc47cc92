// Execute: an LP runs its pending events before a time in order, at most run.budget of them. One
// invocation serves one LP. Files with pending events provide:
//   pending_see(row) -> Seen        reads of an LP before the window's end is known
//   pending_look(row)               more such reads, if the row is the only one of its invocation
//   pending_open(row, ..)           whether the LP may have work; else pending_idle() is its result
//   pending_waits(rows, Horizon)    the same for four rows before they are opened
//   pending_any(), pending_first(), pending_pop()
//   pending_opening()               pending_first(), if nothing was executed since pending_open
//   pending_was_stalled()           whether STALLED was set at pending_open
//   pending_close(row, first, ..)   `first` is the time of the first remaining event
//
// deliver_open and deliver_own come from pdes/window/deliver_mail.wgsl or a calendar; Horizon,
// Reduced, horizon_enough and clock_broken from the file that synchronises.
//
// import: pdes/model.wgsl
// import: pdes/memory/lp_memory.wgsl
// import: pdes/results/fingerprint.wgsl
// provides: Waits
// needs: Horizon, Item, Reduced, Seen, clock_broken, deliver_open, deliver_own, event_time, handle
// needs: horizon_enough, item_event, pending_any, pending_close, pending_first, pending_idle
// needs: pending_open, pending_opening, pending_pop, pending_was_stalled, run

// Which of four rows may have work, a bit for each, and the reduction of the others. Rows from
// run.rows on do not exist.
struct Waits {
    rows: u32,
    idle: Reduced,
}

// Executes the events of a row before the horizon, or enough of them; returns the row's part of the
// reduction.
fn execute(row: u32, horizon: Horizon, seen: Seen) -> Reduced {
    if !pending_open(row, horizon, seen) { return pending_idle(); }
    var first = TIME_NEVER;
    var event: Item;
    if pending_any() {
        event = pending_opening();
        first = event_time(event);
    }
    var executed = 0u;
    var stalls = 0u;
    if may_run(row, first, horizon) {
        let name = name_of(row);
        let counts = lps[run.rows + row];
        var number = counts.xy;
        var digest = counts.zw;
        var state = states_get(row);
        let begun = digest_begin(DIGEST_EXECUTED, name);
        let begin = first;
        lp_row = row;
        deliver_open();
        // An LP that fails stops, because later failures might follow from the first. (Its sends
        // are checked when they are posted, during the next event.) This invocation serves other
        // LPs, too.
        let others_failed = failed;
        failed = false;
        // Bound: run.budget. Checked at the end, because the first event executes in any case
        // (may_run), and llvmpipe runs a loop body once more if the condition is at its start.
        loop {
            pending_pop();
            executed += 1u;
            number = wide_add(number, vec2<u32>(1u, 0u));
            digest = wide_add(digest, digest_event(begun, event));
            lp_now = first;
            first = TIME_NEVER;
            stream_open(run.seed, name, number);
            handle(name, item_event(event), &state);
            record_failure();
            deliver_own();
            if pending_any() {
                event = pending_first();
                first = event_time(event);
            }
            if (executed >= run.budget) | !time_less(first, horizon.until) | failed { break; }
            // Not within a time: only a budget may leave events of a time unexecuted.
            if horizon_enough(executed) & time_less(lp_now, first) { break; }
        }
        // Before the stores: the other order is slower.
        stalls = stall_count(row, executed, all(first == begin));
        failed = failed | others_failed;
        states_set(row, state);
        lps[run.rows + row] = vec4<u32>(number, digest);
    } else if pending_was_stalled() {
        stalls = STALLED;
    }
    return pending_close(row, first, executed, stalls);
}

// Whether an LP whose first event is at this time executes it. Fails if a bound was broken, or if
// rounds at one time do not end.
fn may_run(row: u32, first: vec2<u32>, horizon: Horizon) -> bool {
    if !time_less(first, horizon.until) { return false; }
    if clock_broken(first) {
        fail(row, PROMISE);
        return false;
    }
    if (horizon.rounds <= ROUNDS) | any(run.lookahead != TIME_ZERO) { return true; }
    fail(row, CYCLE);
    return false;
}

// STALLED if an LP used up its budget and its time did not advance; counts such windows in a row.
fn stall_count(row: u32, executed: u32, still: bool) -> u32 {
    if (executed != run.budget) | !still { return 0u; }
    let place = COUNTS + row;
    let windows = select(0u, atomicLoad(&words[place]), pending_was_stalled()) + 1u;
    atomicStore(&words[place], windows);
    if windows * run.budget > PATIENCE { fail(row, STUCK); }
    return STALLED;
}
