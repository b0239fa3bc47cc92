// The pending events of a whole run in one queue, for replicas by threads: a heap of keys of which every node has four children (Baudis et al., section
// III.B), and the events that they stand for in a pool. One invocation serves one queue.
//
//   keys    for each replica run.queue_stride of (time (2), LP, slot in the pool). The root lies in the last of four, so that siblings share 64 aligned
//           bytes. The first keys_length of run.queue_capacity are the heap; those held back begin at the other end; between them lie the slots that are
//           free, with TIME_NEVER, so that a way down need not ask where the heap ends
//   store   the pool: run.queue_capacity events for each replica
//
// An event that is executed leaves the root to be replaced by the first that it schedules, which saves a way down and a way up.
//
// Functions: keys_open, keys_replace, keys_drop, keys_needed, keys_push, keys_hold, keys_put_off, keys_release, keys_order.
//
// import: pdes/engine.wgsl
//
// needs: Item, event_before (queue/events_4.wgsl or queue/events_8.wgsl), keys_found (pdes/thread.wgsl or pdes/thread_start.wgsl), which is called as soon as
// a way down has found the first key

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

// By time, LP, and then as an LP's events are ordered. Times are hardly ever equal: no branch for others.
fn key_before(a: vec4<u32>, b: vec4<u32>) -> bool {
    if all(a.xy == b.xy) { return key_before_at_once(a, b); }
    return time_less(a.xy, b.xy);
}

fn key_before_at_once(a: vec4<u32>, b: vec4<u32>) -> bool {
    if a.z != b.z { return a.z < b.z; }
    if a.w == b.w || all(a.xy == TIME_NEVER) { return false; }
    return event_before(store[keys_pool + a.w], store[keys_pool + b.w]);
}

// Puts a key where it belongs below the root, whose own is gone.
fn keys_sink(key: vec4<u32>) {
    var hole = 0u;
    // Bound: the number of levels, at most 16.
    while true {
        let first = 4u * hole + 1u;
        if first >= keys_length { break; }
        // No loop: in kernels with run-time checks loops are not unrolled, and each of these reads would wait for the one before.
        let at = keys_base + first;
        let a = keys[at];
        let b = keys[at + 1u];
        let c = keys[at + 2u];
        let d = keys[at + 3u];
        let b_wins = key_before(b, a);
        let d_wins = key_before(d, c);
        let ab = select(a, b, b_wins);
        let cd = select(c, d, d_wins);
        let cd_wins = key_before(cd, ab);
        let least = select(ab, cd, cd_wins);
        if !key_before(least, key) { break; }
        keys[keys_base + hole] = least;
        if hole == 0u { keys_found(least); }
        hole = first + select(u32(b_wins), 2u + u32(d_wins), cd_wins);
    }
    keys[keys_base + hole] = key;
    if hole == 0u { keys_found(key); }
}

// Puts a key where it belongs above a hole; where the root is that of the event that is executed, below it, because another key takes its place.
fn keys_rise(begin: u32, below_root: bool, key: vec4<u32>) {
    let top = select(0u, 4u, below_root);
    var hole = begin;
    // Bound: the number of levels, at most 16.
    while hole > top {
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
    keys_sink(vec4<u32>(event_time(event), lp, slot));
}

fn keys_free(slot: u32) -> vec4<u32> {
    return vec4<u32>(TIME_NEVER, 0u, slot);
}

// The first event is gone.
fn keys_drop(slot: u32) {
    keys_length -= 1u;
    let last = keys[keys_base + keys_length];
    keys[keys_base + keys_length] = keys_free(slot);
    if keys_length > 0u { keys_sink(last); } else { keys_found(keys_free(slot)); }
}

// How many events there would be with one more. Some slots are left between the heap and those held back.
fn keys_needed(hold: bool) -> u32 {
    return keys_length + keys_held + select(1u, 4u, hold || keys_held > 0u);
}

// Adds an event; there must be room.
fn keys_push(lp: u32, event: Item) {
    let slot = keys[keys_base + keys_length].w;
    store[keys_pool + slot] = event;
    keys_length += 1u;
    keys_rise(keys_length - 1u, true, vec4<u32>(event_time(event), lp, slot));
}

// Adds an event that is not to be found until keys_release; there must be room.
fn keys_hold(lp: u32, event: Item) {
    keys_held += 1u;
    let place = keys_base + run.queue_capacity - keys_held;
    let slot = keys[place].w;
    store[keys_pool + slot] = event;
    keys[place] = vec4<u32>(event_time(event), lp, slot);
}

// Holds the first event back, whose key this is.
fn keys_put_off(key: vec4<u32>) {
    keys_drop(key.w);
    keys_held += 1u;
    let place = keys_base + run.queue_capacity - keys_held;
    // The slot that lies there takes the place of the one that keys_drop has set free.
    keys[keys_base + keys_length] = keys[place];
    keys[place] = key;
}

// Takes one of those in; there must be one.
fn keys_release() {
    let place = keys_base + run.queue_capacity - keys_held;
    let key = keys[place];
    // A slot that is free, or, where there is none, this key's own place.
    keys[place] = keys[keys_base + keys_length];
    keys_held -= 1u;
    keys_length += 1u;
    keys_rise(keys_length - 1u, false, key);
}

// Makes a heap of so many keys, which lie in any order.
fn keys_order(length: u32) {
    keys_length = 0u;
    // Bound: the events. The way up is short on average.
    while keys_length < length {
        keys_length += 1u;
        keys_rise(keys_length - 1u, false, keys[keys_base + keys_length - 1u]);
    }
}
