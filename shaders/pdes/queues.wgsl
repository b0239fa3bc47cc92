// Pending events in a queue of each LP, and a mailbox of each for those on their way.
//
//   queue_events   run.queue_stride slots for each row from run.part.queue_first on
//   inbox          run.mail_capacity events for each row from run.part.inbox_first on: what the last window sent
//   lps[row]       time of the first pending event (2), meta words of the queue (2), of which the first may have STANDS set
//
// The mailboxes that this window fills are in the store (pdes/deliver_mail.wgsl). What windows do with a queue is here; what others do,
// in pdes/queues_held.wgsl and pdes/queues_start.wgsl.
//
// import: pdes/engine.wgsl
//
// needs: a queue, Reduced and Horizon (pdes/yawns.wgsl), deliver_close (pdes/deliver_mail.wgsl)

var<private> pending_idles: Reduced;
var<private> pending_stands: bool;
var<private> pending_mails: u32;

// Opens the queue of a row, and takes in its mails.
fn pending_open(row: u32, horizon: Horizon) -> bool {
    if !pending_begin(row, horizon) { return false; }
    let first = pending_inbox(row);
    for (var i = 0u; i < pending_mails; i += 1u) {
        queue_push(inbox[first + i]);
    }
    return true;
}

// Where the mails of a row begin in `inbox`.
fn pending_inbox(row: u32) -> u32 {
    return (row - run.part.inbox_first) * run.mail_capacity;
}

// Opens the queue of a row, and says how many mails it is to take in: pending_mails.
fn pending_begin(row: u32, horizon: Horizon) -> bool {
    let kept = lps[row];
    let count = mail_count(run.part.parity, row);
    let mails = min(atomicLoad(&words[count]), run.mail_capacity);
    if mails == 0u && !time_less(kept.xy, horizon.until) {
        pending_idles = vec4<u32>(kept.xy, 0u, 0u);
        return false;
    }
    pending_stands = (kept.z & STANDS) != 0u;
    queue_open(row - run.part.queue_first, vec2<u32>(kept.z & ~STANDS, kept.w));
    if mails > 0u {
        // Before any is handled: which of them came first must not show.
        if mails > run.queue_capacity - queue_size() {
            fail_room(row, QUEUE_FULL, QUEUE_NEEDED, queue_size() + mails);
            pending_idles = vec4<u32>(TIME_NEVER, 0u, 1u);
            return false;
        }
        atomicStore(&words[count], 0u);
    }
    pending_mails = mails;
    return true;
}

fn pending_idle() -> Reduced {
    return pending_idles;
}

fn pending_stood() -> bool {
    return pending_stands;
}

fn pending_any() -> bool {
    return queue_size() > 0u;
}

fn pending_first() -> Item {
    return queue_first();
}

fn pending_pop() {
    queue_pop();
}

fn pending_close(row: u32, first: vec2<u32>, executed: u32, stands: u32) -> Reduced {
    var sent = TIME_NEVER;
    if executed > 0u { sent = deliver_close(); }
    let after = queue_close();
    lps[row] = vec4<u32>(first, after.x | stands, after.y);
    return vec4<u32>(time_min(first, sent), executed, 1u);
}
