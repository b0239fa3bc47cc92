// Replicas whose LPs have queues of their own: pdes/replicas/thread_held.wgsl has the same function
// for others.
//
// Functions: held_apart.
//
// provides: held_apart

fn held_apart(place: u32, lane: u32) -> vec2<u32> {
    return vec2<u32>(0u);
}
