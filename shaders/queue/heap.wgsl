// Priority queue: implicit heap (Baudis et al., section III.B), of which every node has HEAP_ARITY children. One thread serves one queue.
//
// queue_events   all queues, queue_stride() slots each, one queue after the other
//
// The root lies in slot HEAP_ARITY - 1 of a stride that is a multiple of HEAP_ARITY, so that siblings share aligned bytes (two 32,
// four 64): one memory transaction for each level on the way down. Two children are the paper's heap; with four there are half as many
// levels, each with more to compare.
//
// A thread opens one queue at a time. What the queue keeps between two openings is its meta word pair:
// (events held, unused).
//
// event_before is called for whatever lies in the slots of a queue, so it has no effect.
//
// provides: QUEUE_GLANCES, queue_close, queue_first, queue_glance, queue_open, queue_peek
// provides: queue_place, queue_pop, queue_push, queue_reserved_slot, queue_scan_more
// provides: queue_scan_next, queue_scan_open, queue_second, queue_size, queue_spare, queue_take
// needs: Item, event_before, queue_capacity, queue_events, queue_stride
//
// bounds: slots and loops are below the number of items held, which is below the capacity, whatever
// the items are. Where a driver cuts loops, items are lost or doubled, and each is still one that
// was put in. Slots beyond those held are compared as well: they hold zeros or earlier items.

// 2 or 4.
override HEAP_ARITY: u32 = 2u;

var<private> queue_base: u32;   // where the root lies
var<private> queue_length: u32;

// The nodes of which one is the next to be told by a scan: those whose parents were told.
const HEAP_FRONTIER = 32u;
var<private> heap_frontier: array<u32, HEAP_FRONTIER>;
var<private> heap_frontier_length: u32;

// Where the root of queue `owner` lies.
fn heap_root(owner: u32) -> u32 {
    return owner * queue_stride() + HEAP_ARITY - 1u;
}

// Where node `number` of the opened queue lies.
fn heap_node(number: u32) -> u32 {
    return queue_base + number;
}

// A slot of the opened queue's that no event takes, nor anybody else: what its owner keeps beside its events.
fn queue_reserved_slot() -> u32 {
    return queue_base - 1u;
}

// Opens queue `owner`, whose meta words are `kept`.
fn queue_open(owner: u32, kept: vec2<u32>) {
    queue_base = heap_root(owner);
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

// Whether the first event of a queue that is not open can be seen, and what lies where it lies if there is one.
const QUEUE_GLANCES = true;

fn queue_glance(owner: u32) -> Item {
    return queue_events[heap_root(owner)];
}

// The first event in order. The queue must not be empty.
fn queue_first() -> Item {
    return queue_events[queue_base];
}

// A node, and the event in it.
struct HeapNode {
    number: u32,
    event: Item,
}

// The first in order of the children that begin with number `first`, which must be held.
//
// No loops: in kernels with run-time checks they are not unrolled, and each of these reads would wait for the one before. Children beyond the last event are read as
// well: they lie in the queue's own slots.
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

// Adds an event; false, and nothing changes, if the queue is full.
fn queue_push(event: Item) -> bool {
    if queue_length >= queue_capacity() { return false; }
    var hole = queue_length;
    queue_length += 1u;
    // Bound: the number of levels, at most 32, since the hole's number halves at least.
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
    // Bound: the number of levels, at most 32, since the child's number doubles at least.
    while child < queue_length {
        let below = heap_least(child);
        if !event_before(below.event, last) { break; }
        queue_events[heap_node(hole)] = below.event;
        hole = below.number;
        child = HEAP_ARITY * hole + 1u;
    }
    queue_events[heap_node(hole)] = last;
}

// One of the events held, by a number below their count; the order is the queue's own.
fn queue_peek(index: u32) -> Item {
    return queue_events[heap_node(index)];
}

// Begins to tell the events in order, as far as the frontier goes; until the next change.
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
        // The next event may be one that does not fit: this was the last to be told.
        heap_frontier_length = 0u;
        return least;
    }
    for (var i = 0u; i < children; i += 1u) {
        heap_frontier[heap_frontier_length + i] = first + i;
    }
    heap_frontier_length += children;
    return least;
}

// The place in `queue_events` for event number `index` of those that `queue_take` will make a queue of, where there
// was none.
fn queue_place(owner: u32, index: u32) -> u32 {
    return heap_root(owner) + index;
}

// The place in `queue_events` for event number `index` of those that `queue_take` will add to the opened queue. There must be room.
fn queue_spare(index: u32) -> u32 {
    return heap_node(queue_length + index);
}

// Adds the first `count` events that lie unordered at `queue_spare`, or, if the queue is empty and was never used, at `queue_place`.
// Pushing never writes beyond the event that it takes, so this works in place.
fn queue_take(count: u32) {
    for (var i = 0u; i < count; i += 1u) {
        queue_push(queue_events[heap_node(queue_length)]);
    }
}
