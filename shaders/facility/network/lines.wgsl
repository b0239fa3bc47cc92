// Waiting customers of a station: slots in LP memory, linked into lines; and servers with rows.
//
// Lines: one for each class with its own priority (lower first), else the first line for all; and
// BLOCKED. A slot is free or in one line. The second word of a free slot's row 1 is the distance
// from the slot after it to the next free one: memory that was never written is a list of all
// slots.
//
// A station with RANDOM order keeps its slots contiguous, without links. So does a RING, from which
// only the first customer leaves: it has RING_SIZE slots, doubled on demand, in a circle from
// `free`.

fn slot_row(slot: u32, row: u32) -> vec4<u32> {
    return memory_get(params.slots + slot * params.slot_rows + row);
}

fn set_slot_row(slot: u32, row: u32, words: vec4<u32>) {
    memory_set(params.slots + slot * params.slot_rows + row, words);
}

// Puts a customer at the end or the front of a line. Returns its slot.
fn wait(lp: u32, who: Customer, line: u32, in_front: bool, state: ptr<function, State>) -> u32 {
    // Contiguous for RANDOM and RING, else the first of the free list.
    let discipline = discipline_of(lp);
    let random = discipline == RANDOM;
    let ring = discipline == RING;
    var slot = select((*state).free, (*state).waiting, random | ring);
    if slot >= params.room {
        memory_full();
        return 0u;
    }
    if ring { slot = ring_end(state); }
    (*state).waiting += u32(line != BLOCKED);
    var neighbours = vec2<u32>(0u);
    if !(random | ring) {
        (*state).free = slot + 1u + slot_row(slot, 1u).y;
        var ends = memory_get(line);
        neighbours = select(vec2<u32>(0u, ends.y), vec2<u32>(ends.x, 0u), in_front);
        link(select(ends.y, ends.x, in_front), select(1u, 2u, in_front), slot + 1u);
        if in_front {
            ends = vec4<u32>(slot + 1u, select(ends.y, slot + 1u, ends.y == 0u), ends.zw);
        } else {
            ends = vec4<u32>(select(ends.x, slot + 1u, ends.x == 0u), slot + 1u, ends.zw);
        }
        memory_set(line, ends);
    }
    set_slot_row(slot, 0u, vec4<u32>(who.entered, who.arrived));
    if !SIMPLE && params.slot_rows > 1u { set_slot_row(slot, 1u, vec4<u32>(who.class_, neighbours, next_serial(state))); }
    if SPECIAL && params.slot_rows > 2u { set_slot_row(slot, 2u, vec4<u32>(who.left, 0u, 0u)); }
    return slot;
}

// The next slot of a ring. The ring's size depends on the largest number that waited, not on the
// room.
fn ring_end(state: ptr<function, State>) -> u32 {
    let size = RING_SIZE << (*state).polled;
    let first = (*state).free;
    let waiting = (*state).waiting;
    if waiting < size { return (first + waiting) & (size - 1u); }
    // Doubles the ring: moves the slots before `first` behind the others, or those from `first` on
    // to the end, whichever are fewer.
    let before = first <= size / 2u;
    let end = select(size, first, before);
    // Bound: half of the new size.
    for (var slot = select(first, 0u, before); slot < end; slot += 1u) { move_slot(slot, size + slot, params.slot_rows); }
    (*state).free = select(size + first, first, before);
    (*state).polled += 1u;
    return ((*state).free + waiting) & (2u * size - 1u);
}

// Sets the next (1) or previous (2) slot of a slot, if there is one.
fn link(slot: u32, side: u32, other: u32) {
    if slot == 0u { return; }
    var row = slot_row(slot - 1u, 1u);
    row = select(vec4<u32>(row.xy, other, row.w), vec4<u32>(row.x, other, row.zw), side == 1u);
    set_slot_row(slot - 1u, 1u, row);
}

