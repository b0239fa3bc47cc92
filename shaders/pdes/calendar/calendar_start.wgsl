// Inserts the first events into a calendar. pdes/queues/queues_start.wgsl has the same functions.
//
// Functions: initial_insert, initial_order.
//
// import: pdes/calendar/calendar.wgsl
// import: pdes/calendar/calendar_send.wgsl
// provides: initial_insert, initial_order
// needs: Item, Reduced, event_time, run, store_get, store_split

// Inserts an event for a row. The span is that of half 0 of control, its first bucket 0, and the
// open list 0.
fn initial_insert(row: u32, event: Item) {
    calendar_base = lps[control_row(0u, CONTROL_EPOCH)].xy;
    calendar_send(row, event);
    calendar_sent();
}

// Returns a row's part of the first window's reduction.
fn initial_order(row: u32) -> Reduced {
    calendar_marks = 0u;
    for (var bucket = 0u; bucket < CALENDAR_BUCKETS; bucket += 1u) {
        if atomicLoad(&words[bucket_count(bucket, row)]) > 0u { calendar_marks |= 1u << bucket; }
    }
    calendar_far = TIME_NEVER;
    let at = store_split(row);
    let events = min(atomicLoad(&words[list_count(0u, row)]), run.queue_capacity);
    for (var i = 0u; i < events; i += 1u) {
        calendar_far = time_min(calendar_far, event_time(store_get(at.x, place_in(list_place(0u, at.y), i))));
    }
    return vec4<u32>(calendar_far, 0u, calendar_marks);
}
