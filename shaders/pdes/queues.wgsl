// Pending events in a queue of each LP, and a mailbox of each for those on their way.
//
//   queue_events   run.queue_stride slots for each row from run.part.queue_first on
//   inbox          run.mail_capacity events for each row from run.part.inbox_first on: what the last window sent
//   lps[row]       time of the first pending event (2), meta words of the queue (2), of which the first may have STANDS or DRY set
//
// The mailboxes that this window fills are in the store (pdes/deliver_mail.wgsl). What windows do with a queue is here; what others do,
// in pdes/queues_held.wgsl and pdes/queues_start.wgsl.
//
// import: pdes/engine.wgsl
// import: pdes/mails.wgsl
//
// needs: a queue, Reduced, Horizon, mails_waiting and clock_keep (the file that synchronises), deliver_close (pdes/deliver_mail.wgsl)

var<private> pending_idles: Reduced;
var<private> pending_stands: bool;
var<private> pending_mails: u32;

// Whether a row has anything to do; if not, pending_idle() is what it leaves.
fn pending_waits(row: u32, horizon: Horizon) -> bool {
    let first = lps[row].xy;
    pending_idles = vec4<u32>(first, 0u, 0u);
    return mails_waiting(row) > 0u || time_less(first, horizon.until);
}

// Opens the queue of a row, and takes in its mails.
fn pending_open(row: u32, horizon: Horizon) -> bool {
    if !pending_begin(row, horizon) { return false; }
    mails_push(row, pending_mails);
    return true;
}

// Opens the queue of a row, and says how many mails it is to take in: pending_mails.
fn pending_begin(row: u32, horizon: Horizon) -> bool {
    let kept = lps[row];
    let mails = min(mails_waiting(row), run.mail_capacity);
    if mails == 0u && !time_less(kept.xy, horizon.until) {
        pending_idles = vec4<u32>(kept.xy, 0u, 0u);
        return false;
    }
    pending_stands = (kept.z & STANDS) != 0u;
    if !mails_open(row, kept.zw, mails) {
        pending_idles = vec4<u32>(TIME_NEVER, 0u, 1u);
        return false;
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
    if executed > 0u {
        sent = deliver_close();
        clock_keep(row, lp_now);
    }
    let after = queue_close();
    lps[row] = vec4<u32>(first, after.x | stands, after.y);
    return vec4<u32>(time_min(first, sent), executed, 1u);
}
