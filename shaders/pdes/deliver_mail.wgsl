// Deliver: what `schedule` does in a window. An event for an LP goes to its mailbox, which the next window empties.
//
// Functions: schedule (the model's); deliver_open, deliver_from, deliver_close (the engine's).
//
// import: pdes/engine.wgsl
//
// needs: mail_put (pdes/mail_one.wgsl or pdes/mail_many.wgsl)

var<private> deliver_row: u32;            // the LP that schedules
var<private> deliver_least: vec2<u32>;    // the earliest time that its present event may schedule for
var<private> deliver_earliest: vec2<u32>; // the earliest time that was scheduled in this window

// The event whose place in a mailbox was asked for last. It is put there when the next one asks, or at the end:
// the answer takes long, and the work in between hides that.
var<private> posted: bool;
var<private> posted_row: u32;
var<private> posted_index: u32;
var<private> posted_event: vec4<u32>;

// Before the first event of an LP.
fn deliver_open(row: u32) {
    deliver_row = row;
    deliver_earliest = TIME_NEVER;
}

// Before each event: it happens at `time`.
fn deliver_from(time: vec2<u32>) {
    deliver_least = time_add(time, run.lookahead);
}

// After the last event. Returns the earliest time that was scheduled.
fn deliver_close() -> vec2<u32> {
    post();
    return deliver_earliest;
}

fn post() {
    if !posted { return; }
    posted = false;
    if posted_index >= run.mail_capacity {
        fail_room(posted_row, MAILBOX_FULL, MAIL_NEEDED, posted_index + 1u);
        return;
    }
    mail_put(posted_row, posted_index, posted_event);
}

fn schedule(lp: u32, time: vec2<u32>, payload: vec2<u32>) {
    let row = deliver_to(deliver_row, lp, time);
    if row == NO_ROW { return; }
    if time_less(time, deliver_least) {
        fail(deliver_row, LOOKAHEAD);
        return;
    }
    post();
    posted = true;
    posted_row = row;
    posted_index = atomicAdd(&words[mail_count(1u - run.part.parity, row)], 1u);
    posted_event = vec4<u32>(time, payload);
    deliver_earliest = time_min(deliver_earliest, time);
}
