// Takes what lies in a mailbox into the queue of its LP.
//
// Functions: mails_open, mails_push.
//
// import: pdes/engine.wgsl
// needs: event_time, mail_at, queue_open, queue_push, queue_size, run

// Opens the queue of a row, which keeps these words, for so many mails to be pushed; false, and a failure, where there is no room for them.
fn mails_open(row: u32, kept: vec2<u32>, mails: u32) -> bool {
    queue_open(row - run.part.queue_first, queue_words(kept));
    if mails == 0u { return true; }
    // Before any is handled: which of them came first must not show.
    if mails > run.queue_capacity - queue_size() {
        fail_room(row, QUEUE_FULL, QUEUE_NEEDED, queue_size() + mails);
        return false;
    }
    atomicStore(&words[mail_count(run.part.parity, row)], 0u);
    return true;
}

// Puts them into the open queue; returns the time of the earliest.
fn mails_push(row: u32, mails: u32) -> vec2<u32> {
    var earliest = TIME_NEVER;
    // By threes: what is asked for together comes together. (Windows of a torus of 262,144 stations take 1.3 % less time so: H200.)
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
