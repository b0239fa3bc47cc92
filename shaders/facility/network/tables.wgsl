// The tables that a network is compiled to by `facility::model::tables`, in `data`. Rows of four
// words are read at once: an entry longer than a word begins at a row.
//
//     nodes       20 words per LP: NodeTable, zeros
//     pairs       12 words per LP and class: `pair`, `pair_more`, `pair_streams`
//     laws        8 words: kind, a number, three times
//     ways        4 words: threshold and other slot of an alias table; LP; travel time (0: none) +
//                 class
//     calendars   3 words per piece: its length (2); servers, or of a source, odds that a customer
//                 stays
//     odds        a word per number of customers found: a probability in 2^-32, SURE for 1
//     listeners   2 words: an LP that needs the number of customers here; this node's number there
//
// needs: block_of (facility/network/records.wgsl), data (facility/network_plain.wgsl
// needs: facility/network_simple.wgsl or facility/network_special.wgsl), params

const NODE_ROWS = 5u;
const PAIR_ROWS = 3u;
const WAY_ROWS = 1u;

// The row of a node.
struct NodeTable {
    // servers: SURE for unlimited. room: most customers, SURE for no bound.
    kind: u32,
    servers: u32,
    room: u32,
    discipline: u32,
    arrivals: u32, // a distribution
    batch: u32,
    class_: u32,
    // Place and number of the pieces of a calendar; breakdown interval (0: none) and repair time;
    // place and number of odds to stay (of a source, the first tag); listeners.
    calendar: u32,
    pieces: u32,
    up: u32,       // distributions
    repair: u32,
    odds: u32,
    odds_count: u32,
    listening: u32,
    listeners: u32,
    flags: u32,
    name: vec2<u32>, // of its random streams
}

fn table_of(lp: u32) -> NodeTable {
    let row = lp * NODE_ROWS;
    let a = data[row];
    let b = data[row + 1u];
    let c = data[row + 2u];
    let d = data[row + 3u];
    let e = data[row + 4u];
    return NodeTable(a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w, c.x, c.y, c.z, c.w, d.x, d.y, d.z, d.w, e.xy);
}

fn servers_of(lp: u32) -> u32 {
    return data[lp * NODE_ROWS].y;
}

fn discipline_of(lp: u32) -> u32 {
    if SIMPLE { return RING; }
    return data[lp * NODE_ROWS].w;
}

// The first row of a class at a node: distributions of service and patience (0: none), place and
// number of routes.
fn pair(lp: u32, class_: u32) -> u32 {
    if SIMPLE { return lp_count() * NODE_ROWS + lp * PAIR_ROWS; }
    return lp_count() * NODE_ROWS + (lp * params.classes + class_) * PAIR_ROWS;
}

// Its second row: how a route is chosen, line (the lower goes first), customers at the start,
// forked tasks (routes after the others; of a station, the first tag of those present).
fn pair_more(lp: u32, class_: u32) -> vec4<u32> {
    return data[pair(lp, class_) + 1u];
}

// Its third row: the name of its random streams (2), COUNTS, zero.
fn pair_streams(lp: u32, class_: u32) -> vec4<u32> {
    return data[pair(lp, class_) + 2u];
}

// The class of a customer on this route, and below, the distribution of its travel time.
fn route_class(route: vec4<u32>) -> u32 {
    if SIMPLE { return 0u; }
    return route.w & 3u;
}

fn route_distribution(route: vec4<u32>) -> u32 {
    return route.w & ~3u;
}

// A word of a table.
fn word(place: u32) -> u32 {
    return data[place / 4u][place % 4u];
}

fn line_of(lp: u32, class_: u32) -> u32 {
    return block_of(pair_more(lp, class_).y);
}
