// The pending events of a whole run in one queue, for replicas by threads: a heap of keys of which every node has four children (Baudis et al., section
// III.B), and the events that they stand for in a pool. One invocation serves one queue.
//
//   keys    for each replica run.queue_stride of (time (2), LP, slot in the pool). The root lies in the last of four, so that siblings share 64 aligned
//           bytes. The first keys_length of run.queue_capacity are the heap; those held back begin at the other end; between them lie the slots that are
//           free, with TIME_NEVER and the slot for an LP, so that of four siblings none need be asked whether it is there if the first is, and no two of them are the same
//   store   the pool: run.queue_capacity events for each replica
//
// An event that is executed leaves the root to be replaced by the first that it schedules, which saves a way down and a way up. The key that is to do so is the caller's until keys_sink; between
// slices it lies at the root and has not gone down.
//
// Functions: keys_open, keys_next, keys_sink, keys_needed, keys_push, keys_hold, keys_postpone, keys_earliest, keys_release, keys_order; keys_four_far, keys_set_far.
//
// import: pdes/engine.wgsl
// needs: Item, event_before, event_time, keys_found, keys_four_local, keys_get, keys_set
// needs: keys_set_local, run
//
// keys_found is called as soon as the way down has found the first key: that of a free slot where
// there is no event.

@group(0) @binding(4) var<storage, read_write> keys: array<vec4<u32>>;
@group(0) @binding(8) var<storage, read_write> store: array<Item>;

var<private> keys_base: u32;
var<private> keys_pool: u32;
var<private> keys_length: u32;
// Held back until the round is over.
var<private> keys_held: u32;

// Four siblings, read and compared without a loop: in checked kernels a loop carries a counter, is
// not unrolled, and each of its reads waits for the one before.
struct FourKeys {
    a: vec4<u32>,
    b: vec4<u32>,
    c: vec4<u32>,
    d: vec4<u32>,
}

fn keys_open(place: u32, length: u32, held: u32) {
    keys_base = place * run.queue_stride + 3u;
    keys_pool = place * run.queue_capacity;
    keys_length = length;
    keys_held = held;
}

// Four siblings, of which this is the first, and one key, where they lie in the buffer.
fn keys_four_far(first: u32) -> FourKeys {
    let at = keys_base + first;
    return FourKeys(keys[at], keys[at + 1u], keys[at + 2u], keys[at + 3u]);
}

fn keys_set_far(node: u32, key: vec4<u32>) {
    keys[keys_base + node] = key;
}

// By time, LP, and then as an LP's events are ordered.
fn key_before(a: vec4<u32>, b: vec4<u32>) -> bool {
    if !key_same(a, b) { return key_less(a, b); }
    if a.w == b.w { return false; }
    return event_before(store[keys_pool + a.w], store[keys_pool + b.w]);
}

// The same of two that differ in time or LP.
fn key_less(a: vec4<u32>, b: vec4<u32>) -> bool {
    return (a.y < b.y) | ((a.y == b.y) & ((a.x < b.x) | ((a.x == b.x) & (a.z < b.z))));
}

fn key_same(a: vec4<u32>, b: vec4<u32>) -> bool {
    return all(a.xyz == b.xyz);
}

// The first of four siblings and which of them it is, as if all differed in time or LP; and whether two of them may be alike in both.
struct LeastKey {
    key: vec4<u32>,
    place: u32,
    alike: bool,
}

fn keys_least(four: FourKeys) -> LeastKey {
    let b_wins = key_less(four.b, four.a);
    let d_wins = key_less(four.d, four.c);
    let ab = select(four.a, four.b, b_wins);
    let cd = select(four.c, four.d, d_wins);
    let cd_wins = key_less(cd, ab);
    let place = select(u32(b_wins), 2u + u32(d_wins), cd_wins);
    let alike = key_same(four.a, four.b) | key_same(four.c, four.d) | key_same(ab, cd);
    return LeastKey(select(ab, cd, cd_wins), place, alike);
}

// The same where two of them may be alike.
fn keys_least_of_alike(four: FourKeys) -> LeastKey {
    var first = LeastKey(four.a, 0u, true);
    if key_before(four.b, first.key) { first = LeastKey(four.b, 1u, true); }
    if key_before(four.c, first.key) { first = LeastKey(four.c, 2u, true); }
    if key_before(four.d, first.key) { first = LeastKey(four.d, 3u, true); }
    return first;
}

