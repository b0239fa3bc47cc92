// Where mails lie: those that a window finds in `inbox`, and those that it sends in the store. pdes/mailboxes_of_replica.wgsl has the same functions.
//
// Functions: mails_half, mails_begin, mail_at.
//
// import: pdes/engine.wgsl

@group(0) @binding(5) var<storage, read> inbox: array<Item>;

// The half that counts between calls.
fn mails_half() -> u32 {
    return 0u;
}

// Where the mails of a row begin.
fn mails_begin(row: u32) -> u32 {
    return (row - run.part.inbox_first) * run.mail_capacity;
}

// The one in a place counted from there on.
fn mail_at(place: u32) -> Item {
    return inbox[place];
}
