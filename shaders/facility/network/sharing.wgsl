// Processor sharing: c servers give n customers the same share each, c / n of a tick of service in a tick, or a whole one where there are no more customers than servers.
//
// The station has a clock that goes at the rate of one share, so that a customer whose service is s leaves when the clock has gone on by s since he came. The clock
// counts 2^-16 of a tick. It is moved whenever somebody comes (and be it in vain) or may leave, and what it gains is rounded down once each time: so nobody gets more than his share, and a move
// takes less than 2^-16 of a tick from each. The time at which the next one leaves is the first whole tick by which his service is complete. (The
// clock is not set back to the end of the service: others keep what they got.)
//
// Customers lie in slots 0 .. n - 1, a binary heap by when they leave: row 2 is (reading of the clock (2), serial, 0).

// a * factor / divisor, rounded up or down; TIME_NEVER where it does not fit. Factor and divisor are below 2^16, and the divisor is not 0.
fn scaled(a: vec2<u32>, factor: u32, divisor: u32, up: bool) -> vec2<u32> {
    // Digits of 16 bits, so that no product and no remainder with another digit is longer than a word.
    var digits = array<u32, 5>();
    var carry = select(0u, divisor - 1u, up);
    for (var i = 0u; i < 4u; i += 1u) {
        let product = ((a[i >> 1u] >> (16u * (i & 1u))) & 0xffffu) * factor + carry;
        digits[i] = product & 0xffffu;
        carry = product >> 16u;
    }
    digits[4] = carry;
    var rest = 0u;
    for (var i = 5u; i > 0u; i -= 1u) {
        let part = (rest << 16u) | digits[i - 1u];
        digits[i - 1u] = part / divisor;
        rest = part % divisor;
    }
    let low = vec2<u32>(digits[0] | (digits[1] << 16u), digits[2] | (digits[3] << 16u));
    return select(low, TIME_NEVER, digits[4] != 0u);
}

// A span in the clock's unit; TIME_NEVER from 2^48 ticks on.
fn fine(span: vec2<u32>) -> vec2<u32> {
    return select(vec2<u32>(span.x << 16u, (span.y << 16u) | (span.x >> 16u)), TIME_NEVER, (span.y >> 16u) != 0u);
}

// Moves the clock to the present time.
fn advance(lp: u32, state: ptr<function, State>) {
    let servers = servers_of(lp);
    let clock = memory_get(CLOCK);
    var gain = fine(time_since(now(), clock.zw));
    if (*state).busy > servers { gain = scaled(gain, servers, (*state).busy, false); }
    memory_set(CLOCK, vec4<u32>(time_add(clock.xy, gain), now()));
}

// How long it takes until the next one leaves, if nobody comes. Somebody is there.
fn until_next(lp: u32, state: ptr<function, State>) -> vec2<u32> {
    let servers = servers_of(lp);
    let leaves = slot_row(0u, 2u).xy;
    var left = time_since(leaves, memory_get(CLOCK).xy);
    if (*state).busy > servers { left = scaled(left, (*state).busy, servers, true); }
    left = time_add(left, vec2<u32>(0xffffu, 0u));
    let ticks = vec2<u32>((left.x >> 16u) | (left.y << 16u), left.y >> 16u);
    return select(ticks, TIME_NEVER, all(left == TIME_NEVER) | all(leaves == TIME_NEVER));
}

fn leaves_before(a: vec4<u32>, b: vec4<u32>) -> bool {
    return time_less(a.xy, b.xy) | (all(a.xy == b.xy) & (a.z < b.z));
}

// Who comes takes part (`comes`), or who leaves next is taken out, and the last one put into his place. The clock is at the present time.
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
    // From slot to slot, upwards or downwards, as far as somebody there leaves later, or earlier. At most 16 levels.
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
