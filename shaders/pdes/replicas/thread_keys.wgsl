// Keys of a run by a thread in their buffer. pdes/replicas/thread_keys_near.wgsl has the same
// functions for workgroup memory.
//
// Functions: keys_get, keys_set; keys_four_local, keys_set_local; keys_fetch, keys_keep.
//
// import: pdes/replicas/thread_queue.wgsl
// provides: keys_fetch, keys_four_local, keys_get, keys_keep, keys_set, keys_set_local

fn keys_get(node: u32) -> vec4<u32> {
    return keys[keys_base + node];
}

fn keys_set(node: u32, key: vec4<u32>) {
    keys_set_stored(node, key);
}

// Four siblings from `first` on, in the first three levels of the heap.
fn keys_four_local(first: u32) -> FourKeys {
    return keys_four_stored(first);
}

fn keys_set_local(node: u32, key: vec4<u32>) {
    keys_set_stored(node, key);
}

// Call keys_fetch at the start of a slice, after keys_open, and keys_keep at its end.
fn keys_fetch(lane: u32) {}

fn keys_keep() {}
