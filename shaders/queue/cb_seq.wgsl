// Priority queue: circular buffer with sequential insertion, CB-SEQ (Baudis et al., section III.A).
// One thread serves one queue.
//
// queue_events   all queues, queue_stride() slots each, one queue after the other
//
// The events of a queue lie in order from its front slot on, around the end of the buffer. Insertion moves
// events by one slot until the place of the new one is found: from the back, which is short for events that lie
// far in the future (CB_BACKWARD), or from the front, which is short for those that are near.
//
// A thread opens one queue at a time. What the queue keeps between two openings is its meta word pair:
// (events held, front slot).
//
// needs: Item, event_before (queue/events_4.wgsl, queue/events_8.wgsl or another total order), queue_events, queue_capacity(), queue_stride()

override CB_BACKWARD: bool = true;

var<private> queue_base: u32;
var<private> queue_length: u32;
var<private> queue_front: u32;

// Opens queue `owner`, whose meta words are `kept`.
fn queue_open(owner: u32, kept: vec2<u32>) {
    queue_base = owner * queue_stride();
    queue_length = kept.x;
    queue_front = kept.y;
}

// The meta words to keep until the queue is opened again.
fn queue_close() -> vec2<u32> {
    return vec2<u32>(queue_length, queue_front);
}

// How many events the queue holds.
fn queue_size() -> u32 {
    return queue_length;
}

// The slot `offset` places behind the front; offset is at most the capacity.
fn cb_slot(offset: u32) -> u32 {
    let slot = queue_front + offset;
    return queue_base + select(slot, slot - queue_capacity(), slot >= queue_capacity());
}

// The first event in order. The queue must not be empty.
fn queue_first() -> Item {
    return queue_events[queue_base + queue_front];
}

// Puts an event in its place among those held; the slot behind them gets the last one, or the event.
fn cb_insert(event: Item) {
    var hole = queue_length;
    // Bound: the events held.
    while hole > 0u {
        let before = queue_events[cb_slot(hole - 1u)];
        if !event_before(event, before) { break; }
        queue_events[cb_slot(hole)] = before;
        hole -= 1u;
    }
    queue_events[cb_slot(hole)] = event;
}

// Adds an event; false, and nothing changes, if the queue is full.
fn queue_push(event: Item) -> bool {
    if queue_length >= queue_capacity() { return false; }
    if CB_BACKWARD {
        cb_insert(event);
    } else {
        var hole = 0u;
        queue_front = select(queue_front, queue_capacity(), queue_front == 0u) - 1u;
        // Bound: the events held.
        while hole < queue_length {
            let after = queue_events[cb_slot(hole + 1u)];
            if !event_before(after, event) { break; }
            queue_events[cb_slot(hole)] = after;
            hole += 1u;
        }
        queue_events[cb_slot(hole)] = event;
    }
    queue_length += 1u;
    return true;
}

// Removes the first event. The queue must not be empty.
fn queue_pop() {
    queue_length -= 1u;
    queue_front = select(queue_front + 1u, 0u, queue_front + 1u == queue_capacity());
}

// One of the events held, by a number below their count; the order is the queue's own.
fn queue_peek(index: u32) -> Item {
    return queue_events[cb_slot(index)];
}

// The place in `queue_events` for event number `index` of those that `queue_take` will make a queue of, where there
// was none.
fn queue_place(owner: u32, index: u32) -> u32 {
    return owner * queue_stride() + index;
}

// The place in `queue_events` for event number `index` of those that `queue_take` will add to the opened queue. There must be room.
fn queue_spare(index: u32) -> u32 {
    return cb_slot(queue_length + index);
}

// Adds the first `count` events that lie unordered at `queue_spare`, or, if the queue is empty and was never used, at `queue_place`.
// From the back, whatever the direction: from the front it would need slots before the first.
fn queue_take(count: u32) {
    for (var i = 0u; i < count; i += 1u) {
        cb_insert(queue_events[cb_slot(queue_length)]);
        queue_length += 1u;
    }
}
