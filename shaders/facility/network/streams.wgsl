// The random streams of a network: the substream of each draw (docs/guide-networks.md). The
// reference implementation is `facility::model::streams`.
//
// A substream is named by a hash of the node's kind and name and the class's name, by the kind of
// draw, and by the number of earlier draws of that kind. So a node added to the network, or another
// backend, changes no number of the others.
//
// import: facility/network/records.wgsl
// import: facility/network/tables.wgsl

// COUNTS: what is counted of a class at a node because it draws random numbers.
const DEPARTURES = 1u;
const ARRIVALS = 2u;
// Kinds of draw. A pair's or node's name ends in 12 zero bits, which hold one of these and, if one
// event moves several customers, 8 times the customer's number.
const DRAW_SERVICE = 0u; // also the time to the next arrival of a source; numbered by earlier draws
const DRAW_WAY = 1u;      // numbered by departures
const DRAW_TRAVEL = 2u;  // numbered by departures
const DRAW_PATIENCE = 3u; // numbered by arrivals
const DRAW_STAYS = 4u;    // numbered by arrivals; of a source, by its emissions
const DRAW_UP = 5u;       // this and the rest are of the node, not of a class
const DRAW_REPAIR = 6u;
const DRAW_PICK = 7u;

// The name of the substreams for draws of a class at a node.
fn pair_name(lp: u32, class_: u32, purpose: u32) -> vec2<u32> {
    let name = pair_streams(lp, class_);
    return vec2<u32>(name.x | purpose, name.y);
}

// Counts an arrival of a class that may draw random numbers. Returns the number of earlier ones.
fn next_arrival(lp: u32, class_: u32) -> u32 {
    if SIMPLE || (pair_streams(lp, class_).z & ARRIVALS) == 0u { return 0u; }
    let row = others_of(class_) + CAME_BEFORE;
    let count = memory_get(row).x;
    memory_set(row, vec4<u32>(count + 1u, 0u, 0u, 0u));
    return count;
}
