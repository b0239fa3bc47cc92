// Runs compiled networks, a slice of each replication at a time.
//
// import: facility/compiled/rounds.wgsl
// import: facility/compiled/state.wgsl
// import: facility/compiled/visits.wgsl
// import: gpu/loops.wgsl
// import: gpu/wide.wgsl
// import: random/stream.wgsl
// import: time/ticks.wgsl
// needs: NETWORK_DETAILS, NETWORK_SLOTS, network_begin
//
// bounds: as in facility/compiled/state.wgsl.

fn network_word(place: u32) -> u32 {
    return place * network_given.jobs + network_slot;
}

// Runs a slice of the replication in a slot of the batch.
fn network_slice(slot: u32) {
    network_slot = slot;
    let status = network_saved[network_word(NETWORK_STATUS)];
    if status == NETWORK_DONE { return; }
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
    var measures = all(network_given.warm_up == TIME_ZERO); // whether statistics have begun
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
        measures = network_saved[first + 2u * jobs] != 0u;
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
    var done = false;
    loop {
        let end = select(network_given.warm_up, network_given.until, measures);
        let left = wide_subtract(end, network_base);
        let ends = (left.y == 0u) & (left.x <= EPOCH);
        let limit = select(EPOCH, left.x, ends);
        if !network_run(limit) | (network_faults != 0u) { break; }
        network_move(limit);
        network_at = network_base.x;
        if NETWORK_DETAILS { network_flush(); }
        let measured = time_since(network_base, network_given.warm_up);
        network_visit(select(2u, u32(measures), ends), measured);
        if ends {
            done = measures;
            if !measures { network_forget(); }
            measures = true;
        }
        if done | (network_faults != 0u) { break; }
    }
    if loops_cut(network_given.jobs) { network_faults |= NETWORK_CUT; }
    done = done | (network_faults != 0u);
    let first = network_word(NETWORK_STATUS);
    let jobs = network_given.jobs;
    network_saved[first] = select(NETWORK_ACTIVE, NETWORK_DONE, done);
    network_saved[first + jobs] = network_faults;
    network_saved[first + 2u * jobs] = network_base.x;
    network_saved[first + 3u * jobs] = network_base.y;
    network_saved[first + 4u * jobs] = u32(measures);
    network_saved[first + 5u * jobs] = network_now;
    network_saved[first + 6u * jobs] = network_round;
    network_saved[first + 7u * jobs] = network_serial;
    for (var i = 0u; i < NETWORK_WORDS; i += 1u) { network_saved[network_word(NETWORK_CONTROL + i)] = network[i]; }
    if !done { atomicAdd(&network_running[0], 1u); }
}

override GROUP_SIZE: u32 = 32u;

@compute @workgroup_size(GROUP_SIZE)
fn network_kernel(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
                  @builtin(local_invocation_index) lane: u32) {
    let slot = (group.y * groups.x + group.x) * GROUP_SIZE + lane;
    if slot < network_given.jobs { network_slice(slot); }
}
