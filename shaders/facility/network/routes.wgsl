// Routes of customers from a node. The reference implementation is `facility::model::routes`.
//
// import: facility/network/streams.wgsl
// import: facility/network/tables.wgsl
// import: random/distributions.wgsl

// The route of a forked task: its first row in `data`.
fn task_route(lp: u32, class_: u32, number: u32) -> u32 {
    let routes = data[pair(lp, class_)];
    return routes.z / 4u + WAY_ROWS * (routes.w + number);
}

// The route that a customer of a class takes: its first row in `data`.
fn route_of(lp: u32, class_: u32, state: ptr<function, State>, name: vec2<u32>, number: u32) -> u32 {
    let routes = data[pair(lp, class_)];
    let first = routes.z / 4u;
    let count = routes.w;
    let choice = pair_more(lp, class_).x;
    var route = 0u;
    if choice == IN_TURN {
        route = (*state).turn % count;
        (*state).turn = (route + 1u) % count;
    } else if SPECIAL && choice == SHORTEST {
        var least = SURE;
        // At most 64.
        for (var i = 0u; i < count; i += 1u) {
            let known = memory_get(params.known + i / 4u)[i & 3u];
            if known < least {
                least = known;
                route = i;
            }
        }
        var known = memory_get(params.known + route / 4u);
        known[route & 3u] += 1u;
        memory_set(params.known + route / 4u, known);
    } else if count > 1u {
        stream_named(vec2<u32>(name.x | DRAW_WAY, name.y), number);
        let picked = alias_slot(count);
        let odds = data[first + WAY_ROWS * picked];
        route = alias_pick(picked, odds.x, odds.y);
    }
    return first + WAY_ROWS * route;
}
