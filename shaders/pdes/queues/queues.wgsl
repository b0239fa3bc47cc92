// Pending events in a queue for each LP, with a mailbox for events in transit.
//
//   queue_events   run.queue_stride slots for each row from run.part.queue_first on
//   inbox          run.mail_capacity events for each row from run.part.inbox_first on: sent in the
//                  last window
//   lps[row]       time of the first pending event (2), queue meta words (2), with the flags
//                  STALLED and SPECULATED in the first
//
// The mailboxes that this window fills are in the store (pdes/window/deliver_mail.wgsl). Windows
// use this file; others use queues_held.wgsl and queues_start.wgsl.
//
// import: pdes/engine.wgsl
// import: pdes/queues/mails.wgsl
// provides: Seen, pending_any, pending_close, pending_first, pending_idle, pending_look
// provides: pending_open, pending_opening, pending_pop, pending_see, pending_waits
// provides: pending_was_stalled
// needs: Horizon, IDLE, Item, QUEUE_GLANCES, Reduced, Waits, bound_of_word, bound_word
// needs: clock_stalled, clock_store, deliver_close, merge, message_count, queue_close, queue_first
// needs: queue_glance, queue_pop, queue_size, run

// Read before a window knows how far it goes, together with its other first reads: one wait instead
// of two.
struct Seen {
    kept: vec4<u32>,
    mails: u32,
}

// The first event of the row's queue, if it was read before the queue was opened and nothing was
// pushed since.
var<private> pending_glance: Item;
var<private> pending_glanced: bool;

var<private> pending_idles: Reduced;
var<private> pending_stalled: bool;
var<private> pending_mails: u32;

fn pending_see(row: u32) -> Seen {
    return Seen(lps[row], message_count(row));
}

// For a row that is the only one of its invocation.
fn pending_look(row: u32) {
    if !QUEUE_GLANCES { return; }
    pending_glance = queue_glance(row - run.part.queue_first);
    pending_glanced = true;
}

fn pending_waits(rows: vec4<u32>, horizon: Horizon) -> Waits {
    // Reads of four rows are issued together.
    let there = rows_to_read(rows);
    let a = lps[there.x].xy;
    let b = lps[there.y].xy;
    let c = lps[there.z].xy;
    let d = lps[there.w].xy;
    let mails = vec4<u32>(
        message_count(there.x), message_count(there.y), message_count(there.z), message_count(there.w)
    );
    let asked = vec4<u32>(
        bound_word(there.x), bound_word(there.y), bound_word(there.z), bound_word(there.w)
    );
    var found = Waits(0u, IDLE);
    found = pending_wait(found, rows.x, a, mails.x, 0u, bound_of_word(asked.x, horizon));
    found = pending_wait(found, rows.y, b, mails.y, 1u, bound_of_word(asked.y, horizon));
    found = pending_wait(found, rows.z, c, mails.z, 2u, bound_of_word(asked.z, horizon));
    return pending_wait(found, rows.w, d, mails.w, 3u, bound_of_word(asked.w, horizon));
}

// Adds a row whose first event, messages and horizon are known; `bit` is its bit.
fn pending_wait(
    found: Waits,
    row: u32,
    first: vec2<u32>,
    mails: u32,
    bit: u32,
    horizon: Horizon,
) -> Waits {
    if row >= run.rows { return found; }
    if (mails > 0u) | time_less(first, horizon.until) {
        return Waits(found.rows | (1u << bit), found.idle);
    }
    return Waits(found.rows, merge(found.idle, vec4<u32>(first, 0u, 0u)));
}

// Opens the queue of a row and pushes its messages.
fn pending_open(row: u32, horizon: Horizon, seen: Seen) -> bool {
    if !pending_begin(row, horizon, seen) { return false; }
    mails_push(row, pending_mails);
    return true;
}

// Opens the queue of a row; the caller pushes pending_mails messages.
fn pending_begin(row: u32, horizon: Horizon, seen: Seen) -> bool {
    let kept = seen.kept;
    let mails = min(seen.mails, run.mail_capacity);
    if (mails == 0u) & !time_less(kept.xy, horizon.until) {
        pending_idles = vec4<u32>(kept.xy, 0u, 0u);
        return false;
    }
    pending_stalled = (kept.z & STALLED) != 0u;
    if !mails_open(row, kept.zw, mails) {
        pending_idles = vec4<u32>(TIME_NEVER, 0u, 1u);
        return false;
    }
    pending_mails = mails;
    pending_glanced = pending_glanced & (mails == 0u);
    return true;
}

fn pending_idle() -> Reduced {
    return pending_idles;
}

fn pending_was_stalled() -> bool {
    return pending_stalled;
}

fn pending_any() -> bool {
    return queue_size() > 0u;
}

fn pending_opening() -> Item {
    if pending_glanced { return pending_glance; }
    return queue_first();
}

fn pending_first() -> Item {
    return queue_first();
}

fn pending_pop() {
    queue_pop();
}

fn pending_close(row: u32, first: vec2<u32>, executed: u32, stalls: u32) -> Reduced {
    var sent = TIME_NEVER;
    var mark = 1u;
    var stalled = stalls;
    if executed > 0u {
        sent = deliver_close();
        mark = clock_store(row, first);
        stalled = clock_stalled(row, first, stalls);
    }
    let after = queue_close();
    lps[row] = vec4<u32>(first, after.x | stalled, after.y);
    return vec4<u32>(time_min(first, sent), executed, mark);
}
