// Events of the slots of next times in the uniform form.
//
// import: facility/compiled/heaps.wgsl
// import: facility/compiled/lines.wgsl
// import: facility/compiled/rounds.wgsl
// import: facility/compiled/state.wgsl
// import: facility/compiled/uniform/arrivals.wgsl
// import: facility/compiled/uniform/routes.wgsl
// import: facility/compiled/uniform/tables.wgsl
// provides: network_own
// needs: NETWORK_BATCHES, NETWORK_BLOCKS, NETWORK_BREAKS, NETWORK_BY_CLASS, NETWORK_CALENDARS
// needs: NETWORK_CLASSES, NETWORK_HEAPS, NETWORK_HOLDS, NETWORK_PATIENCE, NETWORK_RATES
// needs: NETWORK_SERVERS, NETWORK_TRAVELS, NETWORK_WAKES, TABLE_SLOTS, network_law
//
// bounds: as in facility/compiled/state.wgsl. Loops over servers have a constant bound; a loop over
// the customers of an emission counts to their number.

fn network_own(slot: u32) {
    let event = network_data[TABLE_SLOTS + slot];
    let what = event.x;
    let words = event.z;
    if NETWORK_TRAVELS && what == EVENT_TRIPS {
        network[slot] = network_trips_end(event.w);
    } else if NETWORK_PATIENCE && what == EVENT_RENEGE {
        ring_renege(event.w, words);
        network[slot] = heap_pop(event.w);
    } else if NETWORK_BLOCKS && what == EVENT_ADMIT {
        let row = node_row(event.y);
        ring_admit(network_data[row + NODE_LIMITS].x);
        node_enter(event.y, row, network_data[row], network_data[row + 1u]);
        go_admitted = false;
        go_to = NONE;
    } else if NETWORK_CALENDARS && what == EVENT_PIECE {
        node_changes(slot, event.y, words);
    } else if NETWORK_BREAKS && what == EVENT_SHIFT {
        node_shifts(slot, event.y, words);
    } else {
        node_serves(slot, event);
    }
}

// The next piece of a calendar begins.
fn node_changes(slot: u32, node: u32, words: u32) {
    let row = node_row(node);
    let main = network_data[row];
    let more = network_data[row + 1u];
    let pieces = network_data[row + NODE_CHANGES].zw;
    let at = network[words + PAIR_PIECE];
    let piece = network_data[pieces.x + at];
    network[words + PAIR_PIECE] = (at + 1u) % pieces.y;
    network[slot] = network_when(piece.xy);
    if (main.x & NODE_KIND) == NODE_SOURCE {
        network[words + PAIR_OPEN] = piece.z;
    } else if NETWORK_WAKES {
        network_down(words, node_busy(main, more), network[words + PAIR_DOWN], piece.z);
        node_wakes(row, main, more);
    }
}

// A station breaks down, or works again.
fn node_shifts(slot: u32, node: u32, words: u32) {
    let row = node_row(node);
    let main = network_data[row];
    let more = network_data[row + 1u];
    let works = network[words + PAIR_DOWN] == 0u;
    network_down(words, node_busy(main, more), u32(works), network[words + PAIR_OPEN]);
    let law = row + select(NODE_UP, NODE_REPAIR, works);
    let kind = select(DRAW_UP, DRAW_REPAIR, works);
    let stream = network_data[row + NODE_OWN].x;
    let until = network_drawn(law, stream, kind, network_count(words + PAIR_SHIFTS));
    network[slot] = until;
    if works { network[main.y] = heap_delay(more.y, until); }
    node_wakes(row, main, more);
}

// Whether another service of the station ends at the time of a slot.
fn slot_ties(slot: u32, main: vec4<u32>) -> bool {
    var ties = false;
    for (var i = 0u; i < NETWORK_SERVERS; i += 1u) {
        let other = main.y + min(i, main.z - 1u);
        ties = ties | ((network[other] == network[slot]) & (other != slot));
    }
    return ties;
}

