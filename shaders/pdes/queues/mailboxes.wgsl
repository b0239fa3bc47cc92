// Where mails lie: those that a window finds in `inbox`, and those that it sends in the store. pdes/replicas/mailboxes_of_replica.wgsl has the same functions.
//
// Mailboxes of MAIL_LANES neighbouring rows lie in one another: the first mail of each, then the second of each, and so on, because most hold few, and what
// lies together is fetched together. (PHOLD with 1,048,576 LPs at rate 0.1 is 1.03 times as fast with it, with 1,024 LPs 0.98 times, otherwise
// 0.99 to 1.02: H200.) Where the last rows are not so many, each has its own to itself.
//
// Functions: mails_half, mail_at, mail_slot.
//
// import: pdes/engine.wgsl
// provides: mail_at, mail_slot, mails_half
// needs: Item, run

@group(0) @binding(5) var<storage, read> inbox: array<Item>;

// The half that counts between calls.
fn mails_half() -> u32 {
    return 0u;
}

// A divisor of the first row of each binding of the store (src/pdes/device/cut.rs).
const MAIL_LANES = 8u;

// Of the mails of a row, the one with this index.
fn mail_at(row: u32, index: u32) -> Item {
    return inbox[mail_slot(row, row - run.part.inbox_first, index)];
}

// Where in a binding of the store the mail with this index lies, of a row that is the binding's row `own`.
fn mail_slot(row: u32, own: u32, index: u32) -> u32 {
    let lane = row % MAIL_LANES;
    let alone = row - lane + MAIL_LANES > run.rows;
    return own * run.mail_capacity + select(index * MAIL_LANES + lane - lane * run.mail_capacity, index, alone);
}
