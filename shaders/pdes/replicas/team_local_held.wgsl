// Iterates over the pending events of an LP of a local team between slices: its list, then its
// inbox.
//
// Functions: held_open, held_more, held_next.
//
// import: pdes/replicas/team_local_pool.wgsl
// provides: held_more, held_next, held_open
// needs: Item, shared_run

var<private> held_place: u32;
var<private> held_slot: u32;
var<private> held_inbox: u32;

fn held_open(row: u32) {
    held_place = row / shared_run.total;
    held_slot = lps[row].z;
    held_inbox = links[held_place * (shared_run.queue_capacity + shared_run.queue_stride) + shared_run.queue_capacity + row - held_place * shared_run.total];
    if held_slot == NONE {
        held_slot = held_inbox;
        held_inbox = NONE;
    }
}

fn held_more() -> bool {
    return held_slot != NONE;
}

fn held_next() -> Item {
    let event = queue_events[held_place * shared_run.queue_capacity + held_slot];
    held_slot = links[held_place * (shared_run.queue_capacity + shared_run.queue_stride) + held_slot];
    if held_slot == NONE {
        held_slot = held_inbox;
        held_inbox = NONE;
    }
    return event;
}
