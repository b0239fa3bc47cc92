// The calendar: pending events by epoch (pdes/window/epochs.wgsl). A window is an epoch, and its
// events schedule into later ones. So mailbox and queue are one: a sender appends to the
// destination's bucket of an epoch; that epoch's window sorts each LP's bucket and executes it. One
// thread serves one LP's bucket; any invocation appends.
//
// A span is CALENDAR_BUCKETS / 2 epochs, counted from time 0. The present and the next span have
// the lower and the upper half of the buckets, alternately. Later events, and events whose bucket
// is full, go to the destination's list. There are two lists: a window that is the first of its
// span, or in whose epoch a listed event lies, distributes one (each LP its own) and opens the
// other.
//
//   store    in each binding: CALENDAR_BUCKETS x store_rows() x run.mail_capacity slots of buckets;
//            then two lists, 2 x store_rows() x run.queue_capacity (whole chunks). Chunks of rows
//            are interleaved, because LPs advance together and then touch few pages
//   words    from COUNTS + run.rows on: events in each bucket of each row, then in each list
//
// import: pdes/engine.wgsl
// import: pdes/window/epochs.wgsl
// needs: run, store_rows
//
// bounds: for the sort, the only trusted kernel that links this file: rows are those of
// calendar_sort.wgsl, buckets are below CALENDAR_BUCKETS by `%`, and places in a bucket below
// run.mail_capacity.

// A power of two from 2 to 32.
override CALENDAR_BUCKETS: u32 = 8u;

// Adjacent events of a row: a cache line of events of 16 bytes.
override CALENDAR_CHUNK: u32 = 8u;

// The bucket is sorted: lps[row].x is its first remaining event.
const BUCKET_SORTED = 0x80000000u;
// The LP used up its budget at one time in the last window (STALLED of queues).
const BUCKET_STALLED = 0x40000000u;
const BUCKET_EVENTS = 0x3fffffffu;

// CONTROL_STATUS.w: the first bucket of the span, PHASE_LIST if list 1 is open, PHASE_SERVED if the
// last window executed.
const PHASE_LIST = 0x100u;
const PHASE_SERVED = 0x200u;
// The start of the span (2); the earliest time in lists before the last window (2).
const CONTROL_EPOCH = 2u;
// The time up to which the last window executed everything, if it did (2); buckets with pending
// events before the last window, a bit for each; unused.
const CONTROL_MARKS = 3u;

// Set by pdes/calendar/calendar_sync.wgsl for a window.
var<private> calendar_base: vec2<u32>; // the start of the span
var<private> calendar_turn: u32;       // bucket of its first epoch: 0 or half
var<private> calendar_list: u32;       // the list that is open
// Inserted since pending_open or initial_order: a bit for each bucket, and the earliest time in a
// list.
var<private> calendar_marks: u32;
var<private> calendar_far: vec2<u32>;

fn bucket_count(bucket: u32, row: u32) -> u32 {
    return COUNTS + (1u + bucket) * run.rows + row;
}

fn list_count(list: u32, row: u32) -> u32 {
    return bucket_count(CALENDAR_BUCKETS + list, row);
}

// The start of a bucket of a binding's row; place_in adds the index.
fn bucket_place(bucket: u32, row: u32) -> u32 {
    return bucket * store_rows() * run.mail_capacity + row * CALENDAR_CHUNK;
}

fn list_place(list: u32, row: u32) -> u32 {
    let chunks = (run.queue_capacity + CALENDAR_CHUNK - 1u) / CALENDAR_CHUNK;
    return (CALENDAR_BUCKETS * run.mail_capacity + list * chunks * CALENDAR_CHUNK) * store_rows() + row * CALENDAR_CHUNK;
}

// The slot of an event in the bucket or list that begins at a place.
fn place_in(begin: u32, index: u32) -> u32 {
    return begin + (index / CALENDAR_CHUNK) * (CALENDAR_CHUNK * store_rows()) + index % CALENDAR_CHUNK;
}
