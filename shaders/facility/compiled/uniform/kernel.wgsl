// Runs networks in the uniform form, a slice of each replication at a time. GROUP_SIZE is a
// constant of the network's text, because the state of a workgroup's replications may be in its
// memory.
//
// import: facility/compiled/rounds.wgsl
// import: facility/compiled/slices.wgsl
// import: facility/compiled/state.wgsl
// import: facility/compiled/uniform/events.wgsl
// import: facility/compiled/uniform/tables.wgsl
// provides: network_begin, network_forget
// needs: GROUP_SIZE, NETWORK_BREAKS, NETWORK_CALENDARS, NETWORK_CLASSES, NETWORK_NODES
// needs: NETWORK_WAKES
//
// bounds: as in facility/compiled/state.wgsl.

var<private> network_lane: u32; // of the workgroup

// First times of sources, and customers present at the start.
fn network_begin() {
    for (var node = 0u; node < NETWORK_NODES; node += 1u) {
        let row = node_row(node);
        let main = network_data[row];
        let more = network_data[row + 1u];
        let own = network_data[row + NODE_OWN];
        let kind = main.x & NODE_KIND;
        if kind == NODE_SOURCE {
            let place = pair_row(node, own.w);
            let number = network_count(more.x + PAIR_WORDS * own.w + PAIR_SERVICES);
            network[main.y] = network_drawn(place, place + PAIR_WAYS, DRAW_SERVICE, number);
        }
        if NETWORK_WAKES && kind == NODE_HEAP && main.z != NONE { network[more.x + PAIR_OPEN] = main.z; }
        if NETWORK_CALENDARS && own.y != NONE { network[own.y] = 0u; }
        if NETWORK_BREAKS && (main.x & NODE_BREAKS) != 0u {
            let number = network_count(more.x + PAIR_SHIFTS);
            network[own.z] = network_drawn(row + NODE_UP, own.x, DRAW_UP, number);
        }
        for (var class_ = 0u; class_ < NETWORK_CLASSES; class_ += 1u) {
            let present = network_data[pair_row(node, class_) + PAIR_MORE].w;
            for (var i = 0u; i < present; i += 1u) {
                go_to = node;
                go_class = class_;
                go_from = 0u;
                go_entered = 0u;
                network_send(network_list);
            }
        }
    }
}

// Statistics begin: sums are zero.
fn network_forget() {
    for (var node = 0u; node < NETWORK_NODES; node += 1u) {
        let row = node_row(node);
        let sums = network_data[row].x >> 16u;
        let words = network_data[row + 1u].x;
        for (var class_ = 0u; class_ < NETWORK_CLASSES; class_ += 1u) {
            for (var i = 0u; i < sums; i += 1u) { network[words + PAIR_WORDS * class_ + i] = 0u; }
        }
    }
}

@compute @workgroup_size(GROUP_SIZE)
fn network_kernel(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
                  @builtin(local_invocation_index) lane: u32) {
    let slot = (group.y * groups.x + group.x) * GROUP_SIZE + lane;
    network_lane = lane;
    if slot < network_given.jobs && network_load(slot) { network_save(network_run()); }
}
