// Customers in slots, and lines of waiting customers: rings. In a network with preemption, a place
// of a ring has a fifth word: the remainder of the customer's service, or NEVER.
//
// import: facility/compiled/state.wgsl
// import: random/distributions.wgsl
// needs: NETWORK_CLASS, NETWORK_CLASSES, NETWORK_FORKS, NETWORK_OPEN, NETWORK_PATIENCE
// needs: NETWORK_PREEMPTS, NETWORK_RING_WORDS, network_change
//
// bounds: as in facility/compiled/state.wgsl.

// A customer is served in a slot.
fn network_serves(slot: u32, entered: u32, arrived: u32, class_: u32) {
    let place = NETWORK_SERVED + SERVED_WORDS * slot;
    network[place] = entered;
    network[place + 1u] = arrived;
    if NETWORK_CLASSES > 1u || NETWORK_FORKS { network[place + 2u] = class_; }
}

// The customer in a slot: entry, arrival, class.
fn network_served(slot: u32) -> vec3<u32> {
    let place = NETWORK_SERVED + SERVED_WORDS * slot;
    var who = vec3<u32>(network[place], network[place + 1u], 0u);
    if NETWORK_CLASSES > 1u || NETWORK_FORKS { who.z = network[place + 2u]; }
    return who;
}

// If customers in two slots of a station leave at the same time, the first of them is in `slot`.
fn network_earliest(slot: u32, other: u32) {
    if network[slot] != network[other] { return; }
    let who = vec4<u32>(0u, network_served(slot));
    let second = vec4<u32>(0u, network_served(other));
    if !network_before(second, who) { return; }
    network_serves(slot, second.y, second.z, second.w);
    network_serves(other, who.y, who.z, who.w);
}

fn ring_place(ring: u32, index: u32) -> u32 {
    return ((ring * network_given.ring + index) * NETWORK_RING_WORDS) * network_given.jobs + network_slot;
}

fn ring_set(place: u32, who: vec4<u32>) {
    network_rings[place] = who.x;
    network_rings[place + network_given.jobs] = who.y;
    if NETWORK_RING_WORDS > 2u { network_rings[place + 2u * network_given.jobs] = who.z; }
    if NETWORK_RING_WORDS > 3u { network_rings[place + 3u * network_given.jobs] = who.w; }
}

fn ring_get(place: u32) -> vec4<u32> {
    var who = vec4<u32>(network_rings[place], network_rings[place + network_given.jobs], 0u, 0u);
    if NETWORK_RING_WORDS > 2u { who.z = network_rings[place + 2u * network_given.jobs]; }
    if NETWORK_RING_WORDS > 3u { who.w = network_rings[place + 3u * network_given.jobs]; }
    return who;
}

// The serial number of the customer at a place of a ring; NONE if that is empty.
fn ring_serial(ring: u32, index: u32) -> u32 {
    return network_rings[ring_place(ring, index) + 3u * network_given.jobs];
}

// The number of places of a ring in use.
fn ring_span(ring: u32) -> u32 {
    return network[select(NETWORK_LINE, NETWORK_SPAN, NETWORK_PATIENCE) + ring];
}

// The arriving customer joins a line. Returns its place.
fn ring_join(ring: u32) -> u32 {
    network_serial += 1u;
    return ring_push(ring, vec4<u32>(go_entered, network_at, go_class, network_serial));
}

// It waits at its sender, whose server it keeps.
fn ring_block(ring: u32) {
    _ = ring_push(ring, vec4<u32>(go_entered, go_came, go_class | (go_place << 8u), go_from));
}

// A blocked customer comes in.
fn ring_admit(ring: u32) {
    let who = ring_take(ring, false);
    go_entered = who.x;
    go_came = who.y;
    go_class = who.z & 0xffu;
    go_place = who.z >> 8u;
    go_from = who.w;
    go_admitted = true;
}

fn ring_push(ring: u32, who: vec4<u32>) -> u32 {
    let span = ring_span(ring);
    if span >= network_given.ring {
        network_faults |= NETWORK_FULL;
        return 0u;
    }
    let place = (network[NETWORK_FIRST + ring] + span) & (network_given.ring - 1u);
    ring_set(ring_place(ring, place), who);
    if NETWORK_PREEMPTS { ring_set_left(ring_place(ring, place), NEVER); }
    network[NETWORK_LINE + ring] += 1u;
    network[NETWORK_SPAN + ring] = span + 1u;
    return place;
}

fn ring_left(place: u32) -> u32 {
    return network_rings[place + 4u * network_given.jobs];
}

fn ring_set_left(place: u32, left: u32) {
    network_rings[place + 4u * network_given.jobs] = left;
}

