// Where the keys of a run by a thread are: in their buffer. pdes/replicas/thread_keys_near.wgsl has the same functions for a place that is nearer.
//
// Functions: keys_get, keys_set; keys_four_local, keys_set_local; keys_fetch, keys_keep.
//
// import: pdes/replicas/thread_queue.wgsl
// provides: keys_fetch, keys_four_local, keys_get, keys_keep, keys_set, keys_set_local

fn keys_get(node: u32) -> vec4<u32> {
    return keys[keys_base + node];
}

fn keys_set(node: u32, key: vec4<u32>) {
    keys_set_far(node, key);
}

// Four siblings, of which this is the first, and one key, of the first three levels of the heap.
fn keys_four_local(first: u32) -> FourKeys {
    return keys_four_far(first);
}

fn keys_set_local(node: u32, key: vec4<u32>) {
    keys_set_far(node, key);
}

// To be called at the beginning of a slice, once it is known whose keys they are, and at its end.
fn keys_fetch(lane: u32) {}

fn keys_keep() {}
