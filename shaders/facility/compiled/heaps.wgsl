// Heaps of next times: services, ends of patience, trips. An entry has a time and three words.
//
// import: facility/compiled/lines.wgsl
// import: facility/compiled/state.wgsl
// import: gpu/wide.wgsl
// import: random/distributions.wgsl
// import: time/ticks.wgsl
// provides: network_change
// needs: NETWORK_RINGS, NETWORK_RING_WORDS, network_send
//
// bounds: as in facility/compiled/state.wgsl.

// Changes a Level (facility/network/records.wgsl) of the present time.
fn network_change(place: u32, change: i32) {
    let age = time_since(add_word(network_base, network_now), network_given.warm_up);
    let product = product_128(age, vec2<u32>(u32(abs(change)), 0u));
    // To subtract is to add to the complement and complement the sum.
    let turned = select(0u, 0xffffffffu, change < 0);
    let sum = vec3<u32>(network[place], network[place + 1u], network[place + 2u]) ^ vec3<u32>(turned);
    let low = wide_add(sum.xy, product.xy);
    network[place] = low.x ^ turned;
    network[place + 1u] = low.y ^ turned;
    network[place + 2u] = (sum.z + product.z + u32(wide_less(low, product.xy))) ^ turned;
    network[place + 3u] += u32(change);
}

// A station whose words begin at `pairs` breaks down (1) or works again (0), or has another number
// of servers: changes the levels of servers that are down and of interrupted customers.
fn network_down(pairs: u32, busy: u32, down: u32, open: u32) {
    let was_down = network[pairs + PAIR_DOWN];
    let before = select(vec2<u32>(0u), vec2<u32>(network[pairs + PAIR_OPEN], busy), was_down != 0u);
    let after = select(vec2<u32>(0u), vec2<u32>(open, busy), down != 0u);
    network_change(pairs + PAIR_OUT, i32(after.x - before.x));
    network_change(pairs + PAIR_INTERRUPTED, i32(after.y - before.y));
    network[pairs + PAIR_DOWN] = down;
    network[pairs + PAIR_OPEN] = open;
}

// All services of a heap end later, by the time from now to another one. Returns the first end.
fn heap_delay(heap: u32, until: u32) -> u32 {
    let held = network[NETWORK_HELD + heap];
    for (var i = 0u; i < held; i += 1u) {
        let place = heap_place(heap, i);
        let ends = network_rings[place];
        var later = FAR;
        if (ends < FAR) & (until < FAR) { later = network_when(vec2<u32>((ends - network_now) + (until - network_now), 0u)); }
        network_rings[place] = later;
    }
    network_steps += held;
    return select(NEVER, heap_get(heap, 0u).x, held > 0u);
}

// The lowest free server of a station with rows of servers, which is busy from now on.
fn network_server(pairs: u32) -> u32 {
    let busy = network[pairs + PAIR_SERVERS];
    let server = firstTrailingBit(~busy);
    network[pairs + PAIR_SERVERS] = busy | (1u << (server & 31u));
    return server;
}

// The customer on its way takes time: it waits in a heap (time, node and class, sender, entry).
// Returns the next time of the heap's slot.
fn network_travel(heap: u32, time: u32) -> u32 {
    go_from |= TRIP;
    if time == network_now {
        // It arrives with the next round.
        return select(heap_get(heap, 0u).x, NEVER, network[NETWORK_HELD + heap] == 0u);
    }
    let first = heap_push(heap, vec4<u32>(time, (go_to << 8u) | go_class, go_from, go_entered));
    go_to = NONE;
    return first;
}

// All trips that end now arrive in this round. Returns the next time.
fn network_trips_end(heap: u32) -> u32 {
    network_rounds = true;
    var next = network_now;
    while next == network_now {
        let entry = heap_get(heap, 0u);
        go_to = entry.y >> 8u;
        go_class = entry.y & 0xffu;
        go_from = entry.z;
        go_entered = entry.w;
        go_place = 0u;
        network_send(network_list);
        next = heap_pop(heap);
        network_steps += 1u;
    }
    return next;
}

// The patience of the first customer of a heap ends. Its entry: time, place, serial, ring. If it
// still waits, it leaves; the words of classes begin at `pairs`.
fn ring_renege(heap: u32, pairs: u32) {
    let entry = heap_get(heap, 0u);
    let ring = entry.w;
    let place = ring_place(ring, entry.y);
    let who = ring_get(place);
    if (network[NETWORK_LINE + ring] == 0u) | (who.w != entry.z) { return; }
    ring_set(place, vec4<u32>(who.xyz, NONE));
    let line = network[NETWORK_LINE + ring] - 1u;
    network[NETWORK_LINE + ring] = line;
    if line == 0u {
        network[NETWORK_FIRST + ring] = 0u;
        network[NETWORK_SPAN + ring] = 0u;
    }
    let pair = pairs + PAIR_WORDS * who.z;
    network[pair + PAIR_RENEGED] += 1u;
    network_add(pair + PAIR_RENEGED + 1u, network_at - who.y);
}

fn heap_place(heap: u32, index: u32) -> u32 {
    let rings = NETWORK_RINGS * network_given.ring * NETWORK_RING_WORDS;
    return (rings + (heap * network_given.heap + index) * HEAP_WORDS) * network_given.jobs + network_slot;
}

// Time, entry, arrival, class.
fn heap_get(heap: u32, index: u32) -> vec4<u32> {
    return network_row(heap_place(heap, index));
}

fn heap_set(heap: u32, index: u32, entry: vec4<u32>) {
    network_set_row(heap_place(heap, index), entry);
}

// Adds a completion. Returns the time of the first.
fn heap_push(heap: u32, entry: vec4<u32>) -> u32 {
    let held = network[NETWORK_HELD + heap];
    if held >= network_given.heap {
        network_faults |= NETWORK_FULL;
        return NEVER;
    }
    network[NETWORK_HELD + heap] = held + 1u;
    let first = network_rings[heap_place(heap, 0u)];
    var place = held;
    // At most 32 levels.
    while place > 0u {
        let above = (place - 1u) / 2u;
        let other = heap_get(heap, above);
        if !network_before(entry, other) { break; }
        heap_set(heap, place, other);
        place = above;
        network_steps += 1u;
    }
    heap_set(heap, place, entry);
    return select(entry.x, min(entry.x, first), held > 0u);
}

// Removes the first completion of a heap that is not empty. Returns the time of the next.
fn heap_pop(heap: u32) -> u32 {
    let held = network[NETWORK_HELD + heap] - 1u;
    network[NETWORK_HELD + heap] = held;
    if held == 0u { return NEVER; }
    let entry = heap_get(heap, held);
    var first = entry.x;
    var place = 0u;
    // At most 32 levels.
    loop {
        var below = 2u * place + 1u;
        if below >= held { break; }
        var other = heap_get(heap, below);
        if below + 1u < held {
            let second = heap_get(heap, below + 1u);
            if network_before(second, other) {
                below += 1u;
                other = second;
            }
        }
        if !network_before(other, entry) { break; }
        if place == 0u { first = other.x; }
        heap_set(heap, place, other);
        place = below;
        network_steps += 1u;
    }
    heap_set(heap, place, entry);
    return first;
}
