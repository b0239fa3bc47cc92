// Departures in the uniform form.
//
// import: facility/compiled/heaps.wgsl
// import: facility/compiled/state.wgsl
// import: facility/compiled/uniform/tables.wgsl
// needs: NETWORK_BLOCKS, NETWORK_CHANCES, NETWORK_HOLDS, NETWORK_IN_TURN, NETWORK_TRAVELS
// needs: NETWORK_TRAVEL_HEAP, NETWORK_TRAVEL_SLOT
//
// bounds: as in facility/compiled/state.wgsl.

// Counts a departure if it has a number, and returns that.
fn route_number(ways: vec4<u32>, pair: u32) -> u32 {
    let number = network[pair + PAIR_DEPARTURES];
    network[pair + PAIR_DEPARTURES] = number + u32((ways.w & WAYS_COUNTED) != 0u);
    return number;
}

// The first words of the draw of a route.
fn route_words(row: u32, nth: u32, number: u32) -> vec4<u32> {
    if NETWORK_CHANCES { return network_block(row, DRAW_WAY | nth, number); }
    return vec4<u32>(0u);
}

// A customer leaves a node, whose words begin at `node_words`, for another one. `row` names its
// routes and streams, `pair` the words of its class, `came` its arrival; `number` and `nth` are the
// numbers of the departure and of the customer in it, and `words` the draw of its route.
fn route_takes(node: u32, holds: bool, node_words: u32, row: u32, pair: u32, class_: u32, came: u32,
               number: u32, nth: u32, words: vec4<u32>) {
    let ways = network_data[row];
    let count = ways.w & WAYS_NUMBER;
    var way = ways.z;
    if NETWORK_IN_TURN && (ways.w & WAYS_IN_TURN) != 0u {
        let turn = network[node_words + PAIR_TURN] % count;
        network[node_words + PAIR_TURN] = (turn + 1u) % count;
        way += turn;
    } else if NETWORK_CHANCES && count > 1u {
        way = network_route_of(words, ways.z, count, row, DRAW_WAY | nth, number);
    }
    let route = network_data[way];
    go_from = node + 1u;
    go_to = route.z;
    go_class = route.w & 0xffu;
    if NETWORK_BLOCKS { go_place = 0u; }
    if NETWORK_HOLDS && holds && (route.w >> 31u) != 0u {
        // It keeps its server until the next node lets it in.
        go_place = class_ + 1u;
        go_came = came;
        network[node_words + PAIR_BLOCKED] += 1u;
        network_change(node_words + PAIR_OUT, 1);
    }
    if NETWORK_TRAVELS {
        let travel = (route.w >> 8u) & 0xffu;
        if travel > 0u {
            let law = network_data[row - PAIR_WAYS + PAIR_MORE].z + 2u * (travel - 1u);
            let time = network_drawn(law, row, DRAW_TRAVEL | nth, number);
            network[pair + PAIR_BEGUN] += 1u;
            network_change(node_words + PAIR_TRIPS, 1);
            let first = network_travel(NETWORK_TRAVEL_HEAP, time);
            network[NETWORK_TRAVEL_SLOT] = first;
            network_began = vec2<u32>(first, NETWORK_TRAVEL_SLOT);
        }
    }
}
