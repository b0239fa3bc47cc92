// What a window does with the calendar (pdes/calendar.wgsl): an LP gives out its list where that is due, sorts its bucket of the window's cell,
// and executes it from the front. What of the list lies in this cell is sorted, too, where it is, and the two are executed as one. What the LP
// schedules for itself in the same cell is put in its place among them.
//
// Functions: pending_* (pdes/execute.wgsl says which), schedule (the model's), deliver_open, deliver_own.
//
// import: pdes/model.wgsl
// import: pdes/calendar.wgsl
// import: pdes/calendar_pick.wgsl
//
// needs: Reduced and Horizon (pdes/calendar_sync.wgsl)

// Sorted events of an LP that are left, from `next` on to before `end`, in room for so many at a place of the store.
struct Batch {
    place: u32,
    room: u32,
    next: u32,
    end: u32,
}

var<private> opened_binding: u32;
var<private> opened_bucket: u32;
var<private> opened: Batch;       // the bucket, if it is sorted; of a short one (pdes/calendar_pick.wgsl) only its place
var<private> picked: u32;
var<private> listed: Batch;       // of the list
var<private> first_is_listed: bool;
var<private> opened_cell_end: vec2<u32>;
var<private> opened_stood: bool;

fn batch_get(batch: Batch, index: u32) -> Item {
    return store_get(opened_binding, batch.place + index);
}

fn batch_set(batch: Batch, index: u32, event: Item) {
    store_put(opened_binding, batch.place + index, event);
}

fn pending_open(row: u32, horizon: Horizon) -> bool {
    calendar_base = horizon.base;
    calendar_turn = horizon.turn;
    calendar_list = horizon.list;
    calendar_marks = 0u;
    calendar_far = TIME_NEVER;
    opened_cell_end = time_add(horizon.now, run.lookahead);
    let at = store_split(row);
    opened_binding = at.x;
    // A list that is not open is empty, and then it has room for what finds the bucket full.
    listed = Batch(list_place(1u - horizon.list, at.y), run.queue_capacity, 0u, 0u);
    if horizon.drain { listed.end = give_out(row, 1u - horizon.list); }
    let counted = atomicLoad(&words[bucket_count(horizon.bucket, row)]);
    if counted == 0u && listed.end == 0u { return false; }
    opened_bucket = horizon.bucket;
    opened_stood = (counted & STOOD) != 0u;
    let place = bucket_place(horizon.bucket, at.y);
    let events = min(counted & EVENTS_MASK, run.mail_capacity);
    pick_left = 0u;
    if (counted & SORTED) != 0u {
        opened = Batch(place, run.mail_capacity, lps[row].x, events);
    } else if events > PICK_MOST {
        opened = Batch(place, run.mail_capacity, 0u, events);
        batch_sort(opened);
    } else {
        opened = Batch(place, 0u, 0u, 0u);
        if events > 0u { pick_open(at.x, place, events, horizon.now); }
    }
    batch_sort(listed);
    return true;
}

// Gives out a list; what of it lies in this cell comes to its beginning. Returns how many these are.
fn give_out(row: u32, list: u32) -> u32 {
    let count = list_count(list, row);
    let events = min(atomicLoad(&words[count]), run.queue_capacity);
    if events == 0u { return 0u; }
    atomicStore(&words[count], 0u);
    var here = 0u;
    for (var i = 0u; i < events; i += 1u) {
        let event = batch_get(listed, i);
        if time_less(event_time(event), opened_cell_end) {
            batch_set(listed, here, event);
            here += 1u;
        } else {
            calendar_put(row, event);
        }
    }
    return here;
}

// From so many events on, a batch is sorted by a heap.
const MANY = 64u;

fn batch_sort(batch: Batch) {
    if batch.end <= MANY {
        for (var i = 1u; i < batch.end; i += 1u) {
            let event = batch_get(batch, i);
            var hole = i;
            // Bound: i.
            while hole > 0u {
                let before = batch_get(batch, hole - 1u);
                if !event_before(event, before) { break; }
                batch_set(batch, hole, before);
                hole -= 1u;
            }
            if hole != i { batch_set(batch, hole, event); }
        }
        return;
    }
    for (var i = batch.end / 2u; i > 0u; i -= 1u) {
        sift(batch, i - 1u, batch_get(batch, i - 1u), batch.end);
    }
    for (var i = batch.end - 1u; i > 0u; i -= 1u) {
        let event = batch_get(batch, i);
        batch_set(batch, i, batch_get(batch, 0u));
        sift(batch, 0u, event, i);
    }
}

