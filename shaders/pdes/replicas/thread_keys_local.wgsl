// Keys of a run by a thread during a slice: the first KEYS_LOCAL, which every sinking passes, in
// workgroup memory; the others in their buffer, as all are between slices.
//
//   keys_local   KEYS_LOCAL for each invocation, by node and then by invocation, so that neighbours
//               read adjacent keys
//
// Functions: keys_get, keys_set; keys_four_local, keys_set_local; keys_fetch, keys_keep, as in
// pdes/replicas/thread_keys.wgsl.
//
// import: pdes/replicas/thread_queue.wgsl
// provides: keys_fetch, keys_four_local, keys_get, keys_keep, keys_set, keys_set_local
// needs: run

// The first three levels of a heap.
const KEYS_LOCAL = 21u;

var<workgroup> keys_local: array<vec4<u32>, KEYS_LOCAL * GROUP_SIZE>;

var<private> keys_lane: u32;

fn keys_get(node: u32) -> vec4<u32> {
    if node < KEYS_LOCAL { return keys_local[node * GROUP_SIZE + keys_lane]; }
    return keys[keys_base + node];
}

fn keys_set(node: u32, key: vec4<u32>) {
    if node < KEYS_LOCAL {
        keys_local[node * GROUP_SIZE + keys_lane] = key;
    } else {
        keys_set_stored(node, key);
    }
}

fn keys_four_local(first: u32) -> FourKeys {
    let at = first * GROUP_SIZE + keys_lane;
    return FourKeys(
        keys_local[at], keys_local[at + GROUP_SIZE], keys_local[at + 2u * GROUP_SIZE], keys_local[at + 3u * GROUP_SIZE]
    );
}

fn keys_set_local(node: u32, key: vec4<u32>) {
    keys_local[node * GROUP_SIZE + keys_lane] = key;
}

fn keys_fetch(lane: u32) {
    keys_lane = lane;
    // Bound: KEYS_LOCAL. A queue has three more places than run.queue_capacity, which stay free.
    for (var node = 0u; node < min(KEYS_LOCAL, run.queue_capacity + 3u); node += 1u) {
        keys_local[node * GROUP_SIZE + lane] = keys[keys_base + node];
    }
}

fn keys_keep() {
    for (var node = 0u; node < min(KEYS_LOCAL, run.queue_capacity + 3u); node += 1u) {
        keys[keys_base + node] = keys_local[node * GROUP_SIZE + keys_lane];
    }
}
