// The uniform form of a compiled network: all nodes run the same code, and rows of data say what
// each of them does. src/facility/compiled/uniform/tables.rs writes the rows and the constants.
// Constants that are false or zero belong to features that the network lacks.
//
// import: facility/compiled/lines.wgsl
// import: facility/compiled/state.wgsl
// import: random/philox.wgsl
// provides: network_late
// needs: NETWORK_BLOCKS, NETWORK_BY_CLASS, NETWORK_CLASSES, NETWORK_HOLDS, NETWORK_RANDOM
// needs: NETWORK_WAKES, NODE_ROWS, TABLE_NODES, TABLE_PAIRS, TABLE_SLOTS, network_law
//
// bounds: as in facility/compiled/state.wgsl. Rows of data are within the tables of the host.

// A row for each slot of next times: the event; its node; the words of the node; the class of a
// source, or the heap.
const EVENT_EMITS = 0u;  // a source emits
const EVENT_ENDS = 1u;   // a service in a slot ends
const EVENT_HEAP = 2u;   // the first service of a heap ends
const EVENT_PIECE = 3u;  // a piece of a calendar begins
const EVENT_SHIFT = 4u;  // a station breaks down or works again
const EVENT_WAKE = 5u;   // a free server looks for customers
const EVENT_ADMIT = 6u;  // a blocked customer comes in
const EVENT_RENEGE = 7u; // patience ends
const EVENT_TRIPS = 8u;  // trips end

// Rows of a node. The first: bits below, the first slot (of a heap its slot), the number of servers
// (NONE: no limit), the first ring. The second: its words, its heap, its room (NONE: no limit), its
// slot to wake.
// Further rows: ring of blocked customers (or NONE), slot to admit, slot and heap of patience; odds
// to stay: first row and number, calendar: first row and number; streams, slot of the calendar (or
// NONE), slot of breakdowns (or NONE; of a source, customers of an emission), class of a source;
// laws of breakdowns and repairs.
const NODE_LIMITS = 2u;
const NODE_CHANGES = 3u;
const NODE_OWN = 4u;
const NODE_UP = 5u;
const NODE_REPAIR = 7u;

const NODE_KIND = 7u;
const NODE_SOURCE = 0u;
const NODE_SLOTS = 1u;
const NODE_HEAP = 2u;
const NODE_ROUTER = 3u;
const NODE_SINK = 4u;
// How its customers wait, times 2^4.
const LINE_NONE = 0u;
const LINE_FIRST = 1u;
const LINE_LAST = 2u;
const LINE_RANDOM = 3u;
const LINE_BY_CLASS = 4u;
const LINE_POLLED = 5u;
// Some routes lead to a node that blocks; servers may be free while customers wait; servers have
// rows; and from bit 16 on the number of its sums.
const NODE_HOLDS = 0x100u;
const NODE_WAKES = 0x200u;
const NODE_BREAKS = 0x400u;

// Rows of a class at a node: the law of services or arrivals (2); the name of its streams, and its
// routes: first row, bits and number; then bits, the law of patience (or NONE), the first law of
// travel times, and customers at the start.
const PAIR_ROWS = 4u;
const PAIR_WAYS = 2u;
const PAIR_MORE = 3u;
const WAYS_IN_TURN = 0x80000000u;
const WAYS_COUNTED = 0x40000000u; // departures have numbers
const WAYS_NUMBER = 0xffffu;
const PAIR_ARRIVES = 1u; // arrivals have numbers

// The node of a slot whose events follow the release of its servers at one time, or NONE.
fn network_late(slot: u32) -> u32 {
    let row = network_data[TABLE_SLOTS + slot];
    return select(NONE, row.y, (row.x >= EVENT_WAKE) & (row.x <= EVENT_RENEGE));
}

fn pair_row(node: u32, class_: u32) -> u32 {
    return TABLE_PAIRS + PAIR_ROWS * (node * NETWORK_CLASSES + class_);
}

fn node_row(node: u32) -> u32 {
    return TABLE_NODES + NODE_ROWS * node;
}

// How customers of a node wait.
fn node_line(main: vec4<u32>) -> u32 {
    return (main.x >> 4u) & 15u;
}

// The number of customers that wait.
fn node_waiting(main: vec4<u32>) -> u32 {
    let line = node_line(main);
    var waiting = network[NETWORK_LINE + main.w];
    if NETWORK_BY_CLASS && line >= LINE_BY_CLASS {
        for (var i = 1u; i < NETWORK_CLASSES; i += 1u) { waiting += network[NETWORK_LINE + main.w + i]; }
    }
    return select(waiting, 0u, line == LINE_NONE);
}

// The number of busy servers of a node with a heap.
fn node_busy(main: vec4<u32>, more: vec4<u32>) -> u32 {
    var busy = network[NETWORK_HELD + more.y];
    if NETWORK_HOLDS && (main.x & NODE_HOLDS) != 0u { busy += network[more.x + PAIR_BLOCKED]; }
    return busy;
}

// Whether a server is free, of a node whose servers may be free while customers wait.
fn node_free(main: vec4<u32>, more: vec4<u32>) -> bool {
    return (network[more.x + PAIR_DOWN] == 0u) & (node_busy(main, more) < network[more.x + PAIR_OPEN]);
}

// The next customer of a line that is not empty leaves it.
fn node_take(row: u32, main: vec4<u32>, words: u32) -> vec4<u32> {
    let line = node_line(main);
    var ring = main.w;
    if NETWORK_BY_CLASS && line >= LINE_BY_CLASS {
        ring = ring_next(ring, select(0u, network[words + PAIR_POLLED], line == LINE_POLLED));
    }
    if NETWORK_RANDOM && line == LINE_RANDOM {
        return ring_pick(ring, network_data[row + NODE_OWN].x, words);
    }
    return ring_take(ring, line == LINE_LAST);
}

// If servers are free while customers wait, one wakes now. If the node has room for a blocked
// customer, that comes in now.
fn node_wakes(row: u32, main: vec4<u32>, more: vec4<u32>) {
    let waiting = node_waiting(main);
    if NETWORK_WAKES && (main.x & NODE_WAKES) != 0u {
        network[more.w] = select(NEVER, network_now, (waiting > 0u) & node_free(main, more));
    }
    if NETWORK_BLOCKS {
        let limits = network_data[row + NODE_LIMITS];
        if limits.x != NONE {
            let enters = (network[NETWORK_LINE + limits.x] > 0u) & (node_busy(main, more) + waiting < more.z);
            network[limits.y] = select(NEVER, network_now, enters);
        }
    }
}

// The end of a time drawn now: the first row of its law, the row of its stream, and the draw.
fn network_drawn(law: u32, row: u32, kind: u32, number: u32) -> u32 {
    let words = network_block(row, kind, number);
    return network_when(network_law(network_data[law], network_data[law + 1u], words, row, kind, number));
}