// Removes a customer from a line.
fn drop_out(lp: u32, slot: u32, line: u32, state: ptr<function, State>) {
    (*state).waiting -= u32(line != BLOCKED);
    let discipline = discipline_of(lp);
    if discipline == RING {
        // An empty ring restarts at slot 0, so that memory in use stays close together.
        let after = ((*state).free + 1u) & ((RING_SIZE << (*state).polled) - 1u);
        (*state).free = select(after, 0u, (*state).waiting == 0u);
        return;
    }
    if discipline == RANDOM {
        // The last customer moves to its slot.
        move_slot((*state).waiting, slot, params.slot_rows);
        return;
    }
    let row = slot_row(slot, 1u);
    // Twice: the previous and the next customer.
    for (var side = 1u; side <= 2u; side += 1u) {
        link(select(row.y, row.z, side == 1u), side, select(row.z, row.y, side == 1u));
    }
    let ends = memory_get(line);
    memory_set(line, vec4<u32>(select(ends.x, row.y, row.z == 0u), select(ends.y, row.z, row.y == 0u), ends.zw));
    set_slot_row(slot, 1u, vec4<u32>(0u, (*state).free - (slot + 1u), 0u, 0u));
    (*state).free = slot;
}

// Copies a slot's rows.
fn move_slot(from_: u32, to: u32, rows: u32) {
    for (var row = 0u; row < rows; row += 1u) { set_slot_row(to, row, slot_row(from_, row)); }
}

// The customer in a slot.
fn customer_of(slot: u32) -> Customer {
    let times = slot_row(slot, 0u);
    var who = Customer(0u, times.xy, times.zw, TIME_NEVER);
    if !SIMPLE && params.slot_rows > 1u { who.class_ = slot_row(slot, 1u).x; }
    if SPECIAL && params.slot_rows > 2u { who.left = slot_row(slot, 2u).xy; }
    return who;
}

// The line of the customer that is served next, and its slot. The line of the station is not empty.
fn next_in_line(lp: u32, state: ptr<function, State>) -> vec2<u32> {
    let discipline = discipline_of(lp);
    if discipline == RING { return vec2<u32>(block_of(0u), (*state).free); }
    if discipline == RANDOM {
        let drawn = memory_get(PIECE);
        memory_set(PIECE, vec4<u32>(drawn.xy, drawn.z + 1u, drawn.w));
        let name = table_of(lp).name;
        stream_named(vec2<u32>(name.x | DRAW_PICK, name.y), drawn.z);
        return vec2<u32>(block_of(0u), draw_below((*state).waiting));
    }
    // If classes are polled, from the class served last on.
    let first = select(0u, (*state).polled, discipline == POLLING);
    for (var i = 0u; i < params.classes; i += 1u) {
        let line = block_of((first + i) % params.classes);
        let slot = memory_get(line).x;
        if slot != 0u { return vec2<u32>(line, slot - 1u); }
    }
    return vec2<u32>(block_of(0u), 0u);
}

// A free server, of which there is at least one.
fn free_server(lp: u32) -> u32 {
    var server = 0u;
    // At most 32.
    while server < servers_of(lp) && memory_get(params.servers + 2u * server).x != 0u { server += 1u; }
    return server;
}

// If no server is free: the server of the customer that an arrival preempts first, of the lowest
// class and of these the one that began last.
fn worst_server(lp: u32) -> u32 {
    var worst = 0u;
    var found = vec4<u32>(0u);
    // At most 32.
    for (var server = 0u; server < servers_of(lp); server += 1u) {
        let row = memory_get(params.servers + 2u * server);
        let order = line_of(lp, row.y);
        let other = line_of(lp, found.y);
        if server == 0u || order > other || (order == other && row.x > found.x) {
            worst = server;
            found = row;
        }
    }
    return worst;
}

// Servers that are down, and customers whose service they interrupt. While a station is down, no
// service begins or ends.
fn out_of_order(state: ptr<function, State>) -> vec2<u32> {
    return select(vec2<u32>(0u), vec2<u32>((*state).open, (*state).busy), (*state).down != 0u);
}
