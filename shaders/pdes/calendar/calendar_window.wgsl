// A window of the calendar (pdes/calendar/calendar.wgsl): an LP distributes its list if that is
// due, sorts its bucket of the window's epoch, and executes it from the front. Listed events of
// this epoch are sorted in place, and the two are merged. What the LP schedules for itself in this
// epoch is inserted in order.
//
// schedule and its helpers come from calendar_step.wgsl.
//
// Functions: pending_* (see pdes/window/execute.wgsl) except pending_first, deliver_open,
// deliver_own.
//
// import: pdes/model.wgsl
// import: pdes/calendar/calendar.wgsl
// import: pdes/calendar/calendar_pick.wgsl
// provides: Seen, deliver_open, deliver_own, pending_any, pending_close, pending_idle, pending_look
// provides: pending_open, pending_opening, pending_pop, pending_see, pending_waits
// provides: pending_was_stalled
// needs: Horizon, IDLE, Item, Reduced, Waits, calendar_list_put, calendar_send, calendar_sent
// needs: event_before, event_time, pending_first, run, store_get, store_put, store_split

// Sorted remaining events of an LP, from `next` to before `end`, in `room` slots from a place of
// the store on.
struct CalendarBatch {
    place: u32,
    room: u32,
    next: u32,
    end: u32,
}

// The bucket is unknown before the window knows how far it goes.
alias Seen = u32;

var<private> opened_binding: u32;
var<private> opened_bucket: u32;
// The bucket, if it is sorted; of a short one (pdes/calendar/calendar_pick.wgsl) only its place.
var<private> opened_batch: CalendarBatch;
var<private> opened_picked: u32;
// Of the list.
var<private> opened_listed: CalendarBatch;
var<private> opened_from_list: bool;
var<private> opened_epoch_end: vec2<u32>;
var<private> opened_stalled: bool;

fn batch_get(batch: CalendarBatch, index: u32) -> Item {
    return store_get(opened_binding, place_in(batch.place, index));
}

fn batch_set(batch: CalendarBatch, index: u32, event: Item) {
    store_put(opened_binding, place_in(batch.place, index), event);
}

fn pending_see(row: u32) -> Seen {
    return 0u;
}

fn pending_look(row: u32) {}

fn pending_opening() -> Item {
    return pending_first();
}

// A row's work is known only when its list is distributed.
fn pending_waits(rows: vec4<u32>, horizon: Horizon) -> Waits {
    let there = vec4<u32>(rows < vec4<u32>(run.rows)) << vec4<u32>(0u, 1u, 2u, 3u);
    return Waits(there.x | there.y | there.z | there.w, IDLE);
}

fn pending_open(row: u32, horizon: Horizon, seen: Seen) -> bool {
    calendar_base = horizon.base;
    calendar_turn = horizon.turn;
    calendar_list = horizon.list;
    calendar_marks = 0u;
    calendar_far = TIME_NEVER;
    opened_epoch_end = time_add(horizon.now, run.epoch_length);
    let at = store_split(row);
    opened_binding = at.x;
    // A list that is not open is empty, so it has room for events that find the bucket full.
    opened_listed = CalendarBatch(list_place(1u - horizon.list, at.y), run.queue_capacity, 0u, 0u);
    if horizon.drain { opened_listed.end = calendar_give_out(row, 1u - horizon.list); }
    let counted = atomicLoad(&words[bucket_count(horizon.bucket, row)]);
    if (counted == 0u) & (opened_listed.end == 0u) { return false; }
    opened_bucket = horizon.bucket;
    opened_stalled = (counted & BUCKET_STALLED) != 0u;
    let place = bucket_place(horizon.bucket, at.y);
    let events = min(counted & BUCKET_EVENTS, run.mail_capacity);
    pick_left = 0u;
    if (counted & BUCKET_SORTED) != 0u {
        opened_batch = CalendarBatch(place, run.mail_capacity, lps[row].x, events);
    } else if events > PICK_MOST {
        opened_batch = CalendarBatch(place, run.mail_capacity, 0u, events);
        batch_sort(opened_batch);
    } else {
        opened_batch = CalendarBatch(place, 0u, 0u, 0u);
        if PICK_MOST > 0u && events > 0u { pick_open(at.x, place, events, horizon.now); }
    }
    batch_sort(opened_listed);
    return true;
}

// Distributes a list; moves its events of this epoch to the front. Returns their number.
fn calendar_give_out(row: u32, list: u32) -> u32 {
    let count = list_count(list, row);
    let events = min(atomicLoad(&words[count]), run.queue_capacity);
    if events == 0u { return 0u; }
    atomicStore(&words[count], 0u);
    var here = 0u;
    for (var i = 0u; i < events; i += 1u) {
        let event = batch_get(opened_listed, i);
        if time_less(event_time(event), opened_epoch_end) {
            batch_set(opened_listed, here, event);
            here += 1u;
        } else {
            calendar_send(row, event);
        }
    }
    calendar_sent();
    return here;
}

// From this number of events on, a batch is sorted by a heap.
const BATCH_MANY = 64u;

fn batch_sort(batch: CalendarBatch) {
    if batch.end <= BATCH_MANY {
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
        batch_sift(batch, i - 1u, batch_get(batch, i - 1u), batch.end);
    }
    for (var i = batch.end - 1u; i > 0u; i -= 1u) {
        let event = batch_get(batch, i);
        batch_set(batch, i, batch_get(batch, 0u));
        batch_sift(batch, 0u, event, i);
    }
}

// Places an event at `begin` or below, in a heap of `events` events with the last in order at the
// root.
fn batch_sift(batch: CalendarBatch, begin: u32, event: Item, events: u32) {
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

fn batch_has_room(batch: CalendarBatch) -> bool {
    return (batch.next > 0u) | (batch.end < batch.room);
}

// The reduction of a row that has nothing in this epoch.
fn pending_idle() -> Reduced {
    return vec4<u32>(calendar_far, 0u, calendar_marks);
}

fn pending_was_stalled() -> bool {
    return opened_stalled;
}

fn pending_any() -> bool {
    return (pick_left != 0u) | (opened_batch.next < opened_batch.end) | (opened_listed.next < opened_listed.end);
}

// Removes the event that pending_first returned.
fn pending_pop() {
    if opened_from_list {
        opened_listed.next += 1u;
    } else if pick_left != 0u {
        pick_remove(opened_picked);
    } else {
        opened_batch.next += 1u;
    }
}

fn pending_close(row: u32, first: vec2<u32>, executed: u32, stalls: u32) -> Reduced {
    var counted = 0u;
    if pending_any() {
        let stalled = select(0u, BUCKET_STALLED, stalls != 0u);
        if opened_batch.next < opened_batch.end {
            counted = opened_batch.end | BUCKET_SORTED | stalled;
            lps[row].x = opened_batch.next;
        } else {
            // Events that were not picked move to the start.
            var left = 0u;
            // Bound: PICK_MOST.
            while pick_left != 0u {
                batch_set(opened_batch, left, batch_get(opened_batch, countTrailingZeros(pick_left)));
                pick_left &= pick_left - 1u;
                left += 1u;
            }
            counted = left | stalled;
        }
        calendar_marks |= 1u << opened_bucket;
    }
    atomicStore(&words[bucket_count(opened_bucket, row)], counted);
    for (var i = opened_listed.next; i < opened_listed.end; i += 1u) {
        calendar_list_put(row, batch_get(opened_listed, i));
    }
    calendar_sent();
    return vec4<u32>(calendar_far, executed, calendar_marks);
}

fn deliver_open() {}

fn deliver_own() {}
