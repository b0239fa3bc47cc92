// What the LPs of a replica by a thread hold: all of it in one queue, none by LP.
//
// Functions: held_open, held_more, held_next; held_apart.
//
// import: pdes/replicas/thread_queue.wgsl
// import: pdes/replicas/thread_keys.wgsl
// import: pdes/results/fingerprint.wgsl
// provides: held_apart, held_more, held_next, held_open, keys_found
// needs: Item, REPLICA_SAVED, replica_row, run

fn keys_found(key: vec4<u32>) {}

fn held_open(row: u32) {}

fn held_more() -> bool {
    return false;
}

fn held_next() -> Item {
    return store[0];
}

// The digest of what an invocation takes of the replica in a place: every event once, by all invocations of a workgroup together.
fn held_apart(place: u32, lane: u32) -> vec2<u32> {
    let saved = lps[replica_row(place, REPLICA_SAVED)];
    keys_open(place, saved.x, saved.y);
    var sum = vec2<u32>(0u);
    // Bound: so many events for each invocation.
    for (var i = lane; i < keys_length + keys_held; i += GROUP_SIZE) {
        let behind = select(0u, run.queue_capacity - keys_held - keys_length, i >= keys_length);
        let key = keys_get(behind + i);
        sum = wide_add(sum, digest_event(digest_begin(DIGEST_PENDING, key.z), store[keys_pool + key.w]));
    }
    return sum;
}
