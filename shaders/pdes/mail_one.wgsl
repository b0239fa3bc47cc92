// The mailboxes that a window fills, in one binding. pdes/mail_many.wgsl is the same function for more.
//
//   outbox   run.mail_capacity events for each row
//
// Functions: mail_put.
//
// import: pdes/engine.wgsl

@group(0) @binding(8) var<storage, read_write> outbox: array<Item>;

// Puts an event at a place below run.mail_capacity in the mailbox of a row.
fn mail_put(row: u32, index: u32, event: Item) {
    outbox[row * run.mail_capacity + index] = event;
}
