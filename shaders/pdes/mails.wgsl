// Takes what lies in a mailbox into the queue of its LP.
//
// Functions: mails_open, mails_push.
//
// import: pdes/engine.wgsl
//
// needs: a queue, mail_at (pdes/mailboxes.wgsl or pdes/mailboxes_of_replica.wgsl)

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
    for (var i = 0u; i < mails; i += 1u) {
        let mail = mail_at(row, i);
        earliest = time_min(earliest, event_time(mail));
        queue_push(mail);
    }
    return earliest;
}
