// The pending events of a replication: a binary heap of events in rows 1 to pending_held of
// process_pending. The children of row i are rows 2 i and 2 i + 1, side by side in a sector of
// memory. While an event executes, row 1 is free for the first event that it schedules, so that
// an event costs one way down the heap.
//
// import: pdes/payload_2.wgsl
// import: time/ticks.wgsl
// provides: pending_first, pending_get, pending_held, pending_open, pending_take, schedule
// needs: PROCESS_PENDING, pending_before, process_given, process_place, process_trouble
//
// bounds: pending_held is at most process_given.pending, and the buffer has two more rows. Loops
// end after a step for each of 32 levels.

@group(0) @binding(4) var<storage, read_write> process_pending: array<vec4<u32>>;

var<private> pending_held: u32;
// The first event, which is in row 1 too unless that is free.
var<private> pending_root: Item;
var<private> pending_free: bool;
// The first event that the present one scheduled.
var<private> pending_any: bool;
var<private> pending_next: Item;

fn pending_get(index: u32) -> Item {
    return process_pending[process_place(index)];
}

fn pending_set(index: u32, event: Item) {
    process_pending[process_place(index)] = event;
}

// Begins a slice with this number of events, of which row 1 is free in a fresh replication.
fn pending_open(held: u32, fresh: bool) {
    pending_held = held + u32(fresh);
    pending_free = fresh;
    pending_any = false;
    pending_root = vec4<u32>(TIME_NEVER, 0u, 0u);
    if pending_held > u32(fresh) { pending_root = pending_get(1u); }
}

// The first event, at TIME_NEVER if nothing is pending.
fn pending_first() -> Item {
    if !pending_free { return pending_root; }
    pending_free = false;
    var event = pending_next;
    if !pending_any {
        event = pending_get(pending_held);
        pending_held -= 1u;
        if pending_held == 0u { event = vec4<u32>(TIME_NEVER, 0u, 0u); }
    }
    pending_any = false;
    pending_root = event;
    var place = 1u;
    while 2u * place <= pending_held {
        let left = pending_get(2u * place);
        // Beyond the last one is any row.
        let right = pending_get(2u * place + 1u);
        let is_right = (2u * place < pending_held) & pending_before(right, left);
        let child = select(left, right, is_right);
        if !pending_before(child, event) { break; }
        pending_set(place, child);
        pending_root = select(pending_root, child, place == 1u);
        place = 2u * place + u32(is_right);
    }
    pending_set(place, event);
    return pending_root;
}

// The first event executes.
fn pending_take() {
    pending_free = true;
}

fn schedule(lp: u32, time: vec2<u32>, payload: Payload) {
    let event = event_item(time, payload);
    if !pending_any {
        pending_any = true;
        pending_next = event;
        return;
    }
    if pending_held >= process_given.pending {
        process_trouble |= PROCESS_PENDING;
        return;
    }
    pending_held += 1u;
    var place = pending_held;
    // Row 1 is free.
    while place > 3u {
        let above = pending_get(place / 2u);
        if !pending_before(event, above) { break; }
        pending_set(place, above);
        place = place / 2u;
    }
    pending_set(place, event);
}
