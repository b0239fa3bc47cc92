// What pdes/calendar_step.wgsl does, with one place for each access to memory, whichever branch is taken: llvmpipe goes through branches that are not taken, and for each
// access to a storage buffer through its lanes one by one. (What that is worth: pdes/calendar_send_once.wgsl.)
//
// Functions: pending_first, schedule (the model's).
//
// import: pdes/calendar_window.wgsl
// import: pdes/calendar_send_once.wgsl
// provides: pending_first, schedule
// needs: Item, Payload, event_before, event_item, run, store_get

// The least of those that may be the first: of a short bucket those with the least key, which are rarely more than one; else the next one of the bucket; and
// the next one of the list.
fn pending_first() -> Item {
    var left = 0u;
    if pick_left != 0u { left = pick_least(); }
    var bucket = (left != 0u) | (opened_batch.next < opened_batch.end);
    var list = opened_listed.next < opened_listed.end;
    var event: Item;
    var some = false;
    // Bound: PICK_MOST + 1.
    loop {
        var place = opened_batch.place;
        var index = select(opened_batch.next, countTrailingZeros(left), left != 0u);
        if !bucket {
            place = opened_listed.place;
            index = opened_listed.next;
        }
        let other = store_get(opened_binding, place_in(place, index));
        if !some | event_before(other, event) {
            event = other;
            opened_from_list = !bucket;
            opened_picked = index;
        }
        some = true;
        list = list & bucket;
        left &= left - u32(left != 0u);
        bucket = left != 0u;
        if !bucket & !list { break; }
    }
    return event;
}

fn schedule(lp: u32, time: vec2<u32>, payload: Payload) {
    let row = deliver_to(lp_row, lp, time);
    if row == NO_ROW { return; }
    let event = event_item(time, payload);
    let own = row == lp_row;
    var earliest = lp_now;
    if !own { earliest = time_add(lp_now, run.lookahead); }
    if time_less(time, earliest) {
        fail(lp_row, select(LOOKAHEAD, PAST, own));
    } else if own & time_less(time, opened_cell_end) {
        keep(event);
    } else {
        calendar_send(row, event);
    }
}

// Puts an event for the LP itself among what is left of this cell.
fn keep(event: Item) {
    let listed = !batch_has_room(opened_batch);
    var batch = opened_batch;
    if listed { batch = opened_listed; }
    if !batch_has_room(batch) {
        fail_room(lp_row, QUEUE_FULL, QUEUE_NEEDED, batch.end + 1u);
        return;
    }
    batch = batch_insert(batch, event);
    if listed { opened_listed = batch; } else { opened_batch = batch; }
}

// Puts an event in its place among those that are left; there must be room. Returns the batch with it.
fn batch_insert(batch: CalendarBatch, event: Item) -> CalendarBatch {
    var added = batch;
    // The executed ones leave room in front.
    let front = batch.next > 0u;
    if front { added.next -= 1u; } else { added.end += 1u; }
    var hole = select(batch.end, added.next, front);
    // Bound: the events that are left.
    for (var left = batch.end - batch.next; left > 0u; left -= 1u) {
        let neighbour = select(hole - 1u, hole + 1u, front);
        let other = batch_get(batch, neighbour);
        var first = event;
        var second = other;
        if front {
            first = other;
            second = event;
        }
        if !event_before(first, second) { break; }
        batch_set(batch, hole, other);
        hole = neighbour;
    }
    batch_set(batch, hole, event);
    return added;
}
