// Shared servers (facility/network/sharing.wgsl). A heap has the customers (FAR, entry, arrival,
// class), and the next heap their departures: reading of the clock (2), number. Words of the clock:
// its reading (2), when it was moved (low word), the number of the last customer.
//
// import: facility/compiled/heaps.wgsl
// import: facility/compiled/state.wgsl
// import: facility/network/shares.wgsl
// import: gpu/wide.wgsl
// import: time/ticks.wgsl
//
// bounds: as in facility/compiled/state.wgsl.

// Moves the clock to the present time. (While it has customers, it is moved every 2^32 ticks at
// least: otherwise one of them came 2^31 ticks ago, which is a fault.)
fn shared_advance(clock: u32, customers: u32, servers: u32) {
    var gain = fine(vec2<u32>(network_at - network[clock + 2u], 0u));
    if customers > servers { gain = scaled(gain, servers, customers, false); }
    let reading = wide_add(vec2<u32>(network[clock], network[clock + 1u]), gain);
    network[clock] = reading.x;
    network[clock + 1u] = reading.y;
    network[clock + 2u] = network_at;
}

// The time until the next customer leaves if no other comes. At least one customer is there.
fn shared_next(heap: u32, clock: u32, servers: u32) -> vec2<u32> {
    let left = time_since(heap_get(heap + 1u, 0u).xy, vec2<u32>(network[clock], network[clock + 1u]));
    return until_complete(left, network[NETWORK_HELD + heap], servers);
}

// Whether the service of the next customer is complete.
fn shared_ends(heap: u32, clock: u32) -> bool {
    return !time_less(vec2<u32>(network[clock], network[clock + 1u]), heap_get(heap + 1u, 0u).xy);
}

fn shared_move(heap: u32, from_: u32, to: u32) {
    heap_set(heap, to, heap_get(heap, from_));
    heap_set(heap + 1u, to, heap_get(heap + 1u, from_));
    network_steps += 1u;
}

// The arriving customer is served from now on.
fn shared_join(heap: u32, clock: u32, service: vec2<u32>) {
    let held = network[NETWORK_HELD + heap];
    // (As many as the interpreter holds, whose room for them is that of lines.)
    if held >= min(network_given.ring, 0xffffu) {
        network_faults |= NETWORK_FULL;
        return;
    }
    network[NETWORK_HELD + heap] = held + 1u;
    network[clock + 3u] += 1u;
    let reading = vec2<u32>(network[clock], network[clock + 1u]);
    let leaves = vec4<u32>(time_add(reading, fine(service)), network[clock + 3u], 0u);
    var place = held;
    // At most 16 levels.
    while place > 0u {
        let above = (place - 1u) / 2u;
        if !leaves_before(leaves, heap_get(heap + 1u, above)) { break; }
        shared_move(heap, above, place);
        place = above;
    }
    heap_set(heap, place, vec4<u32>(FAR, go_entered, network_at, go_class));
    heap_set(heap + 1u, place, leaves);
}

// The next customer leaves: entry, arrival, class.
fn shared_leave(heap: u32) -> vec3<u32> {
    let who = heap_get(heap, 0u).yzw;
    let last = network[NETWORK_HELD + heap] - 1u;
    network[NETWORK_HELD + heap] = last;
    let leaves = heap_get(heap + 1u, last);
    var place = 0u;
    // At most 16 levels.
    loop {
        var below = 2u * place + 1u;
        if below >= last { break; }
        var found = heap_get(heap + 1u, below);
        if below + 1u < last {
            let right = heap_get(heap + 1u, below + 1u);
            if leaves_before(right, found) {
                found = right;
                below += 1u;
            }
        }
        if !leaves_before(found, leaves) { break; }
        shared_move(heap, below, place);
        place = below;
    }
    shared_move(heap, last, place);
    return who;
}
