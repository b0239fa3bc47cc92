// Where the keys of a run by a thread are: in their buffer. pdes/thread_keys_near.wgsl has the same functions for a place that is nearer.
//
// Functions: keys_get, keys_set, keys_four; keys_fetch, keys_keep.
//
// import: pdes/thread_queue.wgsl

fn keys_get(node: u32) -> vec4<u32> {
    return keys[keys_base + node];
}

fn keys_set(node: u32, key: vec4<u32>) {
    keys[keys_base + node] = key;
}

// Four siblings, of which this is the first.
fn keys_four(first: u32) -> FourKeys {
    let at = keys_base + first;
    return FourKeys(keys[at], keys[at + 1u], keys[at + 2u], keys[at + 3u]);
}

// To be called at the beginning of a slice, once it is known whose keys they are, and at its end.
fn keys_fetch(lane: u32) {}

fn keys_keep() {}
