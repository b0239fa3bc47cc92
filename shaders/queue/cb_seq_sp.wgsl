// Priority queue: circular buffer with sequential insertion in a single pass, CB-SEQ-SP (Baudis et
// al., section III.A). One thread serves one queue. Memory and meta words: queue/circular.wgsl.
//
// As in the paper, new events are appended unordered and sorted before the next removal: up to
// CB_CACHE of them are in order in a cache. One pass from the front leaves in each place the first
// of its event and the cache, and puts the other into the cache. Unlike CB-SEQ it visits the whole
// buffer. The paper's cache is in shared memory. Here it is private, because 256 invocations with 8
// events each would need twice the workgroup memory that WebGPU guarantees. A closed queue is in
// order.
//
// import: queue/circular.wgsl
// provides: queue_close, queue_first, queue_open, queue_pop, queue_push, queue_scan_open
// provides: queue_take
// needs: Item, event_before, queue_capacity, queue_events
//
// bounds: slots and loops are below the number of items held, whatever the items are; circular.wgsl
// wraps them below the capacity. If a driver cuts loops, items are lost or doubled, and each is
// still one that was put in.

const CB_CACHE = 8u;

// The number of events from the front on that are in order.
var<private> cb_sorted: u32;
var<private> cb_cache: array<Item, CB_CACHE>;

// Opens queue `owner` with the meta words `kept`.
fn queue_open(owner: u32, kept: vec2<u32>) {
    cb_open(owner, kept);
    cb_sorted = kept.x;
}

// The meta words for the next queue_open.
fn queue_close() -> vec2<u32> {
    cb_settle();
    return vec2<u32>(queue_length, queue_front);
}

// Orders all events.
fn cb_settle() {
    // Bound: one pass for CB_CACHE new events.
    while cb_sorted < queue_length {
        let count = min(CB_CACHE, queue_length - cb_sorted);
        for (var i = 0u; i < count; i += 1u) {
            let event = queue_events[cb_slot(cb_sorted + i)];
            var place = i;
            while place > 0u && event_before(event, cb_cache[place - 1u]) {
                cb_cache[place] = cb_cache[place - 1u];
                place -= 1u;
            }
            cb_cache[place] = event;
        }
        for (var i = 0u; i < cb_sorted; i += 1u) {
            let slot = cb_slot(i);
            let event = queue_events[slot];
            if event_before(cb_cache[0], event) {
                queue_events[slot] = cb_cache[0];
                var place = 0u;
                while place + 1u < count && event_before(cb_cache[place + 1u], event) {
                    cb_cache[place] = cb_cache[place + 1u];
                    place += 1u;
                }
                cb_cache[place] = event;
            }
        }
        for (var i = 0u; i < count; i += 1u) {
            queue_events[cb_slot(cb_sorted + i)] = cb_cache[i];
        }
        cb_sorted += count;
    }
}

// The first event in order. The queue must not be empty.
fn queue_first() -> Item {
    cb_settle();
    return queue_events[queue_base + queue_front];
}

// Begins a scan of the events in order, valid until the next change.
fn queue_scan_open() {
    cb_settle();
    cb_scanned = 0u;
}

// Adds an event. Returns false and changes nothing if the queue is full.
fn queue_push(event: Item) -> bool {
    if queue_length >= queue_capacity() { return false; }
    queue_events[cb_slot(queue_length)] = event;
    queue_length += 1u;
    return true;
}

// Removes the first event. The queue must not be empty.
fn queue_pop() {
    cb_settle();
    cb_drop();
    cb_sorted = queue_length;
}

// Adds the first `count` unordered events at `queue_spare`, or, if the queue is empty and was never
// used, at `queue_place`.
fn queue_take(count: u32) {
    queue_length += count;
}
