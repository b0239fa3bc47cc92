// Arrivals in the uniform form.
//
// import: facility/compiled/heaps.wgsl
// import: facility/compiled/lines.wgsl
// import: facility/compiled/rounds.wgsl
// import: facility/compiled/state.wgsl
// import: facility/compiled/uniform/routes.wgsl
// import: facility/compiled/uniform/tables.wgsl
// provides: network_arrive, network_freed
// needs: NETWORK_BALKS, NETWORK_BLOCKS, NETWORK_BREAKS, NETWORK_BY_CLASS, NETWORK_COUNTS
// needs: NETWORK_HEAPS, NETWORK_HOLDS, NETWORK_LOSES, NETWORK_PATIENCE, NETWORK_ROUTERS
// needs: NETWORK_SERVERS, NETWORK_TRAVELS, NETWORK_WAKES, network_law
//
// bounds: as in facility/compiled/state.wgsl. The loop over servers has a constant bound.

// The last word of an entry of a heap of services: the class, and the server if it has rows.
fn served_word(main: vec4<u32>, words: u32, class_: u32) -> u32 {
    var word = class_;
    if NETWORK_BREAKS && (main.x & NODE_BREAKS) != 0u { word |= network_server(words) << 8u; }
    return word;
}

fn network_arrive() {
    let node = go_to;
    go_to = NONE;
    let row = node_row(node);
    let main = network_data[row];
    let more = network_data[row + 1u];
    let pair = more.x + PAIR_WORDS * go_class;
    let kind = main.x & NODE_KIND;
    if NETWORK_TRAVELS && (go_from & TRIP) != 0u {
        network[pair + PAIR_ENDED] += 1u;
        network_change(more.x + PAIR_TRIPS, -1);
    }
    if kind == NODE_SINK {
        network_leaves(pair, network_at - go_entered);
    } else if NETWORK_ROUTERS && kind == NODE_ROUTER {
        network[pair] += 1u;
        let ways = pair_row(node, go_class) + PAIR_WAYS;
        let number = route_number(network_data[ways], pair);
        route_takes(node, false, more.x, ways, pair, go_class, 0u, number, 0u, route_words(ways, 0u, number));
    } else {
        node_enter(node, row, main, more);
    }
}

// The customer on its way arrives at a station.
fn node_enter(node: u32, row: u32, main: vec4<u32>, more: vec4<u32>) {
    let class_ = go_class;
    let words = more.x;
    let pair = words + PAIR_WORDS * class_;
    let place = pair_row(node, class_);
    let line = node_line(main);
    let waiting = node_waiting(main);
    let wakes = NETWORK_WAKES && (main.x & NODE_WAKES) != 0u;
    let heaped = NETWORK_HEAPS > 0u && (main.x & NODE_KIND) == NODE_HEAP;
    var patience = NONE;
    var came = 0u;
    if NETWORK_COUNTS {
        let needs = network_data[place + PAIR_MORE];
        patience = needs.y;
        if (needs.x & PAIR_ARRIVES) != 0u { came = network_count(pair + PAIR_ARRIVALS); }
    }
    // A free server.
    var slot = main.y;
    var busy = 0u;
    var begins = true;
    if heaped {
        busy = node_busy(main, more);
        begins = busy < main.z;
        if wakes { begins = (waiting == 0u) & node_free(main, more); }
    } else {
        slot = NONE;
        for (var i = NETWORK_SERVERS; i > 0u; i -= 1u) {
            if i <= main.z {
                let server = main.y + i - 1u;
                let idle = network[server] == NEVER;
                slot = select(slot, server, idle);
                busy += u32(!idle);
            }
        }
        begins = slot != NONE;
    }
    var joins = !begins;
    var stays = true;
    if NETWORK_BALKS {
        let balking = network_data[row + NODE_CHANGES];
        if balking.y > 0u {
            let odds = network_data[balking.x + min(busy + waiting, balking.y - 1u)].x;
            stays = odds == SURE || network_block(place + PAIR_WAYS, DRAW_STAYS, came).x < odds;
        }
    }
    var limits = vec4<u32>(NONE);
    if NETWORK_BLOCKS || NETWORK_PATIENCE { limits = network_data[row + NODE_LIMITS]; }
    let blocks = NETWORK_BLOCKS && limits.x != NONE;
    var full = false;
    if blocks {
        // All that wait for room come before it.
        full = (busy + waiting >= more.z) | (!go_admitted & (network[NETWORK_LINE + limits.x] > 0u));
    }
    // Where servers may be free, the room counts all customers.
    let counted = waiting + select(0u, busy, wakes);
    var lost = joins & ((line == LINE_NONE) | (!blocks & (counted >= more.z)));
    if NETWORK_BLOCKS && stays && full {
        begins = false;
        joins = false;
        lost = go_place == 0u;
        if go_place != 0u { ring_block(limits.x); }
    }
    if NETWORK_BALKS && !stays {
        begins = false;
        joins = false;
        lost = false;
        network[pair + PAIR_BALKED] += 1u;
    }
    joins = joins & !lost;
    if NETWORK_LOSES && lost { network[pair + PAIR_LOST] += 1u; }
    // It waits.
    let ring = main.w + select(0u, class_, NETWORK_BY_CLASS && line >= LINE_BY_CLASS);
    var at = 0u;
    if joins { at = ring_join(ring); }
    // The time of its service, or of its patience.
    let impatient = NETWORK_PATIENCE && joins && patience != NONE;
    let drawn = network[pair + PAIR_SERVICES];
    network[pair + PAIR_SERVICES] = drawn + u32(begins);
    var law = place;
    var kind = DRAW_SERVICE;
    var number = drawn;
    if impatient {
        law = patience;
        kind = DRAW_PATIENCE;
        number = came;
    }
    let block = network_block(place + PAIR_WAYS, kind, number);
    if begins | impatient {
        let span = network_law(network_data[law], network_data[law + 1u], block, place + PAIR_WAYS, kind, number);
        let time = network_when(span);
        var first = time;
        if NETWORK_HEAPS > 0u && (heaped | impatient) {
            var heap = more.y;
            var entry = vec4<u32>(time, at, network_serial, ring);
            if impatient {
                heap = limits.w;
                slot = limits.z;
            } else {
                entry = vec4<u32>(time, go_entered, network_at, served_word(main, words, class_));
            }
            first = heap_push(heap, entry);
        } else {
            network_serves(slot, go_entered, network_at, class_);
        }
        network[slot] = first;
        network_began = vec2<u32>(first, slot);
        if NETWORK_BY_CLASS && begins && line == LINE_POLLED { network[words + PAIR_POLLED] = class_; }
    }
    if blocks {
        if !full { network_release(node); }
        node_wakes(row, main, more);
    }
}

// A customer that kept a server has left it.
fn network_freed() {
    if !NETWORK_HOLDS { return; }
    let row = node_row(go_to);
    let more = network_data[row + 1u];
    network[more.x + PAIR_BLOCKED] -= 1u;
    network_change(more.x + PAIR_OUT, -1);
    network_leaves(more.x + PAIR_WORDS * go_class, network_at - go_came);
    node_wakes(row, network_data[row], more);
}
