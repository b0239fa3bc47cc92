// Priority queue: circular buffer with sequential insertion, CB-SEQ (Baudis et al., section III.A).
// One thread serves one queue. Memory and meta words: queue/circular.wgsl.
//
// Insertion moves events by one slot until it finds the new one's place: from the back
// (CB_BACKWARD), which is short for events far in the future, or from the front, which is short for
// near ones.
//
// import: queue/circular.wgsl
// provides: queue_close, queue_first, queue_open, queue_pop, queue_push, queue_scan_open
// provides: queue_take
// needs: Item, event_before, queue_capacity, queue_events
//
// bounds: slots and loops are below the number of items held, whatever the items are; circular.wgsl
// wraps them below the capacity. If a driver cuts loops, items are lost or doubled, and each is
// still one that was put in.

override CB_BACKWARD: bool = true;

// Opens queue `owner` with the meta words `kept`.
fn queue_open(owner: u32, kept: vec2<u32>) {
    cb_open(owner, kept);
}

// The meta words for the next queue_open.
fn queue_close() -> vec2<u32> {
    return vec2<u32>(queue_length, queue_front);
}

// The first event in order. The queue must not be empty.
fn queue_first() -> Item {
    return queue_events[queue_base + queue_front];
}

// Inserts an event in order among the first `held` ones; the slot behind them receives the last
// one, or the event.
fn cb_insert(event: Item, held: u32) {
    var hole = held;
    // Bound: the events held.
    while hole > 0u {
        let before = queue_events[cb_slot(hole - 1u)];
        if !event_before(event, before) { break; }
        queue_events[cb_slot(hole)] = before;
        hole -= 1u;
    }
    queue_events[cb_slot(hole)] = event;
}

// Begins a scan of the events in order, valid until the next change.
fn queue_scan_open() {
    cb_scanned = 0u;
}

// Adds an event. Returns false and changes nothing if the queue is full.
fn queue_push(event: Item) -> bool {
    let held = queue_length;
    if held >= queue_capacity() { return false; }
    // Before the loops: in the kernel of search/thread.wgsl, SwiftShader loses a store after them.
    queue_length = held + 1u;
    if CB_BACKWARD {
        cb_insert(event, held);
    } else {
        var hole = 0u;
        queue_front = select(queue_front, queue_capacity(), queue_front == 0u) - 1u;
        // Bound: the events held.
        while hole < held {
            let after = queue_events[cb_slot(hole + 1u)];
            if !event_before(after, event) { break; }
            queue_events[cb_slot(hole)] = after;
            hole += 1u;
        }
        queue_events[cb_slot(hole)] = event;
    }
    return true;
}

// Removes the first event. The queue must not be empty.
fn queue_pop() {
    cb_drop();
}

// Adds the first `count` unordered events at `queue_spare`, or, if the queue is empty and was never
// used, at `queue_place`. Always from the back: from the front it would need slots before the
// first.
fn queue_take(count: u32) {
    for (var i = 0u; i < count; i += 1u) {
        cb_insert(queue_events[cb_slot(queue_length)], queue_length);
        queue_length += 1u;
    }
}
