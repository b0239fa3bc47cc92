// Execute: an LP takes in its mails and runs its events before a time in order, up to a budget of them. One invocation serves one LP.
//
// import: pdes/model.wgsl
// import: pdes/fingerprint.wgsl
//
// needs: a queue, Reduced (pdes/yawns.wgsl), deliver_open, deliver_own, deliver_close (pdes/deliver_*.wgsl)

// Empties the mailbox of a row, executes its events before `until`, and tells (earliest pending time, events executed, whether
// there was anything to do).
fn execute(row: u32, until: vec2<u32>) -> Reduced {
    let kept = lps[row];
    let count = mail_count(run.part.parity, row);
    let mails = min(atomicLoad(&words[count]), run.mail_capacity);
    if mails == 0u && !time_less(kept.xy, until) {
        return vec4<u32>(kept.xy, 0u, 0u);
    }
    var stands = kept.z & STANDS;
    queue_open(row - run.part.queue_first, vec2<u32>(kept.z & ~STANDS, kept.w));
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
        let begin = first;
        lp_row = row;
        deliver_open();
        // Bound: run.budget.
        while queue_size() > 0u {
            let event = queue_first();
            first = event_time(event);
            if executed == run.budget || !time_less(first, until) { break; }
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
        if executed == run.budget && all(first == begin) {
            stand(row, stands != 0u);
            stands = STANDS;
        } else {
            stands = 0u;
        }
        sent = deliver_close();
        states[row] = state;
        lps[run.rows + row] = vec4<u32>(number, digest);
    }
    let after = queue_close();
    lps[row] = vec4<u32>(first, after.x | stands, after.y);
    return vec4<u32>(time_min(first, sent), executed, 1u);
}

// Counts the windows in a row in which an LP used up its budget at one time; `again` where the last one was one of them.
fn stand(row: u32, again: bool) {
    let place = COUNTS + row;
    let windows = select(0u, atomicLoad(&words[place]), again) + 1u;
    atomicStore(&words[place], windows);
    if windows * run.budget > PATIENCE { fail(row, STUCK); }
}
