// The pending events of a whole run in one queue, for replicas by threads: a heap of keys with four
// children for each node (Baudis et al., section III.B), and their events in a pool. One invocation
// serves one queue.
//   keys    for each replica run.queue_stride of (time (2), LP, slot). The root is the last of
//           four, so siblings share 64 aligned bytes. Of run.queue_capacity keys, the first
//           keys_length are the heap; those held back begin at the other end. Between are free
//           slots, with TIME_NEVER and the slot as LP, so that all siblings can be compared and
//           differ
//   store   the pool: run.queue_capacity events for each replica
// The first event that an executed event schedules replaces it at the root, which saves two sifts.
// Its key is the caller's until keys_sink; between slices it is the root, not sunk. keys_sink calls
// keys_found with the first key: without events, that of a free slot.
//
// Functions: keys_open, keys_next, keys_sink, keys_needed, keys_push, keys_hold, keys_postpone,
// keys_earliest, keys_release, keys_order; keys_four_stored, keys_set_stored.
//
// import: pdes/engine.wgsl
// needs: Item, event_before, event_time, keys_found, keys_four_local, keys_get, keys_set
// needs: keys_set_local, run

@group(0) @binding(4) var<storage, read_write> keys: array<vec4<u32>>;
@group(0) @binding(8) var<storage, read_write> store: array<Item>;

var<private> keys_base: u32;
var<private> keys_pool: u32;
var<private> keys_length: u32;
// Number of events held back until the round is over.
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

// Four siblings from `first` on, in the buffer.
fn keys_four_stored(first: u32) -> FourKeys {
    let at = keys_base + first;
    return FourKeys(keys[at], keys[at + 1u], keys[at + 2u], keys[at + 3u]);
}

fn keys_set_stored(node: u32, key: vec4<u32>) {
    keys[keys_base + node] = key;
}

// By time, then LP, then the order of an LP's events.
fn key_before(a: vec4<u32>, b: vec4<u32>) -> bool {
    if !key_same(a, b) { return key_less(a, b); }
    if a.w == b.w { return false; }
    return event_before(store[keys_pool + a.w], store[keys_pool + b.w]);
}

// The same for two keys that differ in time or LP.
fn key_less(a: vec4<u32>, b: vec4<u32>) -> bool {
    return (a.y < b.y) | ((a.y == b.y) & ((a.x < b.x) | ((a.x == b.x) & (a.z < b.z))));
}

fn key_same(a: vec4<u32>, b: vec4<u32>) -> bool {
    return all(a.xyz == b.xyz);
}

// The first of four siblings and its index, if all differ in time or LP; and whether two of them
// may agree in both.
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

// The same if two of them may agree.
fn keys_least_of_alike(four: FourKeys) -> LeastKey {
    var first = LeastKey(four.a, 0u, true);
    if key_before(four.b, first.key) { first = LeastKey(four.b, 1u, true); }
    if key_before(four.c, first.key) { first = LeastKey(four.c, 2u, true); }
    if key_before(four.d, first.key) { first = LeastKey(four.d, 3u, true); }
    return first;
}

// Places a key below the root, whose key is gone. Branches and buffer reads dominate: the first
// levels are unrolled and assume distinct keys. Only the root's children are checked at once, so
// keys_found is inlined once. Reads past the heap are discarded: slice_kernel checks bounds.
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
    // Their children, of the first one.
    let b_parent = 1u + a.place;
    let b_begin = 4u * b_parent + 1u;
    let b = keys_least(keys_four_local(b_begin));
    let b_there = a_goes & (b_begin < keys_length);
    let b_goes = b_there & key_less(b.key, key);
    // And theirs, in the buffer.
    let c_parent = b_begin + b.place;
    let c_begin = 4u * c_parent + 1u;
    let c = keys_least(keys_four_stored(c_begin));
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
        let four = keys_four_stored(begin);
        var first = keys_least(four);
        var goes = key_less(first.key, key);
        if first.alike | key_same(first.key, key) {
            first = keys_least_of_alike(four);
            goes = key_before(first.key, key);
        }
        if !goes { break; }
        keys_set_stored(hole, first.key);
        hole = begin + first.place;
    }
    keys_set_stored(hole, key);
}

// The same from any hole on, for any keys.
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

// Places a key at a hole or above; if the root's own key is gone and another one will replace it,
// below the root.
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

// Removes the first event, or replaces it by another one in its slot. Returns the key for
// keys_sink.
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

// The number of events with one more. Some slots stay free between the heap and the events held
// back.
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

// Adds an event that is hidden until keys_release; there must be room.
fn keys_hold(lp: u32, event: Item) {
    keys_held += 1u;
    let place = run.queue_capacity - keys_held;
    let slot = keys_get(place).w;
    store[keys_pool + slot] = event;
    keys_set(place, vec4<u32>(event_time(event), lp, slot));
}

// Holds back the event with the first key. Returns the key that replaces it by keys_sink.
fn keys_postpone(key: vec4<u32>) -> vec4<u32> {
    keys_length -= 1u;
    keys_held += 1u;
    let place = run.queue_capacity - keys_held;
    let last = keys_get(keys_length);
    // A free slot.
    keys_set(keys_length, keys_get(place));
    keys_set(place, key);
    if keys_length == 0u { return keys_get(0u); }
    return last;
}

// The first key, or one of its time and LP, before `sinks` sinks.
fn keys_earliest(sinks: vec4<u32>) -> vec4<u32> {
    let least = keys_least(keys_four_local(1u)).key;
    return select(sinks, least, (keys_length > 1u) & key_less(least, sinks));
}

// Inserts all events held back, before `sinks` sinks. Returns the key that keys_sink places now.
fn keys_release(sinks: vec4<u32>) -> vec4<u32> {
    let empty = keys_length == 0u;
    // Bound: events held back.
    while keys_held > 0u {
        let place = run.queue_capacity - keys_held;
        let key = keys_get(place);
        // A free slot; without one, this key's own place.
        keys_set(place, keys_get(keys_length));
        keys_held -= 1u;
        keys_length += 1u;
        keys_rise(keys_length - 1u, true, key);
    }
    if empty { return keys_get(0u); }
    return sinks;
}

// Orders `length` keys into a heap.
fn keys_order(length: u32) {
    keys_length = 0u;
    // Bound: the events. Keys rise few levels on average.
    while keys_length < length {
        keys_length += 1u;
        keys_rise(keys_length - 1u, false, keys_get(keys_length - 1u));
    }
}
