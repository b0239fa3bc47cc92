// The slots of local teams' pools (pdes/replicas/team_local_pool.wgsl) in buffers, where they are
// between slices: for pools that do not fit workgroup memory. One multiprocessor reads and writes
// them, so its cache holds them.
//
// Functions: slot_event, slot_put, slot_next, slot_link; slots_fetch, slots_keep, slots_barrier.
//
// import: pdes/replicas/team_local_pool.wgsl
// provides: slot_event, slot_link, slot_next, slot_put, slots_barrier, slots_fetch, slots_keep
// needs: Item

// The starts of the run's events and links.
var<private> slots_first: u32;
var<private> links_first: u32;

fn slot_event(slot: u32) -> Item {
    return queue_events[slots_first + slot];
}

fn slot_put(slot: u32, event: Item) {
    queue_events[slots_first + slot] = event;
}

fn slot_next(slot: u32) -> u32 {
    return links[links_first + slot];
}

fn slot_link(slot: u32, next: u32) {
    links[links_first + slot] = next;
}

fn slots_fetch(team: u32, place: u32, member: u32) {
    slots_first = place * POOL;
    links_first = place * (POOL + LISTS);
}

fn slots_keep(place: u32, member: u32) {}

// Call it in all invocations, before the barrier at the end of a window.
fn slots_barrier() {
    storageBarrier();
}
