// The loop over events, in the order of the interpreter: rounds of one time.
//
// import: facility/compiled/lines.wgsl
// import: facility/compiled/slices.wgsl
// import: facility/compiled/state.wgsl
// provides: network_send
// needs: NETWORK_BLOCKS, NETWORK_FORKS, NETWORK_HEAPS, NETWORK_KNOWN, NETWORK_OPEN
// needs: NETWORK_PREEMPTS, NETWORK_RINGS, NETWORK_RING_WORDS, network_arrive, network_freed
// needs: network_late, network_next, network_own
//
// bounds: as in facility/compiled/state.wgsl.

fn mail_place(list: u32, index: u32) -> u32 {
    let before = NETWORK_RINGS * network_given.ring * NETWORK_RING_WORDS + NETWORK_HEAPS * network_given.heap * HEAP_WORDS;
    return (before + (list * NETWORK_MAIL + index) * MAIL_WORDS) * network_given.jobs + network_slot;
}

// Kind, node, place and class; sender; entry; when it arrived at its sender.
fn mail_get(list: u32, index: u32) -> vec4<u32> {
    return network_row(mail_place(list, index));
}

fn mail_set(list: u32, index: u32, who: vec4<u32>) {
    network_set_row(mail_place(list, index), who);
}

fn mail_add(list: u32, who: vec4<u32>) {
    let count = network_mail[list];
    if count >= NETWORK_MAIL {
        network_faults |= NETWORK_BUSY;
    } else {
        mail_set(list, count, who);
        network_mail[list] = count + 1u;
    }
}

// The kind of a customer that arrives, which comes after those that leave a server.
const MAIL_ARRIVAL = 0x80000000u;

// The customer on its way waits in a list: of this round, or of the next.
fn network_send(list: u32) {
    var who = vec4<u32>(MAIL_ARRIVAL | (go_to << 16u) | go_class, go_from, go_entered, 0u);
    if NETWORK_BLOCKS {
        who.x |= go_place << 8u;
        who.w = go_came;
    }
    mail_add(list, who);
    go_to = NONE;
}

// A node has let in a customer that keeps a server at its sender: that one is free with the next
// round.
fn network_release(node: u32) {
    if go_place == 0u { return; }
    network_rounds = true;
    let class_ = (go_place - 1u) | (go_class & NETWORK_TASK);
    let who = vec4<u32>(((go_from - 1u) << 16u) | class_, 0u, go_entered, go_came);
    mail_add(select(1u - network_list, network_list, go_from == node + 1u), who);
}

fn mail_before(a: vec4<u32>, b: vec4<u32>) -> bool {
    let whose = vec2<u32>(a.x, b.x) & vec2<u32>(~NETWORK_TASK);
    if whose.x != whose.y { return whose.x < whose.y; }
    if a.y != b.y { return a.y < b.y; }
    if NETWORK_FORKS {
        // Customers, then tasks by fork and number.
        let forks = vec2<u32>(a.x, b.x) & vec2<u32>(NETWORK_TASK);
        if forks.x != forks.y { return forks.x < forks.y; }
        if (forks.x != 0u) & (a.z != b.z) { return a.z < b.z; }
    }
    // The older one has the larger age.
    if NETWORK_OPEN && a.z != b.z { return network_at - a.z > network_at - b.z; }
    return NETWORK_BLOCKS && network_at - a.w > network_at - b.w;
}

// The smallest customer of this round's list is on its way: of those that leave a server of a node,
// or (NONE) of all. Returns whether there is one.
fn network_receive(node: u32) -> bool {
    let list = network_list;
    let count = network_mail[list];
    var found = NONE;
    var who = vec4<u32>(0u);
    for (var i = 0u; i < count; i += 1u) {
        let other = mail_get(list, i);
        if NETWORK_BLOCKS && node != NONE && (other.x >> 16u) != node { continue; }
        if found == NONE || mail_before(other, who) {
            found = i;
            who = other;
        }
    }
    network_steps += count;
    if found == NONE { return false; }
    mail_set(list, found, mail_get(list, count - 1u));
    network_mail[list] = count - 1u;
    go_to = (who.x >> 16u) & 0x7fffu;
    go_place = (who.x >> 8u) & 0xffu;
    go_class = who.x & 0xffu;
    go_from = who.y;
    go_entered = who.z;
    go_came = who.w;
    go_released = (who.x & MAIL_ARRIVAL) == 0u;
    return true;
}

