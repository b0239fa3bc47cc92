// Visits of all customers, at the end of the warm-up, at the end, and when the base moves on.
//
// import: facility/compiled/heaps.wgsl
// import: facility/compiled/lines.wgsl
// import: facility/compiled/state.wgsl
// import: gpu/wide.wgsl
// import: random/distributions.wgsl
// needs: NETWORK_BLOCKS, NETWORK_CLASS, NETWORK_CLASSES, NETWORK_LONG, NETWORK_NODES, NETWORK_OPEN
// needs: NETWORK_PATIENCE, NETWORK_PREEMPTS, NETWORK_RINGS, NETWORK_SLOTS
//
// bounds: as in facility/compiled/state.wgsl.

// Visits a customer: adds to the results of a visit (2: none), and checks its age.
fn visit_customer(visit: u32, pair: u32, who: vec3<u32>, serves: bool, measured: vec2<u32>) {
    let age = network_at - who.y;
    // (A task has a number instead of its time of entry.)
    let whole = select(age, max(age, network_at - who.x), NETWORK_OPEN && (who.z & NETWORK_TASK) == 0u);
    if whole >= LONG { network_faults |= NETWORK_OLD; }
    if visit > 1u { return; }
    let jobs = network_given.jobs;
    let place = ((visit * NETWORK_NODES * NETWORK_CLASSES + pair + (who.z & NETWORK_CLASS)) * VISIT_WORDS) * jobs + network_slot;
    network_results[place] += 1u;
    visit_add(place + 2u * jobs, age);
    visit_add(place + 6u * jobs, select(min(age, measured.x), age, measured.y != 0u));
    if serves {
        network_results[place + jobs] += 1u;
        visit_add(place + 4u * jobs, age);
    }
}

fn visit_add(place: u32, more: u32) {
    let sum = network_results[place] + more;
    network_results[place] = sum;
    if sum < more { network_results[place + network_given.jobs] += 1u; }
}

// Visits all customers. `measured` is the time since the end of the warm-up.
fn network_visit(visit: u32, measured: vec2<u32>) {
    for (var slot = 0u; slot < NETWORK_SLOTS; slot += 1u) {
        let row = network_data[slot];
        if NETWORK_OPEN && row.z != 0u {
            // Customers on their way.
            let count = network[NETWORK_HELD + row.y];
            for (var i = 0u; i < count; i += 1u) {
                let who = heap_get(row.y, i);
                if ((who.y & NETWORK_TASK) == 0u) & (network_at - who.w >= LONG) { network_faults |= NETWORK_OLD; }
            }
            network_steps += count;
        }
        if row.x != NONE {
            // All customers of a heap, or the one of the slot.
            var count = u32(network[slot] != NEVER);
            if row.y != NONE { count = network[NETWORK_HELD + row.y]; }
            for (var i = 0u; i < count; i += 1u) {
                var who = network_served(slot);
                if row.y != NONE { who = heap_get(row.y, i).yzw; }
                visit_customer(visit, row.x, who, true, measured);
            }
            network_steps += count + 1u;
        }
    }
    for (var ring = 0u; ring < NETWORK_RINGS; ring += 1u) {
        let span = ring_span(ring);
        for (var i = 0u; i < span; i += 1u) {
            let place = (network[NETWORK_FIRST + ring] + i) & (network_given.ring - 1u);
            let at = ring_place(ring, place);
            let who = ring_get(at);
            if NETWORK_PATIENCE && who.w == NONE { continue; }
            let row = network_data[NETWORK_SLOTS + ring];
            if NETWORK_BLOCKS && row.y != 0u {
                // A blocked customer keeps a server at its sender.
                let sent = vec3<u32>(who.xy, ((who.z >> 8u) - 1u) | (who.z & NETWORK_TASK));
                visit_customer(visit, (who.w - 1u) * NETWORK_CLASSES, sent, true, measured);
                continue;
            }
            // An interrupted customer has been served.
            visit_customer(visit, row.x, who.xyz, NETWORK_PREEMPTS && ring_left(at) != NEVER, measured);
        }
        network_steps += span + 1u;
    }
}

// The base moves on.
fn network_move(by: u32) {
    for (var slot = 0u; slot < NETWORK_SLOTS; slot += 1u) {
        network[slot] -= select(by, 0u, network[slot] >= FAR);
        let heap = network_data[slot].y;
        if heap != NONE {
            let held = network[NETWORK_HELD + heap];
            for (var i = 0u; i < held; i += 1u) {
                let place = heap_place(heap, i);
                network_rings[place] -= select(by, 0u, network_rings[place] >= FAR);
            }
            network_steps += held;
        }
    }
    network_base = add_word(network_base, by);
    if NETWORK_LONG { network_near(); }
    network_now = PAST;
}

// Times that were far ahead are near.
fn network_near() {
    for (var slot = 0u; slot < NETWORK_SLOTS; slot += 1u) {
        let row = network_data[slot];
        if network[slot] != FAR || row.x != NONE || row.y != NONE { continue; }
        let due = vec2<u32>(network[NETWORK_DUE + 2u * slot], network[NETWORK_DUE + 2u * slot + 1u]);
        let left = wide_subtract(due, network_base);
        if (left.y == 0u) & (left.x < LONG) { network[slot] = left.x; }
    }
}

// Adds the time with the present numbers of customers.
fn network_flush() {
    for (var node = 0u; node < NETWORK_NODES; node += 1u) { network_number(node, network[NETWORK_NUMBERS + 2u * node]); }
}
