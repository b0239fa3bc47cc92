// The slots of local teams' pools (pdes/replicas/team_local_pool.wgsl) in workgroup memory, during
// a slice.
//
// Functions: slot_event, slot_put, slot_next, slot_link; slots_fetch, slots_keep, slots_barrier.
//
// import: pdes/replicas/team_local_pool.wgsl
// provides: slot_event, slot_link, slot_next, slot_put, slots_barrier, slots_fetch, slots_keep
// needs: Item

var<workgroup> pool_events: array<Item, TEAMS * POOL>;
var<workgroup> pool_next: array<u32, TEAMS * POOL>;

// The start of the team's slots.
var<private> slots_first: u32;

fn slot_event(slot: u32) -> Item {
    return pool_events[slots_first + slot];
}

fn slot_put(slot: u32, event: Item) {
    pool_events[slots_first + slot] = event;
}

fn slot_next(slot: u32) -> u32 {
    return pool_next[slots_first + slot];
}

fn slot_link(slot: u32, next: u32) {
    pool_next[slots_first + slot] = next;
}

// Call it before the slice's first window and a barrier.
fn slots_fetch(team: u32, place: u32, member: u32) {
    slots_first = team * POOL;
    // Bound: the slots of each invocation.
    for (var i = member; i < POOL; i += LISTS) {
        pool_events[slots_first + i] = queue_events[place * POOL + i];
        pool_next[slots_first + i] = links[place * (POOL + LISTS) + i];
    }
}

// Call it after the slice's last window and a barrier.
fn slots_keep(place: u32, member: u32) {
    for (var i = member; i < POOL; i += LISTS) {
        queue_events[place * POOL + i] = pool_events[slots_first + i];
        links[place * (POOL + LISTS) + i] = pool_next[slots_first + i];
    }
}

// Call it in all invocations, before the barrier at the end of a window.
fn slots_barrier() {}
