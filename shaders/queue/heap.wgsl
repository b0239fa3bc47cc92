// Priority queue: implicit heap (Baudis et al., section III.B) with HEAP_ARITY children for each
// node. One thread serves one queue.
//
// queue_events   all queues, one after the other, queue_stride() slots each
//
// The root is in slot HEAP_ARITY - 1 of a stride that is a multiple of HEAP_ARITY, so that siblings
// share aligned bytes (two 32, four 64): one memory transaction for each level on the way down. Two
// children are the paper's heap; four halve the levels, with more comparisons in each.
//
// A thread opens one queue at a time. The meta words stored between two openings are (events held,
// unused). event_before is called for arbitrary slots of a queue, so it must have no effect.
//
// provides: QUEUE_GLANCES, queue_close, queue_first, queue_glance, queue_open, queue_peek
// provides: queue_place, queue_pop, queue_push, queue_reserved_slot, queue_scan_more
// provides: queue_scan_next, queue_scan_open, queue_second, queue_size, queue_spare, queue_take
// needs: Item, event_before, queue_capacity, queue_events, queue_stride
//
// bounds: slots and loops are below the number of items held, which is below the capacity, whatever
// the items are. If a driver cuts loops, items are lost or doubled, and each is still one that was
// put in. Slots beyond those held are compared as well: they hold zeros or earlier items.

// 2 or 4.
override HEAP_ARITY: u32 = 2u;

var<private> queue_base: u32;   // the slot of the root
var<private> queue_length: u32;

// A scan's candidates for the next event: the nodes whose parents were returned.
const HEAP_FRONTIER = 32u;
var<private> heap_frontier: array<u32, HEAP_FRONTIER>;
var<private> heap_frontier_length: u32;

// The root's slot of queue `owner`.
fn heap_root(owner: u32) -> u32 {
    return owner * queue_stride() + HEAP_ARITY - 1u;
}

// The slot of node `number` of the open queue.
fn heap_node(number: u32) -> u32 {
    return queue_base + number;
}

// A slot of the open queue for data of its owner; the queue does not use it.
fn queue_reserved_slot() -> u32 {
    return queue_base - 1u;
}

// Opens queue `owner` with the meta words `kept`.
fn queue_open(owner: u32, kept: vec2<u32>) {
    queue_base = heap_root(owner);
    queue_length = kept.x;
}

// The meta words for the next queue_open.
fn queue_close() -> vec2<u32> {
    return vec2<u32>(queue_length, 0u);
}

// The number of events in the queue.
fn queue_size() -> u32 {
    return queue_length;
}

// Whether the first event of a closed queue can be read; queue_glance returns its slot's content.
const QUEUE_GLANCES = true;

fn queue_glance(owner: u32) -> Item {
    return queue_events[heap_root(owner)];
}

// The first event in order. The queue must not be empty.
fn queue_first() -> Item {
    return queue_events[queue_base];
}

// A node and its event.
struct HeapNode {
    number: u32,
    event: Item,
}

// The first in order of the siblings from `first` on, which must exist. Without loops: kernels with
// run-time checks do not unroll them, so each read would wait for the one before. Reads beyond the
// last event are in the queue's own slots.
fn heap_least(first: u32) -> HeapNode {
    var a = HeapNode(first, queue_events[heap_node(first)]);
    let b = HeapNode(first + 1u, queue_events[heap_node(first + 1u)]);
    if HEAP_ARITY == 2u {
        if (b.number < queue_length) & event_before(b.event, a.event) { a = b; }
        return a;
    }
    var c = HeapNode(first + 2u, queue_events[heap_node(first + 2u)]);
    let d = HeapNode(first + 3u, queue_events[heap_node(first + 3u)]);
    if (b.number < queue_length) & event_before(b.event, a.event) { a = b; }
    if (d.number < queue_length) & event_before(d.event, c.event) { c = d; }
    if (first + 2u < queue_length) & event_before(c.event, a.event) { a = c; }
    return a;
}

// The second event in order. The queue must hold two.
fn queue_second() -> Item {
    return heap_least(1u).event;
}

// Adds an event. Returns false and changes nothing if the queue is full.
fn queue_push(event: Item) -> bool {
    if queue_length >= queue_capacity() { return false; }
    var hole = queue_length;
    queue_length += 1u;
    // Bound: the number of levels, at most 32, because the hole's number at least halves.
    while hole > 0u {
        let parent = (hole - 1u) / HEAP_ARITY;
        let above = queue_events[heap_node(parent)];
        if !event_before(event, above) { break; }
        queue_events[heap_node(hole)] = above;
        hole = parent;
    }
    queue_events[heap_node(hole)] = event;
    return true;
}

// Removes the first event. The queue must not be empty.
fn queue_pop() {
    queue_length -= 1u;
    if queue_length == 0u { return; }
    let last = queue_events[heap_node(queue_length)];
    var hole = 0u;
    var child = 1u;
    // Bound: the number of levels, at most 32, because the child's number at least doubles.
    while child < queue_length {
        let below = heap_least(child);
        if !event_before(below.event, last) { break; }
        queue_events[heap_node(hole)] = below.event;
        hole = below.number;
        child = HEAP_ARITY * hole + 1u;
    }
    queue_events[heap_node(hole)] = last;
}

// One of the events held, by an index below their number, in the queue's own order.
fn queue_peek(index: u32) -> Item {
    return queue_events[heap_node(index)];
}

// Begins a scan of the events in order, as far as the frontier has room; valid until the next
// change.
fn queue_scan_open() {
    heap_frontier[0] = 0u;
    heap_frontier_length = min(queue_length, 1u);
}

fn queue_scan_more() -> bool {
    return heap_frontier_length > 0u;
}

fn queue_scan_next() -> Item {
    var place = 0u;
    var least = queue_events[heap_node(heap_frontier[0])];
    for (var i = 1u; i < heap_frontier_length; i += 1u) {
        let other = queue_events[heap_node(heap_frontier[i])];
        if event_before(other, least) {
            least = other;
            place = i;
        }
    }
    let node = heap_frontier[place];
    heap_frontier_length -= 1u;
    heap_frontier[place] = heap_frontier[heap_frontier_length];
    let first = HEAP_ARITY * node + 1u;
    if first >= queue_length { return least; }
    let children = min(HEAP_ARITY, queue_length - first);
    if heap_frontier_length + children > HEAP_FRONTIER {
        // The next event may be one that does not fit, so the scan ends here.
        heap_frontier_length = 0u;
        return least;
    }
    for (var i = 0u; i < children; i += 1u) {
        heap_frontier[heap_frontier_length + i] = first + i;
    }
    heap_frontier_length += children;
    return least;
}

// The slot in `queue_events` of event `index` for a `queue_take` that fills an unused queue.
fn queue_place(owner: u32, index: u32) -> u32 {
    return heap_root(owner) + index;
}

// The slot in `queue_events` of event `index` for a `queue_take` that adds to the open queue. There
// must be room.
fn queue_spare(index: u32) -> u32 {
    return heap_node(queue_length + index);
}

// Adds the first `count` unordered events at `queue_spare`, or, if the queue is empty and was never
// used, at `queue_place`. In place: a push never writes beyond the event that it reads.
fn queue_take(count: u32) {
    for (var i = 0u; i < count; i += 1u) {
        queue_push(queue_events[heap_node(queue_length)]);
    }
}