// Puts an event in its place at `begin` or below, in a heap of so many events of which the root is the last in order.
fn sift(batch: Batch, begin: u32, event: Item, events: u32) {
    var hole = begin;
    // Bound: the number of levels, at most 32.
    while 2u * hole + 1u < events {
        var child = 2u * hole + 1u;
        var below = batch_get(batch, child);
        if child + 1u < events {
            let right = batch_get(batch, child + 1u);
            if event_before(below, right) {
                below = right;
                child += 1u;
            }
        }
        if !event_before(event, below) { break; }
        batch_set(batch, hole, below);
        hole = child;
    }
    batch_set(batch, hole, event);
}

// Puts an event in its place among those that are left; there must be room. Returns the batch with it.
fn batch_insert(batch: Batch, event: Item) -> Batch {
    var added = batch;
    if batch.next > 0u {
        // The executed ones leave room in front.
        added.next -= 1u;
        var hole = added.next;
        // Bound: the events that are left.
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
    // Bound: the events that are left.
    while hole > 0u {
        let before = batch_get(batch, hole - 1u);
        if !event_before(event, before) { break; }
        batch_set(batch, hole, before);
        hole -= 1u;
    }
    batch_set(batch, hole, event);
    return added;
}

fn batch_has_room(batch: Batch) -> bool {
    return batch.next > 0u || batch.end < batch.room;
}

// What a row leaves that has nothing in this cell.
fn pending_idle() -> Reduced {
    return vec4<u32>(calendar_far, 0u, calendar_marks);
}

fn pending_stood() -> bool {
    return opened_stood;
}

fn pending_any() -> bool {
    return pick_left != 0u || opened.next < opened.end || listed.next < listed.end;
}

fn pending_first() -> Item {
    var event: Item;
    var some = true;
    if pick_left != 0u {
        picked = pick_first();
        event = batch_get(opened, picked);
    } else if opened.next < opened.end {
        event = batch_get(opened, opened.next);
    } else {
        some = false;
    }
    first_is_listed = listed.next < listed.end;
    if !first_is_listed { return event; }
    let other = batch_get(listed, listed.next);
    first_is_listed = !some || event_before(other, event);
    if first_is_listed { return other; }
    return event;
}

// Removes what pending_first has told of.
fn pending_pop() {
    if first_is_listed {
        listed.next += 1u;
    } else if pick_left != 0u {
        pick_remove(picked);
    } else {
        opened.next += 1u;
    }
}

fn pending_close(row: u32, first: vec2<u32>, executed: u32, stands: u32) -> Reduced {
    var counted = 0u;
    if pending_any() {
        let stood = select(0u, STOOD, stands != 0u);
        if opened.next < opened.end {
            counted = opened.end | SORTED | stood;
            lps[row].x = opened.next;
        } else {
            // What was not picked moves to the beginning.
            var left = 0u;
            // Bound: PICK_MOST.
            while pick_left != 0u {
                batch_set(opened, left, batch_get(opened, countTrailingZeros(pick_left)));
                pick_left &= pick_left - 1u;
                left += 1u;
            }
            counted = left | stood;
        }
        calendar_marks |= 1u << opened_bucket;
    }
    atomicStore(&words[bucket_count(opened_bucket, row)], counted);
    for (var i = listed.next; i < listed.end; i += 1u) {
        calendar_list_put(row, batch_get(listed, i));
    }
    return vec4<u32>(calendar_far, executed, calendar_marks);
}

fn deliver_open() {}

fn deliver_own() {}

fn schedule(lp: u32, time: vec2<u32>, payload: Payload) {
    let row = deliver_to(lp_row, lp, time);
    if row == NO_ROW { return; }
    let event = event_item(time, payload);
    if row == lp_row {
        if time_less(time, lp_now) {
            fail(lp_row, PAST);
            return;
        }
        if time_less(time, opened_cell_end) {
            keep(event);
            return;
        }
    } else if time_less(time, time_add(lp_now, run.lookahead)) {
        fail(lp_row, LOOKAHEAD);
        return;
    }
    calendar_put(row, event);
}

// Puts an event for the LP itself among what is left of this cell.
fn keep(event: Item) {
    if batch_has_room(opened) {
        opened = batch_insert(opened, event);
    } else if batch_has_room(listed) {
        listed = batch_insert(listed, event);
    } else {
        fail_room(lp_row, QUEUE_FULL, QUEUE_NEEDED, listed.end + 1u);
    }
}
