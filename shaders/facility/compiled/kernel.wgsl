// Runs compiled networks, a slice of each replication at a time.
//
// import: facility/compiled/rounds.wgsl
// import: facility/compiled/slices.wgsl
// import: facility/compiled/state.wgsl
// provides: network_forget, network_late
// needs: NETWORK_CLASSES, NETWORK_DETAILS, NETWORK_NODES
//
// bounds: as in facility/compiled/state.wgsl.

// Runs a slice of the replication in a slot of the batch.
fn network_slice(slot: u32) {
    if network_load(slot) { network_save(network_run()); }
}

// The node of a slot whose events follow the release of its servers at one time, or NONE.
fn network_late(slot: u32) -> u32 {
    return network_data[slot].w;
}

// Statistics begin: sums are zero.
fn network_forget() {
    for (var pair = 0u; pair < NETWORK_NODES * NETWORK_CLASSES; pair += 1u) {
        for (var i = 0u; i < PAIR_SUMS; i += 1u) { network[NETWORK_PAIRS + PAIR_WORDS * pair + i] = 0u; }
    }
    if NETWORK_DETAILS {
        for (var i = NETWORK_BINS; i < NETWORK_RESULTS; i += 1u) {
            network_results[i * network_given.jobs + network_slot] = 0u;
        }
    }
}

override GROUP_SIZE: u32 = 32u;

@compute @workgroup_size(GROUP_SIZE)
fn network_kernel(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
                  @builtin(local_invocation_index) lane: u32) {
    let slot = (group.y * groups.x + group.x) * GROUP_SIZE + lane;
    if slot < network_given.jobs { network_slice(slot); }
}
