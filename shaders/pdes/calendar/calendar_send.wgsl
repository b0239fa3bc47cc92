// Appends events to the buckets and lists of any LP in the calendar (pdes/calendar/calendar.wgsl).
//
// Functions: calendar_send, calendar_sent, calendar_list_put.
//
// import: pdes/calendar/calendar.wgsl
// provides: calendar_list_put, calendar_send, calendar_sent
// needs: Item, event_time, run, store_put, store_split

// The last sent event. Its slot is requested at once, but written at the next send or at
// calendar_sent, because work in between hides the latency of the atomic.
var<private> sent: bool;
var<private> sent_row: u32;
var<private> sent_bucket: u32;
var<private> sent_index: u32;
var<private> sent_event: Item;

// Appends an event for a row to its bucket or list, completed by the next calendar_sent.
fn calendar_send(row: u32, event: Item) {
    let epochs = epoch_split(time_since(event_time(event), calendar_base)).epochs;
    if (epochs.y != 0u) | (epochs.x >= CALENDAR_BUCKETS) {
        calendar_list_put(row, event);
        return;
    }
    calendar_sent();
    sent = true;
    sent_row = row;
    sent_bucket = (calendar_turn + epochs.x) % CALENDAR_BUCKETS;
    sent_index = atomicAdd(&words[bucket_count(sent_bucket, row)], 1u);
    sent_event = event;
}

fn calendar_sent() {
    if !sent { return; }
    sent = false;
    if sent_index < run.mail_capacity {
        let at = store_split(sent_row);
        store_put(at.x, place_in(bucket_place(sent_bucket, at.y), sent_index), sent_event);
        calendar_marks |= 1u << sent_bucket;
        return;
    }
    // The count is restored, so that it stays exact. No slot is assigned twice: only senders that
    // found no slot take their count back.
    atomicSub(&words[bucket_count(sent_bucket, sent_row)], 1u);
    calendar_list_put(sent_row, sent_event);
}

fn calendar_list_put(row: u32, event: Item) {
    calendar_far = time_min(calendar_far, event_time(event));
    let index = atomicAdd(&words[list_count(calendar_list, row)], 1u);
    if index < run.queue_capacity {
        let at = store_split(row);
        store_put(at.x, place_in(list_place(calendar_list, at.y), index), event);
    } else {
        fail_room(row, QUEUE_FULL, QUEUE_NEEDED, index + 1u);
    }
}
