// The pending events of a replica by a thread: all in one queue, none by LP.
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

// The digest of an invocation's share of the replica's events: all invocations of a workgroup
// together count each event once.
fn held_apart(place: u32, lane: u32) -> vec2<u32> {
    let saved = lps[replica_row(place, REPLICA_SAVED)];
    keys_open(place, saved.x, saved.y);
    var sum = vec2<u32>(0u);
    // Bound: the events of each invocation.
    for (var i = lane; i < keys_length + keys_held; i += GROUP_SIZE) {
        let behind = select(0u, run.queue_capacity - keys_held - keys_length, i >= keys_length);
        let key = keys_get(behind + i);
        sum = wide_add(sum, digest_event(digest_begin(DIGEST_PENDING, key.z), store[keys_pool + key.w]));
    }
    return sum;
}
