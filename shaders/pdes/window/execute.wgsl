// Execute: an LP runs its pending events before a time in order, up to a budget of them. One invocation serves one LP.
//
// import: pdes/model.wgsl
// import: pdes/memory/lp_memory.wgsl
// import: pdes/results/fingerprint.wgsl
// provides: Waits
// needs: Horizon, Item, Reduced, Seen, clock_broken, deliver_open, deliver_own, event_time, handle
// needs: horizon_enough, item_event, pending_any, pending_close, pending_first, pending_idle
// needs: pending_open, pending_opening, pending_pop, pending_was_stalled, run
//
// Of the files where events are pending:
//
//   pending_see(row) -> Seen              what there is of an LP before anybody knows how far the window goes
//   pending_look(row)                     looks at more of it then, where the row is the only one of its invocation
//   pending_open(row, Horizon, Seen) -> bool    whether the LP may have something to do; if not, pending_idle() is what it leaves
//   pending_waits(rows, Horizon) -> Waits the same for four rows before they are opened
//   pending_any(), pending_first(), pending_pop()
//   pending_opening()                     pending_first(), where nothing was executed since pending_open
//   pending_was_stalled() -> bool               whether STALLED was set when it was opened
//   pending_close(row, first, executed, stands) -> Reduced    `first` is the time of the first event that is left
//
// and deliver_open, deliver_own (pdes/deliver_*.wgsl), Horizon, Reduced, horizon_enough, clock_broken (the file that synchronises)

// Which of four rows may have something to do, a bit for each, and what the others leave. Rows from run.rows on are none.
struct Waits {
    rows: u32,
    idle: Reduced,
}

// Executes the events of a row before the horizon's end, or enough of them; returns what the row leaves for the next window.
fn execute(row: u32, horizon: Horizon, seen: Seen) -> Reduced {
    if !pending_open(row, horizon, seen) { return pending_idle(); }
    var first = TIME_NEVER;
    var event: Item;
    if pending_any() {
        event = pending_opening();
        first = event_time(event);
    }
    var executed = 0u;
    var stands = 0u;
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
        // An LP that fails does nothing more: what else it were blamed for might follow from that. (What it sends is judged when it is put, while the
        // next event is executed.) This invocation serves others, too.
        let others_failed = failed;
        failed = false;
        // Bound: run.budget. Asked at the end, because the first event is executed in any case (may_run), and llvmpipe goes through the body of a loop once
        // more where that is asked at its beginning.
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
            // Not within a time: what of it is left, only budgets leave.
            if horizon_enough(executed) & time_less(lp_now, first) { break; }
        }
        // Before what is kept: the other way round, windows take 2.5 % longer (1,024 LPs with 16 events each at rate 0.1, H200).
        stands = stall_count(row, executed, all(first == begin));
        failed = failed | others_failed;
        states_set(row, state);
        lps[run.rows + row] = vec4<u32>(number, digest);
    } else if pending_was_stalled() {
        stands = STALLED;
    }
    return pending_close(row, first, executed, stands);
}

// Whether an LP whose first event is at a time executes it; a failure, where that has no end, or a promise was broken.
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

// STALLED where an LP used up its budget of events, and its time did not advance; it counts the windows in a row in which that is so.
fn stall_count(row: u32, executed: u32, still: bool) -> u32 {
    if (executed != run.budget) | !still { return 0u; }
    let place = COUNTS + row;
    let windows = select(0u, atomicLoad(&words[place]), pending_was_stalled()) + 1u;
    atomicStore(&words[place], windows);
    if windows * run.budget > PATIENCE { fail(row, STUCK); }
    return STALLED;
}
