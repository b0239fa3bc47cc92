// The calendar: pending events by the cell that they lie in (pdes/cells.wgsl). A window is a cell, and what is executed in one schedules into
// the next one or later; so mailbox and queue are one: whoever sends appends to the destination's bucket of that cell, and the window of
// a cell sorts each LP's bucket and executes it.
//
// With B = CALENDAR_BUCKETS, an *epoch* is B / 2 cells, counted from time 0. The buckets are those of the present epoch and of the next one, by
// turns in the lower and the upper half of them. Later events, and what finds its bucket full, go to a list of the destination's. There are two
// lists, by turns: a window gives out the one (each LP its own) and opens the other, if it is the first of its epoch or if anything in a list
// lies in its cell.
//
//   store    in each binding, for store_rows() rows: B x rows x run.mail_capacity, the buckets, then 2 x rows x run.queue_capacity, the
//            lists. Those of all rows lie in one another: the first CALENDAR_CHUNK events of each row, then the next CALENDAR_CHUNK of each. LPs fill and empty theirs
//            at about the same pace, so what is written and read at a time lies in few pages: 1.12 and 1.17 times as fast with 128 and 1,024 events per LP at rate 0.001 (H200). (run.mail_capacity is whole chunks;
//            run.queue_capacity need not be, and takes as much room as if it were)
//   words    from COUNTS + run.rows on: B x R, the events in each bucket; 2 x R, those in each list. A
//            bucket whose execution has begun may have BUCKET_SORTED set: lps[row].x is then the first of the events that are left
//
// One thread serves one LP's bucket; anybody appends.
//
// Functions: calendar_put, calendar_send, calendar_append, calendar_sent, and where things lie.
//
// import: pdes/engine.wgsl
// import: pdes/cells.wgsl
//
// needs: store_* (pdes/store_one.wgsl or pdes/store_many.wgsl), Item, event_time

// A power of two from 2 to 32.
override CALENDAR_BUCKETS: u32 = 8u;

// Events of a row that lie together: a line of a cache of those of 16 bytes.
override CALENDAR_CHUNK: u32 = 8u;

const BUCKET_SORTED = 0x80000000u;
// The LP used up its budget at one time in the last window (STANDS of queues).
const BUCKET_STOOD = 0x40000000u;
const BUCKET_EVENTS = 0x3fffffffu;

// Of control: the last word of CONTROL_STATUS, and two more rows.
//
//   CONTROL_STATUS.w   the first bucket of the epoch, PHASE_LIST where the open list is number 1, PHASE_SERVED where the last window executed
//   CONTROL_EPOCH      the beginning of the epoch (2); the earliest time in lists before the last window (2)
//   CONTROL_CELLS      up to where the last window executed all there was, if it did (2); buckets that something was pending in
//                      before the last window, a bit for each; unused
const PHASE_LIST = 0x100u;
const PHASE_SERVED = 0x200u;
const CONTROL_EPOCH = 2u;
const CONTROL_CELLS = 3u;

// Where windows are, from pdes/calendar_sync.wgsl.
var<private> calendar_base: vec2<u32>; // the beginning of the epoch
var<private> calendar_turn: u32;       // the bucket of its first cell: 0 or B / 2
var<private> calendar_list: u32;       // the list that is open
// What was put since pending_open or begin_settle: a bit for each bucket, and the earliest time in a list.
var<private> calendar_marks: u32;
var<private> calendar_far: vec2<u32>;

fn bucket_count(bucket: u32, row: u32) -> u32 {
    return COUNTS + (1u + bucket) * run.rows + row;
}

fn list_count(list: u32, row: u32) -> u32 {
    return bucket_count(CALENDAR_BUCKETS + list, row);
}

// Where a bucket of a binding's row begins; place_in tells the rest.
fn bucket_place(bucket: u32, row: u32) -> u32 {
    return bucket * store_rows() * run.mail_capacity + row * CALENDAR_CHUNK;
}

fn list_place(list: u32, row: u32) -> u32 {
    let chunks = (run.queue_capacity + CALENDAR_CHUNK - 1u) / CALENDAR_CHUNK;
    return (CALENDAR_BUCKETS * run.mail_capacity + list * chunks * CALENDAR_CHUNK) * store_rows() + row * CALENDAR_CHUNK;
}

// Where an event lies in the bucket or list that begins at a place.
fn place_in(begin: u32, index: u32) -> u32 {
    return begin + (index / CALENDAR_CHUNK) * (CALENDAR_CHUNK * store_rows()) + index % CALENDAR_CHUNK;
}

// The event whose place in a bucket or list was asked for last. It is put there when the next one asks, or at calendar_sent: the answer takes long, and the
// work in between hides some of that. (2 to 6 % more events per second at rate 0.1, H200.)
var<private> sent: bool;
var<private> sent_row: u32;
var<private> sent_bucket: u32; // CALENDAR_BUCKETS and more: a list
var<private> sent_index: u32;
var<private> sent_event: Item;

// Appends an event for a row to the bucket or the list that it belongs to.
fn calendar_put(row: u32, event: Item) {
    calendar_send(row, event);
    calendar_sent();
}

// The same, by the next calendar_sent.
fn calendar_send(row: u32, event: Item) {
    let cells = cell_split(time_since(event_time(event), calendar_base)).cells;
    let far = cells.y != 0u || cells.x >= CALENDAR_BUCKETS;
    calendar_append(row, select((calendar_turn + cells.x) % CALENDAR_BUCKETS, CALENDAR_BUCKETS + calendar_list, far), event);
}

// The same for an event of which the bucket or list is known.
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

// There is one place for each access here, whether to a bucket or to a list: llvmpipe goes through all lanes wherever a branch that is not taken has one.
fn calendar_sent() {
    if !sent { return; }
    sent = false;
    if sent_bucket < CALENDAR_BUCKETS && sent_index >= run.mail_capacity {
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
