// The work for each event of a calendar's window (pdes/calendar/calendar_window.wgsl): find the
// first event; send what the model schedules, or insert it into this epoch.
//
// Functions: pending_first, schedule (the model's).
//
// import: pdes/calendar/calendar_window.wgsl
// import: pdes/calendar/calendar_send.wgsl
// provides: pending_first, schedule
// needs: Item, Payload, event_before, event_item, run, sent_away

// The number of the first event of a short bucket in order. At least one must remain.
fn pick_first() -> u32 {
    var found = pick_least();
    var index = countTrailingZeros(found);
    found &= found - 1u;
    // Bound: the remaining events. Equal keys are rare.
    while found != 0u {
        let other = countTrailingZeros(found);
        found &= found - 1u;
        if event_before(batch_get(opened_batch, other), batch_get(opened_batch, index)) { index = other; }
    }
    return index;
}

// The first event of the picked or sorted bucket and of the list.
fn pending_first() -> Item {
    var event: Item;
    var some = true;
    if pick_left != 0u {
        opened_picked = pick_first();
        event = batch_get(opened_batch, opened_picked);
    } else if opened_batch.next < opened_batch.end {
        event = batch_get(opened_batch, opened_batch.next);
    } else {
        some = false;
    }
    opened_from_list = opened_listed.next < opened_listed.end;
    if !opened_from_list { return event; }
    let other = batch_get(opened_listed, opened_listed.next);
    opened_from_list = !some | event_before(other, event);
    if opened_from_list { return other; }
    return event;
}

fn schedule(lp: u32, time: vec2<u32>, payload: Payload) {
    let row = deliver_to(lp_row, lp, time);
    if row == NO_ROW { return; }
    let event = event_item(time, payload);
    if row == lp_row {
        if time_less(time, lp_now) {
            fail(lp_row, PAST);
            return;
        }
        if time_less(time, opened_epoch_end) {
            keep(event);
            return;
        }
    } else if time_less(time, time_add(lp_now, run.lookahead)) {
        fail(lp_row, LOOKAHEAD);
        return;
    } else if sent_away(row, lp, time, payload) {
        return;
    }
    calendar_send(row, event);
}

// Inserts an event for the LP itself among the remaining events of this epoch.
fn keep(event: Item) {
    if batch_has_room(opened_batch) {
        opened_batch = batch_insert(opened_batch, event);
    } else if batch_has_room(opened_listed) {
        opened_listed = batch_insert(opened_listed, event);
    } else {
        fail_room(lp_row, QUEUE_FULL, QUEUE_NEEDED, opened_listed.end + 1u);
    }
}

// Inserts an event in order among the remaining ones; there must be room. Returns the batch with
// it.
fn batch_insert(batch: CalendarBatch, event: Item) -> CalendarBatch {
    var added = batch;
    if batch.next > 0u {
        // Executed events leave room in front.
        added.next -= 1u;
        var hole = added.next;
        // Bound: the remaining events.
        while hole + 1u < batch.end {
            let after = batch_get(batch, hole + 1u);
            if !event_before(after, event) { break; }
            batch_set(batch, hole, after);
            hole += 1u;
        }
        batch_set(batch, hole, event);
        return added;
    }
    var hole = batch.end;
    added.end += 1u;
    // Bound: the remaining events.
    while hole > 0u {
        let before = batch_get(batch, hole - 1u);
        if !event_before(event, before) { break; }
        batch_set(batch, hole, before);
        hole -= 1u;
    }
    batch_set(batch, hole, event);
    return added;
}
