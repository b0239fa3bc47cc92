// Shared by the circular buffers (Baudis et al., section III.A): queue/cb_seq.wgsl,
// queue/cb_seq_sp.wgsl.
//
// queue_events   all queues, one after the other, queue_stride() slots each: a reserved slot, then
// the buffer
//
// The events of a queue begin at its front slot and wrap around the end of the buffer. They are in
// order as far as they were inserted in order. A thread opens one queue at a time. The meta words
// stored between two openings are (events held, front slot).
//
// Functions: queue_size, queue_glance, queue_second, queue_peek, queue_scan_more, queue_scan_next,
// queue_place, queue_spare, queue_reserved_slot; cb_open, cb_slot, cb_drop.
//
// provides: QUEUE_GLANCES, queue_glance, queue_peek, queue_place, queue_reserved_slot
// provides: queue_scan_more, queue_scan_next, queue_second, queue_size, queue_spare
// needs: Item, queue_capacity, queue_events, queue_stride
//
// bounds: a slot wraps below the capacity. Loops count to the number of items held.

var<private> queue_base: u32;
var<private> queue_length: u32;
var<private> queue_front: u32;
var<private> cb_scanned: u32;

// Opens queue `owner` with the meta words `kept`.
fn cb_open(owner: u32, kept: vec2<u32>) {
    queue_base = owner * queue_stride() + 1u;
    queue_length = kept.x;
    queue_front = kept.y;
}

// A slot of the open queue for data of its owner; the queue does not use it.
fn queue_reserved_slot() -> u32 {
    return queue_base - 1u;
}

// The number of events in the queue.
fn queue_size() -> u32 {
    return queue_length;
}

// Whether the first event of a closed queue can be read; here that needs its meta words.
const QUEUE_GLANCES = false;

fn queue_glance(owner: u32) -> Item {
    var nothing: Item;
    return nothing;
}

// The slot `offset` places behind the front; offset is at most the capacity.
fn cb_slot(offset: u32) -> u32 {
    let slot = queue_front + offset;
    return queue_base + select(slot, slot - queue_capacity(), slot >= queue_capacity());
}

// Frees the front slot.
fn cb_drop() {
    queue_length -= 1u;
    queue_front = select(queue_front + 1u, 0u, queue_front + 1u == queue_capacity());
}

// The second event in order, after queue_first has ordered them. The queue must hold two.
fn queue_second() -> Item {
    return queue_events[cb_slot(1u)];
}

// One of the events held, by an index below their number, in the queue's own order.
fn queue_peek(index: u32) -> Item {
    return queue_events[cb_slot(index)];
}

// Whether the scan has another event, and that event: all events held, in order, from
// queue_scan_open on.
fn queue_scan_more() -> bool {
    return cb_scanned < queue_length;
}

fn queue_scan_next() -> Item {
    cb_scanned += 1u;
    return queue_events[cb_slot(cb_scanned - 1u)];
}

// The slot in `queue_events` of event `index` for a `queue_take` that fills an unused queue.
fn queue_place(owner: u32, index: u32) -> u32 {
    return owner * queue_stride() + 1u + index;
}

// The slot in `queue_events` of event `index` for a `queue_take` that adds to the open queue. There
// must be room.
fn queue_spare(index: u32) -> u32 {
    return cb_slot(queue_length + index);
}