// The number of customers that another node knows of changes with the next round.
fn network_report(known: u32, change: u32) {
    network[NETWORK_MORE + NETWORK_KNOWN + known] += change;
    network_reports = true;
}

// Changes of the last round are known.
fn network_learn() {
    for (var i = 0u; i < NETWORK_KNOWN; i += 1u) {
        let changed = NETWORK_MORE + NETWORK_KNOWN + i;
        network[NETWORK_MORE + i] += network[changed];
        network[changed] = 0u;
    }
    network_reports = false;
}

// The first of the nodes with the fewest customers known, whose numbers begin at `known`. It gets
// one more.
fn network_shortest(known: u32, count: u32) -> u32 {
    var found = 0u;
    for (var i = 1u; i < count; i += 1u) {
        if network[known + i] < network[known + found] { found = i; }
    }
    network[known + found] += 1u;
    return found;
}

// If a server of a node is released in this round, and the node's event in a slot comes after that,
// it is free. Returns whether there is one.
fn network_frees(slot: u32) -> bool {
    let node = network_late(slot);
    if node == NONE || !network_receive(node) { return false; }
    network_freed();
    go_to = NONE;
    return true;
}

// Handles the events of a slice. Returns whether the run has ended. (Epochs end within the loop, so
// that neighbours need not wait for each other there.)
fn network_run() -> bool {
    var epoch = network_epoch();
    var slot = NONE;
    loop {
        network_at = network_base.x + network_now;
        if slot != NONE { network_own(slot); }
        // The next time and its slot.
        var next = network_next();
        slot = NONE;
        network_steps += 1u;
        network_round += 1u;
        network_rounds = network_rounds | (next.x == network_now);
        if network_round > NETWORK_ROUNDS { network_faults |= NETWORK_BUSY; }
        if network_faults != 0u { return true; }
        if network_rounds {
            // A customer that returns to its node at once belongs to this round.
            let returns = (go_from & ~TRIP) == go_to + 1u;
            if go_to != NONE { network_send(select(1u - network_list, network_list, returns)); }
            network_events_of_round += 1u;
            if next.x == network_now {
                // A server that the next node released is free before its node wakes.
                if NETWORK_BLOCKS && network_frees(next.y) { continue; }
                slot = next.y;
                continue;
            }
            if network_mail[network_list] == 0u {
                network_list = 1u - network_list;
                network_events_of_round = 0u;
                if NETWORK_KNOWN > 0u { network_learn(); }
            }
            network_rounds = network_mail[network_list] > 0u;
            if network_events_of_round > NETWORK_MAIL { network_faults |= NETWORK_BUSY; }
            if network_rounds { network_rounds = network_receive(NONE); }
            if NETWORK_BLOCKS && network_rounds && go_released {
                network_freed();
                go_to = NONE;
                continue;
            }
        }
        if NETWORK_KNOWN > 0u && !network_rounds && network_reports { network_learn(); }
        if go_to != NONE {
            network_began = vec2<u32>(NEVER, NONE);
            network_arrive();
            if network_rounds | (go_to != NONE) { continue; }
            // A service that was interrupted may have been the next to end.
            if NETWORK_PREEMPTS { next = network_next(); } else if network_began.x < next.x { next = network_began; }
            if NETWORK_KNOWN > 0u && network_reports { network_learn(); }
        }
        if next.x >= epoch.x {
            if network_epoch_ends(epoch) | (network_faults != 0u) { return true; }
            epoch = network_epoch();
            continue;
        }
        if network_steps >= network_given.steps { return false; }
        network_now = next.x;
        slot = next.y;
        network_round = 0u;
    }
    return true;
}
