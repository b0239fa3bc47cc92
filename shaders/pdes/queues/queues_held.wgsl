// Iterates over an LP's pending events between calls: its queue, then its mailbox.
// pdes/calendar/calendar_held.wgsl has the same functions.
//
// Functions: held_open, held_more, held_next.
//
// import: pdes/engine.wgsl
// provides: held_more, held_next, held_open
// needs: Item, mail_at, mails_half, queue_open, queue_peek, queue_size, run

var<private> held_index: u32;
var<private> held_mails: u32;
var<private> held_row: u32;

fn held_open(row: u32) {
    queue_open(row - run.part.queue_first, queue_meta(row));
    held_index = 0u;
    held_mails = min(atomicLoad(&words[mail_count(mails_half(), row)]), run.mail_capacity);
    held_row = row;
}

fn held_more() -> bool {
    return held_index < queue_size() + held_mails;
}

fn held_next() -> Item {
    let index = held_index;
    held_index += 1u;
    if index < queue_size() { return queue_peek(index); }
    return mail_at(held_row, index - queue_size());
}
