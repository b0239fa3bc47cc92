// Slices of a replication: what is loaded at their begin, and saved at their end.
//
// import: facility/compiled/state.wgsl
// import: facility/compiled/visits.wgsl
// import: gpu/loops.wgsl
// import: gpu/wide.wgsl
// import: random/stream.wgsl
// import: time/ticks.wgsl
// needs: NETWORK_DETAILS, NETWORK_SLOTS, network_begin, network_forget
//
// bounds: as in facility/compiled/state.wgsl.

var<private> network_measures: bool; // whether statistics have begun

fn network_word(place: u32) -> u32 {
    return place * network_given.jobs + network_slot;
}

// Loads the replication in a slot of the batch. Returns whether it has not ended.
fn network_load(slot: u32) -> bool {
    network_slot = slot;
    let status = network_saved[network_word(NETWORK_STATUS)];
    if status == NETWORK_DONE { return false; }
    network_key = network_keys[slot];
    stream_open(network_key, 0u, TIME_ZERO);
    network_faults = 0u;
    network_steps = 0u;
    network_began = vec2<u32>(NEVER, NONE);
    go_to = NONE;
    go_place = 0u;
    go_admitted = false;
    go_released = false;
    network_reports = false;
    network_measures = all(network_given.warm_up == TIME_ZERO);
    if status == NETWORK_FRESH {
        for (var i = 0u; i < NETWORK_WORDS; i += 1u) { network[i] = 0u; }
        for (var i = 0u; i < NETWORK_SLOTS; i += 1u) { network[i] = NEVER; }
        for (var i = 0u; i < NETWORK_RESULTS; i += 1u) { network_results[network_word(i)] = 0u; }
        network_base = TIME_ZERO;
        network_now = 0u;
        network_at = 0u;
        network_list = 0u;
        network_mail = vec2<u32>(0u);
        network_round = 0u;
        network_serial = 0u;
        network_events_of_round = 0u;
        network_rounds = true;
        // Customers present at the start are the first list.
        network_begin();
    } else {
        let first = network_word(2u);
        let jobs = network_given.jobs;
        network_base = vec2<u32>(network_saved[first], network_saved[first + jobs]);
        network_measures = network_saved[first + 2u * jobs] != 0u;
        network_now = network_saved[first + 3u * jobs];
        network_round = network_saved[first + 4u * jobs];
        network_serial = network_saved[first + 5u * jobs];
        // A slice ends between rounds, with empty lists.
        network_rounds = false;
        network_list = 0u;
        network_mail = vec2<u32>(0u);
        network_events_of_round = 0u;
        for (var i = 0u; i < NETWORK_WORDS; i += 1u) { network[i] = network_saved[network_word(NETWORK_CONTROL + i)]; }
    }
    return true;
}

// The end of the present epoch, less the base, and whether the warm-up or the run ends there.
fn network_epoch() -> vec2<u32> {
    let end = select(network_given.warm_up, network_given.until, network_measures);
    let left = wide_subtract(end, network_base);
    let ends = (left.y == 0u) & (left.x <= EPOCH);
    return vec2<u32>(select(EPOCH, left.x, ends), u32(ends));
}

// An epoch ends: the base moves. Returns whether the run ends.
fn network_epoch_ends(epoch: vec2<u32>) -> bool {
    let ends = epoch.y != 0u;
    network_move(epoch.x);
    network_at = network_base.x;
    if NETWORK_DETAILS { network_flush(); }
    let measured = time_since(network_base, network_given.warm_up);
    network_visit(select(2u, u32(network_measures), ends), measured);
    let done = ends & network_measures;
    if ends & !network_measures { network_forget(); }
    network_measures = network_measures | ends;
    return done;
}

// Saves the replication. (A driver may also end the loop that saves.)
fn network_save(ended: bool) {
    for (var i = 0u; i < NETWORK_WORDS; i += 1u) { network_saved[network_word(NETWORK_CONTROL + i)] = network[i]; }
    if loops_cut(network_given.jobs) { network_faults |= NETWORK_CUT; }
    let done = ended | (network_faults != 0u);
    let first = network_word(NETWORK_STATUS);
    let jobs = network_given.jobs;
    network_saved[first] = select(NETWORK_ACTIVE, NETWORK_DONE, done);
    network_saved[first + jobs] = network_faults;
    network_saved[first + 2u * jobs] = network_base.x;
    network_saved[first + 3u * jobs] = network_base.y;
    network_saved[first + 4u * jobs] = u32(network_measures);
    network_saved[first + 5u * jobs] = network_now;
    network_saved[first + 6u * jobs] = network_round;
    network_saved[first + 7u * jobs] = network_serial;
    if !done { atomicAdd(&network_running[0], 1u); }
}