// A source emits, a service ends, or a free server looks for customers.
fn node_serves(slot: u32, event: vec4<u32>) {
    let what = event.x;
    let node = event.y;
    let words = event.z;
    let row = node_row(node);
    let main = network_data[row];
    let more = network_data[row + 1u];
    let line = node_line(main);
    let emits = what == EVENT_EMITS;
    let ends = what == EVENT_ENDS;
    // The customer that leaves: entry, arrival, class.
    var who = vec3<u32>(network_at, network_at, event.w);
    if ends {
        if NETWORK_SERVERS > 1u && slot_ties(slot, main) {
            for (var i = 0u; i < main.z; i += 1u) {
                if main.y + i != slot { network_earliest(slot, main.y + i); }
            }
        }
        who = network_served(slot);
    }
    if NETWORK_HEAPS > 0u && what == EVENT_HEAP {
        who = heap_get(event.w, 0u).yzw;
        if NETWORK_BREAKS && (main.x & NODE_BREAKS) != 0u {
            network[words + PAIR_SERVERS] &= ~(1u << (who.z >> 8u));
            who.z &= 0xffu;
        }
        network[slot] = heap_pop(event.w);
    }
    // The next customer of the line.
    var takes = !emits & (node_waiting(main) > 0u);
    if NETWORK_WAKES && (main.x & NODE_WAKES) != 0u {
        takes = takes & (what == EVENT_WAKE) & node_free(main, more);
        if what == EVENT_WAKE { network[slot] = NEVER; }
    }
    var next = vec4<u32>(0u);
    if takes {
        next = node_take(row, main, words);
        network_time(words + PAIR_WORDS * next.z + PAIR_WAIT, network_at - next.y);
    }
    // Draws of the next service or arrival, and of the route, which do not depend on each other.
    let begins = emits | takes;
    var served = who.z;
    if NETWORK_CLASSES > 1u { served = select(who.z, next.z, takes); } else { served = 0u; }
    let place = pair_row(node, served);
    let counter = words + PAIR_WORDS * served + PAIR_SERVICES;
    let drawn = network[counter];
    network[counter] = drawn + u32(begins);
    let block = network_block(place + PAIR_WAYS, DRAW_SERVICE, drawn);
    let pair = words + PAIR_WORDS * who.z;
    let ways = pair_row(node, who.z) + PAIR_WAYS;
    var leaves = !NETWORK_WAKES || what != EVENT_WAKE;
    var batch = 1u;
    if NETWORK_RATES && emits && network_data[row + NODE_OWN].y != NONE {
        // Of the highest rate, a share.
        let open = network[words + PAIR_OPEN];
        leaves = open == SURE || network_block(place + PAIR_WAYS, DRAW_STAYS, drawn).x < open;
    }
    if NETWORK_BATCHES && emits { batch = network_data[row + NODE_OWN].z; }
    var number = 0u;
    if leaves { number = route_number(network_data[ways], pair); }
    let chosen = route_words(ways, 0u, number);
    var time = NEVER;
    if begins {
        let span = network_law(network_data[place], network_data[place + 1u], block, place + PAIR_WAYS, DRAW_SERVICE,
                               drawn);
        time = network_when(span);
    }
    if takes & ends { network_serves(slot, next.x, next.y, next.z); }
    if NETWORK_HEAPS > 0u && takes && !ends {
        network[main.y] = heap_push(more.y, vec4<u32>(time, next.xy, served_word(main, words, next.z)));
    }
    if emits | ends { network[slot] = time; }
    if NETWORK_BY_CLASS && takes && line == LINE_POLLED { network[words + PAIR_POLLED] = next.z; }
    // The customer leaves.
    let holds = NETWORK_HOLDS && (main.x & NODE_HOLDS) != 0u;
    if leaves {
        go_entered = who.x;
        if NETWORK_BATCHES && emits && batch > 1u {
            for (var i = 0u; i < batch; i += 1u) {
                let nth = 8u * i;
                let other = route_words(ways, nth, number);
                route_takes(node, holds, words, ways, pair, who.z, who.y, number, nth, other);
                if go_to != NONE { network_send(1u - network_list); }
            }
            network_steps += batch;
            network_rounds = true;
        } else {
            route_takes(node, holds, words, ways, pair, who.z, who.y, number, 0u, chosen);
        }
        if emits {
            network[pair] += batch;
        } else if !NETWORK_BLOCKS || go_place == 0u {
            network_leaves(pair, network_at - who.y);
        }
    }
    if NETWORK_WAKES || NETWORK_BLOCKS {
        if !emits { node_wakes(row, main, more); }
    }
}
