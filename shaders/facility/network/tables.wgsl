// The tables that a network is compiled to, in `data`: words, of which rows of four are read at once, so what is not a word each begins at a row. They are made by `facility::model::tables`.
//
//     nodes       20 for each LP: kind, servers (SURE: one for everybody), most customers (SURE: no bound), discipline, law of
//                 arrivals, customers in a batch, their class, place and number of the pieces of its calendar, law of the times between its breakdowns
//                 (0: none), law of repairs, place and number of odds to stay (of a source, the first tag),
//                 place and number of listeners, FLAGS; the name of its random streams (2), zeros
//     pairs       12 for each LP and class: law of service, law of patience (0: none), place and number of its ways, how one is
//                 chosen (BY_CHANCE, IN_TURN, SHORTEST), its line (the lower goes first), customers at the beginning, siblings, whose ways come after those; of a
//                 station, the first tag of who is there at the beginning; the name of its random streams (2),
//                 COUNTS, zero
//     laws        8: kind, a number, three times
//     ways        4: threshold and other of an alias table, LP, law of the time of travel (0: none) + class (laws lie at rows)
//     calendars   3 words for each piece: how long it lasts (2); servers, or of a source, odds that who comes stays
//     odds        a word each, by the number of customers found: a probability in units of 2^-32, SURE for 1
//     listeners   2 words each: the LP that wants to know how many customers are here, and the number of this node there
//
// needs: block_of (facility/network/records.wgsl), data (facility/network_plain.wgsl
// needs: facility/network_simple.wgsl or facility/network_special.wgsl), params

const NODE_ROWS = 5u;
const PAIR_ROWS = 3u;
const WAY_ROWS = 1u;

// What the table says of a node.
struct NodeTable {
    kind: u32,
    servers: u32,
    room: u32,
    discipline: u32,
    arrivals: u32, // a law
    batch: u32,
    class_: u32,
    calendar: u32,
    pieces: u32,
    up: u32,       // laws
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

// The first row that the table has of a class at a node: laws of service and patience, place and number of ways.
fn pair(lp: u32, class_: u32) -> u32 {
    if SIMPLE { return lp_count() * NODE_ROWS + lp * PAIR_ROWS; }
    return lp_count() * NODE_ROWS + (lp * params.classes + class_) * PAIR_ROWS;
}

// And its second: how a way is chosen, line, customers at the beginning, siblings.
fn pair_more(lp: u32, class_: u32) -> vec4<u32> {
    return data[pair(lp, class_) + 1u];
}

// And its third: the name of its random streams (2), COUNTS.
fn pair_streams(lp: u32, class_: u32) -> vec4<u32> {
    return data[pair(lp, class_) + 2u];
}

// The class of who goes this way, and the law of how long that takes.
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
