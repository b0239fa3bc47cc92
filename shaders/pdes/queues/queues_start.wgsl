// Inserts the first events into queues: unordered, counted as the destination's messages, because
// no mailbox could hold a whole population. Then the queue is ordered.
// pdes/calendar/calendar_start.wgsl has the same functions.
//
// Functions: initial_insert, initial_order.
//
// import: pdes/engine.wgsl
// provides: initial_insert, initial_order
// needs: Item, event_time, queue_close, queue_first, queue_open, queue_place, queue_size
// needs: queue_take, run

// Inserts an event for a row, if its queue is in the bound range.
fn initial_insert(row: u32, event: Item) {
    let queue = row - run.part.queue_first;
    if queue >= run.part.queue_rows { return; }
    let index = atomicAdd(&words[mail_count(0u, row)], 1u);
    if index >= run.queue_capacity {
        fail_room(row, QUEUE_FULL, QUEUE_NEEDED, index + 1u);
        return;
    }
    queue_events[queue_place(queue, index)] = event;
}

// Orders the queue of a row; returns the row's part of the first window's reduction.
fn initial_order(row: u32) -> vec4<u32> {
    let count = mail_count(0u, row);
    queue_open(row - run.part.queue_first, vec2<u32>(0u, 0u));
    queue_take(min(atomicLoad(&words[count]), run.queue_capacity));
    atomicStore(&words[count], 0u);
    var first = TIME_NEVER;
    if queue_size() > 0u { first = event_time(queue_first()); }
    lps[row] = vec4<u32>(first, queue_close());
    return vec4<u32>(first, 0u, 0u);
}
