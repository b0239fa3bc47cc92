// Keys (pdes/thread_queue.wgsl) where they lie between slices. pdes/thread_keys_near.wgsl has the same functions.
//
// Functions: key_get, key_set, keys_siblings.
//
// import: pdes/thread_queue.wgsl

fn key_get(number: u32) -> vec4<u32> {
    return keys[keys_base + number];
}

fn key_set(number: u32, key: vec4<u32>) {
    keys[keys_base + number] = key;
}

fn keys_siblings(first: u32) -> Siblings {
    let at = keys_base + first;
    return Siblings(keys[at], keys[at + 1u], keys[at + 2u], keys[at + 3u]);
}
