// Moves messages from a mailbox into the queue of its LP.
//
// Functions: mails_open, mails_push.
//
// import: pdes/engine.wgsl
// needs: event_time, mail_at, queue_open, queue_push, queue_size, run

// Opens the queue of a row with these stored words, for `mails` messages. Returns false, with a
// failure, if they do not fit.
fn mails_open(row: u32, kept: vec2<u32>, mails: u32) -> bool {
    queue_open(row - run.part.queue_first, queue_words(kept));
    if mails == 0u { return true; }
    // Check before any is pushed: the result must not depend on which message came first.
    if mails > run.queue_capacity - queue_size() {
        fail_room(row, QUEUE_FULL, QUEUE_NEEDED, queue_size() + mails);
        return false;
    }
    atomicStore(&words[mail_count(run.part.parity, row)], 0u);
    return true;
}

// Pushes them into the open queue; returns the time of the earliest.
fn mails_push(row: u32, mails: u32) -> vec2<u32> {
    var earliest = TIME_NEVER;
    // By threes, so that their reads are issued together.
    for (var i = 0u; i < mails; i += 3u) {
        let last = mails - 1u;
        var mail = mail_at(row, i);
        var second = mail_at(row, min(i + 1u, last));
        let third = mail_at(row, min(i + 2u, last));
        earliest = time_min(time_min(earliest, event_time(mail)), time_min(event_time(second), event_time(third)));
        let these = min(mails - i, 3u);
        for (var k = 0u; k < these; k += 1u) {
            queue_push(mail);
            mail = second;
            second = third;
        }
    }
    return earliest;
}
