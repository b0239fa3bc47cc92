// Iterates over an LP's pending events in a calendar, between calls: bucket by bucket, then the
// open list. pdes/queues/queues_held.wgsl has the same functions.
//
// Functions: held_open, held_more, held_next.
//
// import: pdes/calendar/calendar.wgsl
// provides: held_more, held_next, held_open
// needs: Item, run, store_get, store_split

var<private> held_row: u32;
var<private> held_bucket: u32; // CALENDAR_BUCKETS is the open list
var<private> held_index: u32;
var<private> held_end: u32;

fn held_open(row: u32) {
    held_row = row;
    held_bucket = 0u;
    held_turn_page();
}

// Moves to the start of the present bucket.
fn held_turn_page() {
    if held_bucket < CALENDAR_BUCKETS {
        let counted = atomicLoad(&words[bucket_count(held_bucket, held_row)]);
        held_index = 0u;
        if (counted & BUCKET_SORTED) != 0u { held_index = lps[held_row].x; }
        held_end = min(counted & BUCKET_EVENTS, run.mail_capacity);
    } else {
        held_index = 0u;
        held_end = min(atomicLoad(&words[list_count(held_list(), held_row)]), run.queue_capacity);
    }
}

fn held_list() -> u32 {
    return u32((lps[control_row(0u, CONTROL_STATUS)].w & PHASE_LIST) != 0u);
}

fn held_more() -> bool {
    // Bound: the buckets.
    while held_index >= held_end && held_bucket < CALENDAR_BUCKETS {
        held_bucket += 1u;
        held_turn_page();
    }
    return held_index < held_end;
}

fn held_next() -> Item {
    let at = store_split(held_row);
    let index = held_index;
    held_index += 1u;
    if held_bucket < CALENDAR_BUCKETS { return store_get(at.x, place_in(bucket_place(held_bucket, at.y), index)); }
    return store_get(at.x, place_in(list_place(held_list(), at.y), index));
}