// The slot of the customer that an arriving one interrupts, or NONE: of the last class and, within
// it, of the service that began last. Words from `began` on have the order.
fn network_worst(first: u32, count: u32, began: u32) -> u32 {
    var worst = NONE;
    var found = vec2<u32>(go_class & NETWORK_CLASS, 0u);
    for (var i = 0u; i < count; i += 1u) {
        let serves = vec2<u32>(network[NETWORK_SERVED + 3u * (first + i) + 2u] & NETWORK_CLASS, network[began + i]);
        if (serves.x > found.x) | ((serves.x == found.x) & (worst != NONE) & (serves.y > found.y)) {
            worst = first + i;
            found = serves;
        }
    }
    return worst;
}

// The customer in a slot is interrupted and becomes the first of the line of its class.
fn network_interrupt(slot: u32, rings: u32, pairs: u32) {
    let at = NETWORK_SERVED + 3u * slot;
    let class_ = network[at + 2u];
    let ring = rings + (class_ & NETWORK_CLASS);
    let span = ring_span(ring);
    if span >= network_given.ring {
        network_faults |= NETWORK_FULL;
        return;
    }
    let first = (network[NETWORK_FIRST + ring] - 1u) & (network_given.ring - 1u);
    network[NETWORK_FIRST + ring] = first;
    network[NETWORK_LINE + ring] += 1u;
    network[NETWORK_SPAN + ring] = span + 1u;
    network_serial += 1u;
    ring_set(ring_place(ring, first), vec4<u32>(network[at], network[at + 1u], class_, network_serial));
    let ends = network[slot];
    ring_set_left(ring_place(ring, first), select(ends - network_now, FAR, ends >= FAR));
    network_change(pairs + PAIR_WORDS * (class_ & NETWORK_CLASS) + PAIR_RESUMED, -1);
}

// The interrupted service of a customer of a class with these words continues. Returns its end.
fn network_resume(pair: u32) -> u32 {
    network_change(pair + PAIR_RESUMED, 1);
    if network_left == FAR { return FAR; }
    return network_when(vec2<u32>(network_left, 0u));
}

// The first of a line, or the last, which is not empty, leaves it.
fn ring_take(ring: u32, last: bool) -> vec4<u32> {
    let mask = network_given.ring - 1u;
    let line = network[NETWORK_LINE + ring] - 1u;
    var first = network[NETWORK_FIRST + ring];
    var span = ring_span(ring);
    // Each place is passed once. (The customer is read behind the loop: llvmpipe loses what a loop
    // makes and does not read, where neighbours leave it in other iterations.)
    loop {
        span -= 1u;
        first = select(first + 1u, first, last);
        if !NETWORK_PATIENCE { break; }
        network_steps += 1u;
        if (ring_serial(ring, select(first - 1u, first + span, last) & mask) != NONE) | (span == 0u) { break; }
    }
    let place = ring_place(ring, select(first - 1u, first + span, last) & mask);
    first &= mask;
    let who = ring_get(place);
    if NETWORK_PREEMPTS { network_left = ring_left(place); }
    // Its patience no longer finds it.
    if NETWORK_PATIENCE { network_rings[place + 3u * network_given.jobs] = NONE; }
    // An empty ring begins at its first place again, so that memory in use stays close together.
    network[NETWORK_FIRST + ring] = select(first, 0u, line == 0u);
    network[NETWORK_SPAN + ring] = select(span, 0u, line == 0u);
    network[NETWORK_LINE + ring] = line;
    return who;
}

// A customer of a line without order leaves it; the last one takes its place.
fn ring_pick(ring: u32, row: u32, pair: u32) -> vec4<u32> {
    let line = network[NETWORK_LINE + ring];
    network_stream(row, DRAW_PICK, network_count(pair + PAIR_POLLED));
    let place = ring_place(ring, draw_below(line));
    let who = ring_get(place);
    ring_set(place, ring_get(ring_place(ring, line - 1u)));
    network[NETWORK_LINE + ring] = line - 1u;
    network[NETWORK_SPAN + ring] = line - 1u;
    return who;
}

// The first of the rings of classes, from a class on, that is not empty; NONE if all are.
fn ring_next(first: u32, from_: u32) -> u32 {
    for (var i = 0u; i < NETWORK_CLASSES; i += 1u) {
        let ring = first + (from_ + i) % NETWORK_CLASSES;
        if network[NETWORK_LINE + ring] > 0u { return ring; }
    }
    return NONE;
}

// Whether the first of two completions of one station comes first: by time, class, entry, arrival.
fn network_before(a: vec4<u32>, b: vec4<u32>) -> bool {
    if a.x != b.x { return a.x < b.x; }
    let whose = vec2<u32>(a.w, b.w) & vec2<u32>(~NETWORK_TASK);
    if whose.x != whose.y { return whose.x < whose.y; }
    if NETWORK_FORKS {
        // Customers, then tasks by fork and number.
        let forks = vec2<u32>(a.w, b.w) & vec2<u32>(NETWORK_TASK);
        if forks.x != forks.y { return forks.x < forks.y; }
        if (forks.x != 0u) & (a.y != b.y) { return a.y < b.y; }
    }
    // The older one has the larger age.
    if NETWORK_OPEN && a.y != b.y { return network_at - a.y > network_at - b.y; }
    return network_at - a.z > network_at - b.z;
}
