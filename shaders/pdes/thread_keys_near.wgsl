// Keys (pdes/thread_queue.wgsl) of which those that are looked at most, the first levels of the heap, lie in workgroup memory while a slice lasts: a way
// down is a chain of reads, each of which takes some 600 cycles of an H200 otherwise. pdes/thread_keys.wgsl has the same functions.
//
// Functions: key_get, key_set, keys_siblings; keys_fetch, keys_keep.
//
// import: pdes/thread_queue.wgsl

// So many of each queue: whole levels, 1 + 4 + 16 + 64 or fewer.
override KEYS_NEAR: u32 = 21u;

var<workgroup> keys_near: array<vec4<u32>, GROUP_SIZE * KEYS_NEAR>;

var<private> keys_own: u32;

fn key_get(number: u32) -> vec4<u32> {
    if number < KEYS_NEAR { return keys_near[keys_own + number]; }
    return keys[keys_base + number];
}

fn key_set(number: u32, key: vec4<u32>) {
    if number < KEYS_NEAR {
        keys_near[keys_own + number] = key;
    } else {
        keys[keys_base + number] = key;
    }
}

// Siblings are all here or all there. Those beyond the last are read as well, so that no read waits for another: the stride has room for them. No loop, because in
// kernels with run-time checks loops are not unrolled.
fn keys_siblings(first: u32) -> Siblings {
    if first < KEYS_NEAR {
        let at = keys_own + first;
        return Siblings(keys_near[at], keys_near[at + 1u], keys_near[at + 2u], keys_near[at + 3u]);
    }
    let at = keys_base + first;
    return Siblings(keys[at], keys[at + 1u], keys[at + 2u], keys[at + 3u]);
}

// After the queue was opened, by the invocation that serves it.
fn keys_fetch(lane: u32) {
    keys_own = lane * KEYS_NEAR;
    for (var i = 0u; i < min(KEYS_NEAR, run.queue_capacity); i += 1u) {
        keys_near[keys_own + i] = keys[keys_base + i];
    }
}

// At the end of a slice.
fn keys_keep() {
    for (var i = 0u; i < min(KEYS_NEAR, run.queue_capacity); i += 1u) {
        keys[keys_base + i] = keys_near[keys_own + i];
    }
}
