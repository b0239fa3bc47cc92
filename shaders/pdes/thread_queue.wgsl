// The pending events of a whole run in one queue, for replicas by threads: a heap of keys of which every node has four children (Baudis et al., section
// III.B), and the events that they stand for in a pool. One invocation serves one queue.
//
//   keys    for each replica run.queue_stride of (time (2), LP, slot in the pool). The root lies in the last of four, so that siblings share 64 aligned
//           bytes. The first keys_length of run.queue_capacity are the heap; those held back begin at the other end; between them lie the slots that are free
//   store   the pool: run.queue_capacity events for each replica
//
// An event that is executed leaves the root to be replaced by the first that it schedules, which saves a way down and a way up.
//
// Functions: keys_open, keys_first, keys_replace, keys_drop, keys_room, keys_push, keys_hold, keys_release, keys_order.
//
// import: pdes/engine.wgsl
//
// needs: Item, event_before (queue/events_4.wgsl or queue/events_8.wgsl)

@group(0) @binding(4) var<storage, read_write> keys: array<vec4<u32>>;
@group(0) @binding(8) var<storage, read_write> store: array<Item>;

var<private> keys_base: u32;
var<private> keys_pool: u32;
var<private> keys_length: u32;
// Held back until the round is over.
var<private> keys_held: u32;

fn keys_open(place: u32, length: u32, held: u32) {
    keys_base = place * run.queue_stride + 3u;
    keys_pool = place * run.queue_capacity;
    keys_length = length;
    keys_held = held;
}

// By time, LP, and then as an LP's events are ordered.
fn key_before(a: vec4<u32>, b: vec4<u32>) -> bool {
    if a.y != b.y { return a.y < b.y; }
    if a.x != b.x { return a.x < b.x; }
    if a.z != b.z { return a.z < b.z; }
    return event_before(store[keys_pool + a.w], store[keys_pool + b.w]);
}

fn keys_first() -> vec4<u32> {
    return keys[keys_base];
}

// Puts a key where it belongs below a hole.
fn keys_sink(begin: u32, key: vec4<u32>) {
    var hole = begin;
    // Bound: the number of levels, at most 16.
    while true {
        let first = 4u * hole + 1u;
        if first >= keys_length { break; }
        // Those beyond the last are read as well, so that no read waits for another: the stride has room for them.
        var least = keys[keys_base + first];
        var child = first;
        for (var i = 1u; i < 4u; i += 1u) {
            let sibling = keys[keys_base + first + i];
            if first + i < keys_length && key_before(sibling, least) {
                least = sibling;
                child = first + i;
            }
        }
        if !key_before(least, key) { break; }
        keys[keys_base + hole] = least;
        hole = child;
    }
    keys[keys_base + hole] = key;
}

// Puts a key where it belongs above a hole.
fn keys_rise(begin: u32, key: vec4<u32>) {
    var hole = begin;
    // Bound: the number of levels, at most 16.
    while hole > 0u {
        let parent = (hole - 1u) / 4u;
        let above = keys[keys_base + parent];
        if !key_before(key, above) { break; }
        keys[keys_base + hole] = above;
        hole = parent;
    }
    keys[keys_base + hole] = key;
}

// Another event takes the slot of the first one.
fn keys_replace(slot: u32, lp: u32, event: Item) {
    store[keys_pool + slot] = event;
    keys_sink(0u, vec4<u32>(event_time(event), lp, slot));
}

// The first event is gone.
fn keys_drop(slot: u32) {
    keys_length -= 1u;
    let last = keys[keys_base + keys_length];
    keys[keys_base + keys_length] = vec4<u32>(0u, 0u, 0u, slot);
    if keys_length > 0u { keys_sink(0u, last); }
}

// How many events there would be with one more.
fn keys_needed() -> u32 {
    return keys_length + keys_held + 1u;
}

// Adds an event; there must be room.
fn keys_push(lp: u32, event: Item) {
    let slot = keys[keys_base + keys_length].w;
    store[keys_pool + slot] = event;
    keys_length += 1u;
    keys_rise(keys_length - 1u, vec4<u32>(event_time(event), lp, slot));
}

// Adds an event that is not to be found until keys_release; there must be room.
fn keys_hold(lp: u32, event: Item) {
    keys_held += 1u;
    let place = keys_base + run.queue_capacity - keys_held;
    let slot = keys[place].w;
    store[keys_pool + slot] = event;
    keys[place] = vec4<u32>(event_time(event), lp, slot);
}

// Holds the first event back.
fn keys_put_off() {
    let key = keys_first();
    keys_drop(key.w);
    keys_held += 1u;
    let place = keys_base + run.queue_capacity - keys_held;
    // The slot that lies there takes the place of the one that keys_drop has set free.
    keys[keys_base + keys_length].w = keys[place].w;
    keys[place] = key;
}

// Takes one of those in; there must be one.
fn keys_release() {
    let place = keys_base + run.queue_capacity - keys_held;
    let key = keys[place];
    // A slot that is free, or, where there is none, this key's own place.
    keys[place].w = keys[keys_base + keys_length].w;
    keys_held -= 1u;
    keys_length += 1u;
    keys_rise(keys_length - 1u, key);
}

// Makes a heap of the keys, which lie in any order.
fn keys_order() {
    // Bound: a quarter of the events.
    for (var i = (keys_length + 2u) / 4u; i > 0u; i -= 1u) {
        keys_sink(i - 1u, keys[keys_base + i - 1u]);
    }
}
