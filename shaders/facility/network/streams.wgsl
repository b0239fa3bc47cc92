// The random streams of a network: which substream each draw is of (docs/guide-networks.md). The Rust twin is
// `facility::model::streams`.
//
// A substream is named by a hash of (kind and name of the node, name of the class), by what is
// drawn, and by how often that was drawn before; so a part that is added, or another way to run,
// changes no number of the rest.
//
// import: facility/network/records.wgsl
// import: facility/network/tables.wgsl

// COUNTS: what is counted of a class at a node, because it draws random numbers.
const DEPARTURES = 1u;
const ARRIVALS = 2u;
// What is drawn. The name of a pair or node ends in 12 zero bits, which take one of these and, for
// several customers of one event, 8 times the number of the customer.
const DRAW_SERVICE = 0u;  // or the time to the next arrival of a source; numbered by those before
const DRAW_WAY = 1u;      // numbered by departures
const DRAW_TRAVEL = 2u;  // by departures, too
const DRAW_PATIENCE = 3u; // numbered by arrivals
const DRAW_STAYS = 4u;    // of a source, numbered as its arrivals
const DRAW_UP = 5u;       // this and the rest are the node's, not a class's
const DRAW_REPAIR = 6u;
const DRAW_PICK = 7u;

// The name of the substreams of what is drawn for a class at a node.
fn pair_name(lp: u32, class_: u32, purpose: u32) -> vec2<u32> {
    let name = pair_streams(lp, class_);
    return vec2<u32>(name.x | purpose, name.y);
}

// Counts an arrival of a class that may draw random numbers. Returns how many came before.
fn next_arrival(lp: u32, class_: u32) -> u32 {
    if SIMPLE || (pair_streams(lp, class_).z & ARRIVALS) == 0u { return 0u; }
    let row = others_of(class_) + CAME_BEFORE;
    let count = memory_get(row).x;
    memory_set(row, vec4<u32>(count + 1u, 0u, 0u, 0u));
    return count;
}
