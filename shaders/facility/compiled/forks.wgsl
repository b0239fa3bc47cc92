// Customers of forks, whose tasks are elsewhere. A ring has them at fixed places: entry, arrival,
// class, missing tasks. An empty place has the next empty one instead of the entry, and NONE.
//
// import: facility/compiled/lines.wgsl
// import: facility/compiled/state.wgsl
// needs: NETWORK_CLASS
//
// bounds: as in facility/compiled/state.wgsl.

// The arriving customer stays at a fork. Returns its number, which is the smallest one that was
// never used, or the last one that became free: tasks are ordered by it.
fn fork_join(ring: u32, pairs: u32) -> u32 {
    let number = network[pairs + PAIR_FREE];
    if number >= network_given.ring {
        network_faults |= NETWORK_FULL;
        return 0u;
    }
    let place = ring_place(ring, number);
    var next = number + 1u;
    if number < network[NETWORK_SPAN + ring] {
        next = ring_get(place).x;
    } else {
        network[NETWORK_SPAN + ring] = next;
    }
    network[pairs + PAIR_FREE] = next;
    network[NETWORK_LINE + ring] += 1u;
    ring_set(place, vec4<u32>(go_entered, network_at, go_class, 0u));
    return number;
}

// Sets the number of missing tasks.
fn fork_expects(ring: u32, number: u32, tasks: u32) {
    network_rings[ring_place(ring, number) + 3u * network_given.jobs] = tasks;
}

// A task comes back. Returns its customer, whose last word is the number of missing tasks. After
// the last one, the customer leaves.
fn fork_return(ring: u32, pairs: u32) -> vec4<u32> {
    let place = ring_place(ring, go_entered);
    var who = ring_get(place);
    who.w -= 1u;
    let pair = pairs + PAIR_WORDS * (who.z & NETWORK_CLASS);
    network[pair + PAIR_JOINED] += 1u;
    ring_set(place, who);
    if who.w == 0u {
        ring_set(place, vec4<u32>(network[pairs + PAIR_FREE], 0u, 0u, NONE));
        network[pairs + PAIR_FREE] = go_entered;
        network[NETWORK_LINE + ring] -= 1u;
        network_leaves(pair, network_at - who.y);
    }
    return who;
}
