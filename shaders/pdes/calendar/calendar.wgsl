// The calendar: pending events by the cell that they lie in (pdes/window/epochs.wgsl). A window is a cell, and what is executed in one schedules into
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
// Functions: where things lie.
//
// import: pdes/engine.wgsl
// import: pdes/window/epochs.wgsl
// needs: run, store_rows
//
// bounds: for the sort, the only trusted kernel that links it: rows are those of
// calendar_sort.wgsl, buckets are below CALENDAR_BUCKETS by `%`, and places in a bucket below
// run.mail_capacity.

// A power of two from 2 to 32.
override CALENDAR_BUCKETS: u32 = 8u;

// Events of a row that lie together: a line of a cache of those of 16 bytes.
override CALENDAR_CHUNK: u32 = 8u;

const BUCKET_SORTED = 0x80000000u;
// The LP used up its budget at one time in the last window (STALLED of queues).
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

// Where windows are, from pdes/calendar/calendar_sync.wgsl.
var<private> calendar_base: vec2<u32>; // the beginning of the epoch
var<private> calendar_turn: u32;       // the bucket of its first cell: 0 or B / 2
var<private> calendar_list: u32;       // the list that is open
// What was put since pending_open or initial_order: a bit for each bucket, and the earliest time in a list.
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
