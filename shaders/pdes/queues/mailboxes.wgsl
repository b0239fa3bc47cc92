// Positions of messages: a window reads its messages in `inbox` and sends into the store.
// pdes/replicas/mailboxes_of_replica.wgsl has the same functions.
//
// Mailboxes of MAIL_LANES neighbouring rows are interleaved: the first message of each, then the
// second of each, and so on. Most hold few, and adjacent messages are fetched together. If fewer
// than MAIL_LANES rows are left at the end, each of these has a contiguous mailbox.
//
// Functions: mails_half, mail_at, mail_slot.
//
// import: pdes/engine.wgsl
// provides: mail_at, mail_slot, mails_half
// needs: Item, run

@group(0) @binding(5) var<storage, read> inbox: array<Item>;

// The half whose counts are valid between calls.
fn mails_half() -> u32 {
    return 0u;
}

// Divides the first row of each binding of the store (src/pdes/device/cut.rs).
const MAIL_LANES = 8u;

// The message of a row with this index.
fn mail_at(row: u32, index: u32) -> Item {
    return inbox[mail_slot(row, row - run.part.inbox_first, index)];
}

// The slot, in a binding of the store, of the message with this index of a row that is the
// binding's row `own`.
fn mail_slot(row: u32, own: u32, index: u32) -> u32 {
    let lane = row % MAIL_LANES;
    let alone = row - lane + MAIL_LANES > run.rows;
    return own * run.mail_capacity + select(index * MAIL_LANES + lane - lane * run.mail_capacity, index, alone);
}
