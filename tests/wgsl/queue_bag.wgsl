// An unordered queue: the first event is found by comparing all of them.
//
// queue_events   queue_stride() slots of each queue: one for its owner, then the events
//
// needs: Item, event_before, queue_events, queue_capacity(), queue_stride()
// provides: QUEUE_GLANCES, queue_reserved_slot, queue_close, queue_first, queue_glance, queue_open
// provides: queue_peek, queue_place, queue_pop, queue_push, queue_scan_more, queue_scan_next
// provides: queue_scan_open, queue_second, queue_size, queue_spare, queue_take
var<private> bag_base: u32;
var<private> bag_length: u32;
var<private> bag_told: bool;

fn bag_slot(index: u32) -> u32 {
    return bag_base + 1u + index;
}

// The index of the first event in order. At least one must be held.
fn bag_first() -> u32 {
    var first = 0u;
    // Bound: the events held.
    for (var i = 1u; i < bag_length; i += 1u) {
        if event_before(queue_events[bag_slot(i)], queue_events[bag_slot(first)]) { first = i; }
    }
    return first;
}

fn queue_reserved_slot() -> u32 {
    return bag_base;
}

fn queue_open(owner: u32, kept: vec2<u32>) {
    bag_base = owner * queue_stride();
    bag_length = kept.x;
}

fn queue_close() -> vec2<u32> {
    return vec2<u32>(bag_length, 0u);
}

fn queue_size() -> u32 {
    return bag_length;
}

const QUEUE_GLANCES = false;

fn queue_glance(owner: u32) -> Item {
    var nothing: Item;
    return nothing;
}

fn queue_first() -> Item {
    return queue_events[bag_slot(bag_first())];
}

// An event that is not after the second.
fn queue_second() -> Item {
    return queue_first();
}

fn queue_push(event: Item) -> bool {
    if bag_length >= queue_capacity() { return false; }
    queue_events[bag_slot(bag_length)] = event;
    bag_length += 1u;
    return true;
}

fn queue_pop() {
    let hole = bag_first();
    bag_length -= 1u;
    queue_events[bag_slot(hole)] = queue_events[bag_slot(bag_length)];
}

fn queue_peek(index: u32) -> Item {
    return queue_events[bag_slot(index)];
}

// A scan returns only the first event.
fn queue_scan_open() {
    bag_told = false;
}

fn queue_scan_more() -> bool {
    return !bag_told & (bag_length > 0u);
}

fn queue_scan_next() -> Item {
    bag_told = true;
    return queue_first();
}

fn queue_place(owner: u32, index: u32) -> u32 {
    return owner * queue_stride() + 1u + index;
}

fn queue_spare(index: u32) -> u32 {
    return bag_slot(bag_length + index);
}

fn queue_take(count: u32) {
    bag_length += count;
}
