// Execute: an LP takes in its mails and runs its events before a time in order, BUDGET of them at the most. One invocation serves
// one LP.
//
// import: pdes/model.wgsl
// import: pdes/fingerprint.wgsl
//
// needs: a queue, Reduced (pdes/yawns.wgsl), deliver_open, deliver_own, deliver_close (pdes/deliver_*.wgsl)

// Empties the mailbox of a row, executes its events before `until`, and tells (earliest pending time, events executed, whether
// there was anything to do). The window begins at `begin`: no event is pending before.
fn execute(row: u32, begin: vec2<u32>, until: vec2<u32>) -> Reduced {
    let kept = lps[row];
    let count = mail_count(run.part.parity, row);
    let mails = min(atomicLoad(&words[count]), run.mail_capacity);
    if mails == 0u && !time_less(kept.xy, until) {
        return vec4<u32>(kept.xy, 0u, 0u);
    }
    queue_open(row - run.part.queue_first, kept.zw);
    if mails > 0u {
        // Before any is handled: which of them came first must not show.
        if mails > run.queue_capacity - queue_size() {
            fail_room(row, QUEUE_FULL, QUEUE_NEEDED, queue_size() + mails);
            return vec4<u32>(TIME_NEVER, 0u, 1u);
        }
        atomicStore(&words[count], 0u);
        let first = (row - run.part.inbox_first) * run.mail_capacity;
        for (var i = 0u; i < mails; i += 1u) {
            queue_push(inbox[first + i]);
        }
    }
    var first = TIME_NEVER;
    if queue_size() > 0u { first = event_time(queue_first()); }
    var executed = 0u;
    var sent = TIME_NEVER;
    if time_less(first, until) {
        let name = name_of(row);
        let counts = lps[run.rows + row];
        var number = counts.xy;
        var digest = counts.zw;
        var state = states[row];
        let begun = digest_begin(DIGEST_EXECUTED, name);
        lp_row = row;
        deliver_open();
        while queue_size() > 0u {
            let event = queue_first();
            first = event_time(event);
            if executed == BUDGET || !time_less(first, until) { break; }
            queue_pop();
            executed += 1u;
            number = wide_add(number, vec2<u32>(1u, 0u));
            digest = wide_add(digest, digest_event(begun, event));
            lp_now = first;
            first = TIME_NEVER;
            stream_open(run.seed, name, number);
            handle(name, item_event(event), &state);
            deliver_own();
        }
        // No event before `begin` is pending: all that it executed was at one time.
        if executed == BUDGET && all(first == begin) { stand(row, begin); }
        sent = deliver_close();
        states[row] = state;
        lps[run.rows + row] = vec4<u32>(number, digest);
    }
    lps[row] = vec4<u32>(first, queue_close());
    return vec4<u32>(time_min(first, sent), executed, 1u);
}

// Notes that the LP of a row stood at the begin of this window. All that do so in one window write the same.
fn stand(row: u32, begin: vec2<u32>) {
    let before = run.part.parity * HALF_WORDS;
    let after = (1u - run.part.parity) * HALF_WORDS;
    let last = vec2<u32>(atomicLoad(&words[before + STOOD]), atomicLoad(&words[before + STOOD + 1u]));
    let windows = select(0u, atomicLoad(&words[before + STANDING]), all(last == begin));
    if windows >= PATIENCE { fail(row, STUCK); }
    atomicStore(&words[after + STOOD], begin.x);
    atomicStore(&words[after + STOOD + 1u], begin.y);
    atomicStore(&words[after + STANDING], windows + 1u);
}
