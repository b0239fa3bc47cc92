// Positions of messages in a run without dispatches between its windows: both halves are in the
// store. pdes/queues/mailboxes.wgsl and pdes/memory/store_one.wgsl have the same functions for
// other runs.
//
//   store    2 x R x run.mail_capacity events: the mailboxes of either parity
//
// Functions: mails_half, mail_at, mail_slot; store_split, store_put.
//
// import: pdes/engine.wgsl
// provides: mail_at, mail_slot, mails_half, store_put, store_split
// needs: Item, run

@group(0) @binding(8) var<storage, read_write> store: array<Item>;

// The half that the next window reads.
fn mails_half() -> u32 {
    return run.part.parity;
}

// The message of a row with this index.
fn mail_at(row: u32, index: u32) -> Item {
    return store[mail_slot(row, run.part.parity * run.rows + row, index)];
}

// The slot in the store of the message with this index of a row that is row `own` of both halves.
fn mail_slot(row: u32, own: u32, index: u32) -> u32 {
    return own * run.mail_capacity + index;
}

// The mailbox of a row that this window fills.
fn store_split(row: u32) -> vec2<u32> {
    return vec2<u32>(0u, (1u - run.part.parity) * run.rows + row);
}

fn store_put(binding: u32, place: u32, event: Item) {
    store[place] = event;
}
