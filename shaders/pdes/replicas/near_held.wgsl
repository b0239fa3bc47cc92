// What the LPs of a replica by a near team hold, between slices: the list of each, then its inbox.
//
// Functions: held_open, held_more, held_next.
//
// import: pdes/replicas/near_pool.wgsl
// provides: held_more, held_next, held_open
// needs: Item, given

var<private> held_place: u32;
var<private> held_slot: u32;
var<private> held_inbox: u32;

fn held_open(row: u32) {
    held_place = row / given.total;
    held_slot = lps[row].z;
    held_inbox = links[held_place * (given.queue_capacity + given.queue_stride) + given.queue_capacity + row - held_place * given.total];
    if held_slot == NONE {
        held_slot = held_inbox;
        held_inbox = NONE;
    }
}

fn held_more() -> bool {
    return held_slot != NONE;
}

fn held_next() -> Item {
    let event = queue_events[held_place * given.queue_capacity + held_slot];
    held_slot = links[held_place * (given.queue_capacity + given.queue_stride) + held_slot];
    if held_slot == NONE {
        held_slot = held_inbox;
        held_inbox = NONE;
    }
    return event;
}
