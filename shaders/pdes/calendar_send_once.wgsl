// What pdes/calendar_send.wgsl does, with one place for each access, whether to a bucket or to a list: llvmpipe goes through all lanes wherever a branch that is not taken
// has one. (16 events per LP at rate 0.1, with what pdes/calendar_step_once.wgsl does: 0.59 to 0.75 of the processor's time. On an H200 windows of the other file take 0.92
// to 0.97 of the time.)
//
// Functions: calendar_send, calendar_sent, calendar_list_put.
//
// import: pdes/calendar.wgsl
// provides: calendar_list_put, calendar_send, calendar_sent
// needs: Item, event_time, run, store_put, store_split

// The event whose place in a bucket or list was asked for last. It is put there when the next one asks, or at calendar_sent: the answer takes long, and the
// work in between hides some of that. (2 to 6 % more events per second at rate 0.1, H200.)
var<private> sent: bool;
var<private> sent_row: u32;
var<private> sent_bucket: u32; // CALENDAR_BUCKETS and more: a list
var<private> sent_index: u32;
var<private> sent_event: Item;

// Appends an event for a row to the bucket or the list that it belongs to, by the next calendar_sent.
fn calendar_send(row: u32, event: Item) {
    let cells = cell_split(time_since(event_time(event), calendar_base)).cells;
    let far = (cells.y != 0u) | (cells.x >= CALENDAR_BUCKETS);
    calendar_append(row, select((calendar_turn + cells.x) % CALENDAR_BUCKETS, CALENDAR_BUCKETS + calendar_list, far), event);
}

// Appends an event to the list that is open, likewise.
fn calendar_list_put(row: u32, event: Item) {
    calendar_append(row, CALENDAR_BUCKETS + calendar_list, event);
}

fn calendar_append(row: u32, bucket: u32, event: Item) {
    // Asked for before the last event is put: on processors an atomic access waits until all that was written before is in the cache.
    let index = atomicAdd(&words[bucket_count(bucket, row)], 1u);
    calendar_sent();
    sent = true;
    sent_row = row;
    sent_bucket = bucket;
    sent_index = index;
    sent_event = event;
}

fn calendar_sent() {
    if !sent { return; }
    sent = false;
    if (sent_bucket < CALENDAR_BUCKETS) & (sent_index >= run.mail_capacity) {
        // It is counted no more, so that counts stay numbers. Nobody who got a place ever takes it back, so none is given out twice.
        atomicSub(&words[bucket_count(sent_bucket, sent_row)], 1u);
        sent_bucket = CALENDAR_BUCKETS + calendar_list;
        sent_index = atomicAdd(&words[bucket_count(sent_bucket, sent_row)], 1u);
    }
    let at = store_split(sent_row);
    var begin: u32;
    if sent_bucket < CALENDAR_BUCKETS {
        calendar_marks |= 1u << sent_bucket;
        begin = bucket_place(sent_bucket, at.y);
    } else {
        calendar_far = time_min(calendar_far, event_time(sent_event));
        if sent_index >= run.queue_capacity {
            fail_room(sent_row, QUEUE_FULL, QUEUE_NEEDED, sent_index + 1u);
            return;
        }
        begin = list_place(sent_bucket - CALENDAR_BUCKETS, at.y);
    }
    store_put(at.x, place_in(begin, sent_index), sent_event);
}
