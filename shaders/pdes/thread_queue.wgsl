// The pending events of a whole run in one queue, for replicas by threads: a heap of keys of which every node has four children (Baudis et al., section
// III.B), and the events that they stand for in a pool. One invocation serves one queue.
//
//   keys    for each replica run.queue_stride of (time (2), LP, slot in the pool). The root lies in the last of four, so that siblings share 64 aligned
//           bytes. The first keys_length of run.queue_capacity are the heap; those held back begin at the other end; between them lie the slots that are free
//   store   the pool: run.queue_capacity events for each replica
//
// An event that is executed leaves the root to be replaced by the first that it schedules, which saves a way down and a way up.
//
// Functions: keys_open, keys_first, keys_replace, keys_drop, keys_needed, keys_push, keys_hold, keys_put_off, keys_release, keys_order.
//
// import: pdes/engine.wgsl
//
// needs: Item, event_before (queue/events_4.wgsl or queue/events_8.wgsl), key_get, key_set, keys_siblings (pdes/thread_keys.wgsl or
// pdes/thread_keys_near.wgsl)

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
    if all(a.xyz == b.xyz) { return event_before(store[keys_pool + a.w], store[keys_pool + b.w]); }
    return a.y < b.y || a.y == b.y && (a.x < b.x || a.x == b.x && a.z < b.z);
}

fn keys_first() -> vec4<u32> {
    return key_get(0u);
}

// Four siblings, the first of which has a number.
struct Siblings {
    a: vec4<u32>,
    b: vec4<u32>,
    c: vec4<u32>,
    d: vec4<u32>,
}

// Puts a key where it belongs below the root.
fn keys_sink_from_root(key: vec4<u32>) {
    var hole = 0u;
    var siblings = keys_siblings(1u);
    // Bound: the number of levels, at most 16.
    while true {
        let first = 4u * hole + 1u;
        if first >= keys_length { break; }
        var least = siblings.a;
        var child = first;
        if first + 1u < keys_length && key_before(siblings.b, least) {
            least = siblings.b;
            child = first + 1u;
        }
        if first + 2u < keys_length && key_before(siblings.c, least) {
            least = siblings.c;
            child = first + 2u;
        }
        if first + 3u < keys_length && key_before(siblings.d, least) {
            least = siblings.d;
            child = first + 3u;
        }
        if !key_before(least, key) { break; }
        if 4u * child + 1u < keys_length { siblings = keys_siblings(4u * child + 1u); }
        key_set(hole, least);
        hole = child;
    }
    key_set(hole, key);
}

// Puts a key where it belongs above a hole.
fn keys_rise(begin: u32, key: vec4<u32>) {
    var hole = begin;
    // Bound: the number of levels, at most 16.
    while hole > 0u {
        let parent = (hole - 1u) / 4u;
        let above = key_get(parent);
        if !key_before(key, above) { break; }
        key_set(hole, above);
        hole = parent;
    }
    key_set(hole, key);
}

// Another event takes the slot of the first one.
fn keys_replace(slot: u32, lp: u32, event: Item) {
    store[keys_pool + slot] = event;
    keys_sink_from_root(vec4<u32>(event_time(event), lp, slot));
}

// The first event is gone.
fn keys_drop(slot: u32) {
    keys_length -= 1u;
    let last = key_get(keys_length);
    key_set(keys_length, vec4<u32>(0u, 0u, 0u, slot));
    if keys_length > 0u { keys_sink_from_root(last); }
}

// How many events there would be with one more.
fn keys_needed() -> u32 {
    return keys_length + keys_held + 1u;
}

// Adds an event; there must be room.
fn keys_push(lp: u32, event: Item) {
    let slot = key_get(keys_length).w;
    store[keys_pool + slot] = event;
    keys_length += 1u;
    keys_rise(keys_length - 1u, vec4<u32>(event_time(event), lp, slot));
}

// Adds an event that is not to be found until keys_release; there must be room.
fn keys_hold(lp: u32, event: Item) {
    keys_held += 1u;
    let place = run.queue_capacity - keys_held;
    let slot = key_get(place).w;
    store[keys_pool + slot] = event;
    key_set(place, vec4<u32>(event_time(event), lp, slot));
}

// Holds the first event back.
fn keys_put_off() {
    let key = keys_first();
    keys_drop(key.w);
    keys_held += 1u;
    let place = run.queue_capacity - keys_held;
    // The slot that lies there takes the place of the one that keys_drop has set free.
    key_set(keys_length, key_get(place));
    key_set(place, key);
}

// Takes one of those in; there must be one.
fn keys_release() {
    let place = run.queue_capacity - keys_held;
    let key = key_get(place);
    // A slot that is free, or, where there is none, this key's own place.
    key_set(place, key_get(keys_length));
    keys_held -= 1u;
    keys_length += 1u;
    keys_rise(keys_length - 1u, key);
}

// Makes a heap of the keys, which lie in any order: of so many.
fn keys_order(length: u32) {
    keys_length = 0u;
    // Bound: the events. The way up is short on average.
    while keys_length < length {
        keys_length += 1u;
        keys_rise(keys_length - 1u, key_get(keys_length - 1u));
    }
}
