// Processor sharing: c servers give each of n customers c / n ticks of service per tick, or a whole
// tick if n <= c.
//
// The station's clock runs at the rate of one share: a customer with service s leaves when the
// clock has advanced by s since it came. The clock counts 2^-16 ticks. It is moved when a customer
// comes (or is turned away) or may leave, and each gain is rounded down: no customer gets more than
// its share, and a move loses less than 2^-16 ticks for each.
//
// The next customer leaves at the first whole tick at which its service is complete. The clock is
// not set back to the end of that service: the others keep their gain.
//
// Customers are in slots 0 .. n - 1, a binary heap by departure: row 2 is (clock reading (2),
// serial, 0).

// Moves the clock to the present time.
fn advance(lp: u32, state: ptr<function, State>) {
    let servers = servers_of(lp);
    let clock = memory_get(CLOCK);
    var gain = fine(time_since(now(), clock.zw));
    if (*state).busy > servers { gain = scaled(gain, servers, (*state).busy, false); }
    memory_set(CLOCK, vec4<u32>(time_add(clock.xy, gain), now()));
}

// The time until the next customer leaves if no other comes. At least one customer is there.
fn until_next(lp: u32, state: ptr<function, State>) -> vec2<u32> {
    let servers = servers_of(lp);
    let leaves = slot_row(0u, 2u).xy;
    let left = until_complete(time_since(leaves, memory_get(CLOCK).xy), (*state).busy, servers);
    return select(left, TIME_NEVER, all(leaves == TIME_NEVER));
}

// Inserts `who` (`comes`), or removes the next customer to leave and moves the last one to its
// slot. The clock is at the present time.
fn change_shared(who: Customer, service: vec2<u32>, comes: bool, state: ptr<function, State>) {
    var slot = (*state).busy;
    if comes && slot >= min(params.room, 0xffffu) {
        memory_full();
        return;
    }
    var rows = array<vec4<u32>, 3>();
    if comes {
        (*state).busy += 1u;
        let serial = next_serial(state);
        rows[0] = vec4<u32>(who.entered, who.arrived);
        rows[1] = vec4<u32>(who.class_, 0u, 0u, serial);
        rows[2] = vec4<u32>(time_add(memory_get(CLOCK).xy, fine(service)), serial, 0u);
    } else {
        (*state).busy -= 1u;
        for (var row = 0u; row < 3u; row += 1u) { rows[row] = slot_row((*state).busy, row); }
        slot = 0u;
    }
    let end = (*state).busy;
    let leaves = rows[2];
    // Sifts up or down to the slot by order of departure. At most 16 levels.
    loop {
        var other = (slot - 1u) / 2u;
        if comes {
            if slot == 0u { break; }
        } else {
            other = 2u * slot + 1u;
            if other >= end { break; }
        }
        var found = slot_row(other, 2u);
        if !comes && other + 1u < end {
            let right = slot_row(other + 1u, 2u);
            if leaves_before(right, found) {
                found = right;
                other += 1u;
            }
        }
        if leaves_before(leaves, found) != comes { break; }
        move_slot(other, slot, 3u);
        slot = other;
    }
    for (var row = 0u; row < 3u; row += 1u) { set_slot_row(slot, row, rows[row]); }
}