// Puts a key where it belongs below the root, whose own is gone. Branches are what this takes its time for, and waiting for what is far: so the levels that most queues have are written
// out, and go on as if all keys differed in time or LP until it is known that two do not. Only the root's children are asked at once, because keys_found is to be called in one place here and no more: what it reads would
// else be copied where the two ways meet, and waited for. (Figures: docs/replicas.md.)
//
// What is read before it is known to be there may lie beyond the heap, in the queue of another run or beyond all of them: it is thrown away, and the kernel has to be one in which such reads are
// checked (slice_kernel in src/pdes/run/replicas/ground.rs).
fn keys_sink(key: vec4<u32>) {
    // The children of the root.
    let a_four = keys_four_local(1u);
    var a = keys_least(a_four);
    let a_there = keys_length > 1u;
    var a_goes = a_there & key_less(a.key, key);
    if a_there & (a.alike | key_same(a.key, key)) {
        a = keys_least_of_alike(a_four);
        a_goes = key_before(a.key, key);
    }
    let top = select(key, a.key, a_goes);
    keys_found(top);
    keys_set_local(0u, top);
    // Those of the first of them.
    let b_parent = 1u + a.place;
    let b_begin = 4u * b_parent + 1u;
    let b = keys_least(keys_four_local(b_begin));
    let b_there = a_goes & (b_begin < keys_length);
    let b_goes = b_there & key_less(b.key, key);
    // And theirs, which are not near.
    let c_parent = b_begin + b.place;
    let c_begin = 4u * c_parent + 1u;
    let c = keys_least(keys_four_far(c_begin));
    let c_there = b_goes & (c_begin < keys_length);
    let c_goes = c_there & key_less(c.key, key);
    let b_hole = select(0u, b_parent, a_goes);
    if (b_there & (b.alike | key_same(b.key, key))) | (c_there & (c.alike | key_same(c.key, key))) {
        keys_sink_alike(b_hole, key);
        return;
    }
    keys_set_local(b_hole, select(key, b.key, b_goes));
    keys_set_local(select(b_hole, c_parent, b_goes), select(key, c.key, c_goes));
    if !c_goes { return; }
    var hole = c_begin + c.place;
    // Bound: the number of levels, at most 16.
    while true {
        let begin = 4u * hole + 1u;
        if begin >= keys_length { break; }
        let four = keys_four_far(begin);
        var first = keys_least(four);
        var goes = key_less(first.key, key);
        if first.alike | key_same(first.key, key) {
            first = keys_least_of_alike(four);
            goes = key_before(first.key, key);
        }
        if !goes { break; }
        keys_set_far(hole, first.key);
        hole = begin + first.place;
    }
    keys_set_far(hole, key);
}

// The same from any hole on, whatever keys there are.
fn keys_sink_alike(from_hole: u32, key: vec4<u32>) {
    var hole = from_hole;
    // Bound: the number of levels, at most 16.
    while true {
        let begin = 4u * hole + 1u;
        if begin >= keys_length { break; }
        let first = keys_least_of_alike(FourKeys(keys_get(begin), keys_get(begin + 1u), keys_get(begin + 2u), keys_get(begin + 3u)));
        if !key_before(first.key, key) { break; }
        keys_set(hole, first.key);
        hole = begin + first.place;
    }
    keys_set(hole, key);
}

// Puts a key where it belongs above a hole; where the root's own is gone and another key is to take its place, below it.
fn keys_rise(begin: u32, below_root: bool, key: vec4<u32>) {
    let top = select(0u, 4u, below_root);
    var hole = begin;
    // Bound: the number of levels, at most 16.
    while hole > top {
        let parent = (hole - 1u) / 4u;
        let above = keys_get(parent);
        if !key_before(key, above) { break; }
        keys_set(hole, above);
        hole = parent;
    }
    keys_set(hole, key);
}

fn keys_free(slot: u32) -> vec4<u32> {
    return vec4<u32>(TIME_NEVER, slot, slot);
}

// The first event is gone, and if there is another one for its slot, that takes its place. Returns the key that is to do so by keys_sink.
fn keys_next(slot: u32, replaced: bool, lp: u32, event: Item) -> vec4<u32> {
    var key = vec4<u32>(event_time(event), lp, slot);
    if replaced {
        store[keys_pool + slot] = event;
    } else {
        keys_length -= 1u;
        key = keys_get(keys_length);
        keys_set(keys_length, keys_free(slot));
        if keys_length == 0u { key = keys_free(slot); }
    }
    return key;
}

// How many events there would be with one more. Some slots are left between the heap and those held back.
fn keys_needed(hold: bool) -> u32 {
    return keys_length + keys_held + select(1u, 4u, hold | (keys_held > 0u));
}

// Adds an event; there must be room.
fn keys_push(lp: u32, event: Item) {
    let slot = keys_get(keys_length).w;
    store[keys_pool + slot] = event;
    keys_length += 1u;
    keys_rise(keys_length - 1u, true, vec4<u32>(event_time(event), lp, slot));
}

// Adds an event that is not to be found until keys_release; there must be room.
fn keys_hold(lp: u32, event: Item) {
    keys_held += 1u;
    let place = run.queue_capacity - keys_held;
    let slot = keys_get(place).w;
    store[keys_pool + slot] = event;
    keys_set(place, vec4<u32>(event_time(event), lp, slot));
}

// Holds an event back, whose key is the first. Returns the key that is to take its place by keys_sink.
fn keys_postpone(key: vec4<u32>) -> vec4<u32> {
    keys_length -= 1u;
    keys_held += 1u;
    let place = run.queue_capacity - keys_held;
    let last = keys_get(keys_length);
    // A slot that is free.
    keys_set(keys_length, keys_get(place));
    keys_set(place, key);
    if keys_length == 0u { return keys_get(0u); }
    return last;
}

// The first key, or one of its time and LP, before this one goes down by keys_sink.
fn keys_earliest(sinks: vec4<u32>) -> vec4<u32> {
    let least = keys_least(keys_four_local(1u)).key;
    return select(sinks, least, (keys_length > 1u) & key_less(least, sinks));
}

// Takes all of those in that were held back, before this key goes down by keys_sink. Returns the one that is to do so now.
fn keys_release(sinks: vec4<u32>) -> vec4<u32> {
    let empty = keys_length == 0u;
    // Bound: events held back.
    while keys_held > 0u {
        let place = run.queue_capacity - keys_held;
        let key = keys_get(place);
        // A slot that is free, or, where there is none, this key's own place.
        keys_set(place, keys_get(keys_length));
        keys_held -= 1u;
        keys_length += 1u;
        keys_rise(keys_length - 1u, true, key);
    }
    if empty { return keys_get(0u); }
    return sinks;
}

// Makes a heap of so many keys, which lie in any order.
fn keys_order(length: u32) {
    keys_length = 0u;
    // Bound: the events. The way up is short on average.
    while keys_length < length {
        keys_length += 1u;
        keys_rise(keys_length - 1u, false, keys_get(keys_length - 1u));
    }
}
