// Deliver: `schedule` in a window. An event for another LP goes to the mailbox of that LP, which
// the next window drains. An event for the LP itself goes to its own queue, and executes in this
// window if it is early enough.
//
// Functions: schedule (the model's); deliver_open, deliver_own, deliver_close (the engine's).
//
// import: pdes/model.wgsl
// provides: deliver_close, deliver_open, deliver_own, schedule
// needs: Item, Payload, arrival_before_bound, arrival_bound_read, event_item, event_time, mail_slot
// needs: queue_size, queue_spare, queue_take, run, sent_away, store_put, store_split

// The earliest time scheduled for another LP in this window.
var<private> deliver_earliest: vec2<u32>;
// Number of events that the present event scheduled for the LP itself, at queue_spare.
var<private> deliver_own_count: u32;

// The last sent event. Its mailbox slot is requested at once, but written at the next send or at
// the end, because work in between hides the latency of the atomic.
var<private> posted: bool;
var<private> posted_row: u32;
var<private> posted_index: u32;
var<private> posted_event: Item;

// Call it before the first event of an LP.
fn deliver_open() {
    deliver_earliest = TIME_NEVER;
}

// Call it after each event: the LP's open queue takes the events scheduled for the LP itself.
fn deliver_own() {
    if deliver_own_count == 0u { return; }
    // Only those that fit.
    queue_take(min(deliver_own_count, run.queue_capacity - queue_size()));
    deliver_own_count = 0u;
}

// Call it after the last event. Returns the earliest time that was scheduled for another LP.
fn deliver_close() -> vec2<u32> {
    post();
    return deliver_earliest;
}

fn post() {
    if !posted { return; }
    posted = false;
    // Room is checked even if this fails, because the slot was taken: the result must not depend on
    // which message is one too many.
    if arrival_before_bound(event_time(posted_event)) { fail(lp_row, PROMISE); }
    if posted_index >= run.mail_capacity {
        fail_room(posted_row, MAILBOX_FULL, MAIL_NEEDED, posted_index + 1u);
        return;
    }
    let at = store_split(posted_row);
    store_put(at.x, mail_slot(posted_row, at.y, posted_index), posted_event);
}

fn schedule(lp: u32, time: vec2<u32>, payload: Payload) {
    let row = deliver_to(lp_row, lp, time);
    if row == NO_ROW { return; }
    if row == lp_row {
        keep(time, payload);
        return;
    }
    if time_less(time, time_add(lp_now, run.lookahead)) {
        fail(lp_row, LOOKAHEAD);
        return;
    }
    deliver_earliest = time_min(deliver_earliest, time);
    if sent_away(row, lp, time, payload) { return; }
    post();
    posted = true;
    arrival_bound_read(row);
    posted_row = row;
    posted_index = atomicAdd(&words[mail_count(1u - run.part.parity, row)], 1u);
    posted_event = event_item(time, payload);
}

// Puts an event for the LP itself behind the events in its queue; deliver_own orders it.
fn keep(time: vec2<u32>, payload: Payload) {
    if time_less(time, lp_now) {
        fail(lp_row, PAST);
        return;
    }
    let place = deliver_own_count;
    deliver_own_count += 1u;
    let needed = queue_size() + deliver_own_count;
    if needed > run.queue_capacity {
        fail_room(lp_row, QUEUE_FULL, QUEUE_NEEDED, needed);
        return;
    }
    queue_events[queue_spare(place)] = event_item(time, payload);
}
