// Priority queue: implicit binary heap (Baudis et al., section III.B). One thread serves one queue.
//
// queue_events   all queues, queue_stride() slots each, one queue after the other
//
// The root lies in slot 1 of an even stride, so that two siblings share 32 aligned bytes: one memory transaction for
// each level on the way down.
//
// A thread opens one queue at a time. What the queue keeps between two openings is its meta word pair:
// (events held, unused).
//
// needs: Item, event_before (queue/events_4.wgsl, queue/events_8.wgsl or another total order), queue_events, queue_capacity(), queue_stride()

var<private> queue_base: u32;
var<private> queue_length: u32;

// Opens queue `owner`, whose meta words are `kept`.
fn queue_open(owner: u32, kept: vec2<u32>) {
    queue_base = owner * queue_stride() + 1u;
    queue_length = kept.x;
}

// The meta words to keep until the queue is opened again.
fn queue_close() -> vec2<u32> {
    return vec2<u32>(queue_length, 0u);
}

// How many events the queue holds.
fn queue_size() -> u32 {
    return queue_length;
}

// The first event in order. The queue must not be empty.
fn queue_first() -> Item {
    return queue_events[queue_base];
}

// Adds an event; false, and nothing changes, if the queue is full.
fn queue_push(event: Item) -> bool {
    if queue_length >= queue_capacity() { return false; }
    var hole = queue_length;
    queue_length += 1u;
    // Bound: the number of levels, at most 32, since the hole's number halves.
    while hole > 0u {
        let parent = (hole - 1u) >> 1u;
        let above = queue_events[queue_base + parent];
        if !event_before(event, above) { break; }
        queue_events[queue_base + hole] = above;
        hole = parent;
    }
    queue_events[queue_base + hole] = event;
    return true;
}

// Removes the first event. The queue must not be empty.
fn queue_pop() {
    queue_length -= 1u;
    if queue_length == 0u { return; }
    let last = queue_events[queue_base + queue_length];
    var hole = 0u;
    var child = 1u;
    // Bound: the number of levels, at most 32, since the child's number doubles.
    while child < queue_length {
        var below = queue_events[queue_base + child];
        if child + 1u < queue_length {
            let right = queue_events[queue_base + child + 1u];
            if event_before(right, below) {
                below = right;
                child += 1u;
            }
        }
        if !event_before(below, last) { break; }
        queue_events[queue_base + hole] = below;
        hole = child;
        child = 2u * hole + 1u;
    }
    queue_events[queue_base + hole] = last;
}

// One of the events held, by a number below their count; the order is the queue's own.
fn queue_peek(index: u32) -> Item {
    return queue_events[queue_base + index];
}

// The place in `queue_events` for event number `index` of those that `queue_take` will make a queue of, where there
// was none.
fn queue_place(owner: u32, index: u32) -> u32 {
    return owner * queue_stride() + 1u + index;
}

// The place in `queue_events` for event number `index` of those that `queue_take` will add to the opened queue. There must be room.
fn queue_spare(index: u32) -> u32 {
    return queue_base + queue_length + index;
}

// Adds the first `count` events that lie unordered at `queue_spare`, or, if the queue is empty and was never used, at `queue_place`.
// Pushing never writes beyond the event that it takes, so this works in place.
fn queue_take(count: u32) {
    for (var i = 0u; i < count; i += 1u) {
        queue_push(queue_events[queue_base + queue_length]);
    }
}
