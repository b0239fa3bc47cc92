// A network that was compiled to a kernel of its own: memory, draws and sums. One invocation makes
// one replication. notes/compiled-networks.md describes times, sums and the order of events. The
// text of a network (src/facility/compiled/print.rs) has a case for each slot of next times and for
// each node.
//
// Word i of n replications lies at i * n + slot, so that neighbours coalesce.
//
// import: facility/network/bins.wgsl
// import: facility/network/places.wgsl
// import: gpu/wide.wgsl
// import: random/distributions.wgsl
// import: random/philox.wgsl
// import: random/stream.wgsl
// import: random/table.wgsl
// import: time/ticks.wgsl
// needs: NETWORK_CLASS, NETWORK_CLASSES, NETWORK_DETAILS, NETWORK_EXTRA, NETWORK_HEAPS
// needs: NETWORK_LIMITS, NETWORK_NODES, NETWORK_RINGS, NETWORK_SHIFT, NETWORK_SLOTS, mul_wide
//
// bounds: for all files of the folder. Rings have a size that is a power of two; heaps and lists
// count up to their size before they store. All loops count to a value that does not change, or
// take a step of the slice. Divisors are numbers of routes and classes, above 0.

struct NetworkGiven {
    // Never read and always zero, because of Mesa's lavapipe: see `struct Run` in
    // shaders/pdes/engine.wgsl.
    unread: vec2<u32>,
    warm_up: vec2<u32>,
    until: vec2<u32>,
    jobs: u32,  // replications of the batch
    steps: u32, // of a slice: iterations of loops
    ring: u32,  // customers of a ring, a power of two
    heap: u32,  // customers of a heap
}

@group(0) @binding(0) var<uniform> network_given: NetworkGiven;
// The first rows are those of slots (node * classes if customers are served there, or NONE; its
// heap, or NONE; whether that has customers on their way; the node if servers of it are released
// before its event, or NONE), then those of rings (node * classes; whether customers in it are
// blocked).
@group(0) @binding(1) var<storage, read> network_data: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> network_keys: array<vec2<u32>>;
@group(0) @binding(3) var<storage, read_write> network_saved: array<u32>;
@group(0) @binding(4) var<storage, read_write> network_rings: array<u32>;
@group(0) @binding(5) var<storage, read_write> network_results: array<u32>;
@group(0) @binding(6) var<storage, read_write> network_running: array<atomic<u32>>;

const NONE = 0xffffffffu;
const SURE = 0xffffffffu;
// Next times are offsets to `network_base`, below 2^30 when they come. Later than all of them:
const NEVER = 0xffffffffu;
// A time 2^31 ticks ahead or more: after the end of the run, or at `NETWORK_DUE`.
const FAR = 0xfffffffeu;
const PAST = 0xfffffffdu; // of `network_now`: no event
const EPOCH = 0x40000000u;
const LONG = 0x80000000u;

// The first words of the saved state; the network's words follow.
const NETWORK_STATUS = 0u;
const NETWORK_FAULTS = 1u;
const NETWORK_CONTROL = 16u;

const NETWORK_FRESH = 0u;
const NETWORK_ACTIVE = 1u;
const NETWORK_DONE = 2u;

// Faults, as bits. After FULL, more room helps.
const NETWORK_FULL = 1u;
const NETWORK_OLD = 2u;   // a customer that came 2^31 ticks ago
const NETWORK_AHEAD = 4u; // an event 2^31 ticks ahead
const NETWORK_BUSY = 8u;  // too many events of one tick
const NETWORK_CUT = 16u;  // a driver ended a loop

// Customers on their way to a node in one of the two lists.
const NETWORK_MAIL = 128u;
const MAIL_WORDS = 4u;
const HEAP_WORDS = 4u;
const SERVED_WORDS = 3u;
// Rounds of one tick.
const NETWORK_ROUNDS = 4096u;

// Words of the state: next times; served customers by slot (entry, arrival, class); customers in
// heaps; customers in rings, their first places, and with patience their places, of which some are
// empty; then rows of a class at a node; then further words that the text of the network uses; then
// times that are far ahead (2), by slot. The uniform form prints its own places.
const NETWORK_SERVED = NETWORK_SLOTS;
const NETWORK_HELD = NETWORK_SERVED + SERVED_WORDS * NETWORK_SLOTS;
const NETWORK_LINE = NETWORK_HELD + NETWORK_HEAPS;
const NETWORK_FIRST = NETWORK_LINE + NETWORK_RINGS;
const NETWORK_SPAN = NETWORK_FIRST + NETWORK_RINGS;
const NETWORK_PAIRS = NETWORK_SPAN + NETWORK_RINGS;
const NETWORK_MORE = NETWORK_PAIRS + PAIR_WORDS * NETWORK_CLASSES * NETWORK_NODES;
const NETWORK_DUE = NETWORK_MORE + NETWORK_EXTRA;
const NETWORK_WORDS = NETWORK_DUE + 2u * NETWORK_SLOTS;

// Words of a class at a node. Sums: served; sojourn (2), its square (3); wait (2), its square (3);
// lost; reneged, and their stay (2); balked; trips that began here, and that ended.
const PAIR_WORDS = 44u;
const PAIR_SOJOURN = 1u;
const PAIR_WAIT = 6u;
const PAIR_LOST = 11u;
const PAIR_JOINED = 11u; // of a fork
const PAIR_RENEGED = 12u;
const PAIR_BALKED = 15u;
const PAIR_BEGUN = 16u;
const PAIR_ENDED = 17u;
const PAIR_SUMS = 18u;
// Draws of services, departures and arrivals.
const PAIR_SERVICES = 18u;
const PAIR_DEPARTURES = 19u;
const PAIR_ARRIVALS = 20u;
// Of the node, in the words of its first class. The next route, of routes in turn. The class served
// last, or customers picked at random.
const PAIR_TURN = 21u;
const PAIR_POLLED = 22u;
const PAIR_FREE = 22u; // of a fork: the first place without a customer
// Servers, or odds that a customer stays, now; the next piece of the calendar.
const PAIR_OPEN = 23u;
const PAIR_PIECE = 24u;
// Whether the station is broken down; breakdowns and repairs that were drawn; bits of busy servers.
const PAIR_DOWN = 25u;
const PAIR_SHIFTS = 30u;
const PAIR_SERVERS = 31u;
// Levels of servers that are down or blocked (of shared ones: that are busy; of a fork: of tasks
// that are back), and of interrupted customers. At a preemptive station, each class has a level of
// services that continued, less those that were interrupted.
const PAIR_OUT = 32u;
const PAIR_INTERRUPTED = 36u;
const PAIR_RESUMED = 36u;
// Servers that keep a customer until the next node has room.
const PAIR_BLOCKED = 40u;
// A Level (facility/network/records.wgsl): trips that began here, less trips that ended here.
const PAIR_TRIPS = 26u;
// Of the switch form: the next service or time between arrivals (2), and the row of the next route.
// They are drawn when the one before is taken, so that no event waits for its draw.
const PAIR_NEXT = 41u;
const PAIR_ROUTE = 43u;

// Results of a class at a node, for each of two visits of all customers: customers; in service;
// sums of ages of all (2), of those in service (2), and of the part of all ages after the warm-up
// (2).
const VISIT_WORDS = 8u;
// With details, two histograms of each class at a node follow: sojourns, and waits that were not 0,
// each with a word for each limit of a share, in whole rows. Then for each node the ticks with each
// number of customers (2).
const NETWORK_HISTOGRAM = BINS + (NETWORK_LIMITS + 3u) / 4u * 4u;
const NETWORK_BINS = 2u * NETWORK_NODES * NETWORK_CLASSES * VISIT_WORDS;
const NETWORK_LENGTHS = NETWORK_BINS + NETWORK_NODES * NETWORK_CLASSES * 2u * NETWORK_HISTOGRAM;
const NETWORK_RESULTS = NETWORK_BINS + u32(NETWORK_DETAILS) * (NETWORK_LENGTHS + 2u * LENGTHS * NETWORK_NODES - NETWORK_BINS);
// The last of the further words then are those of nodes: customers, since when (low word).
const NETWORK_NUMBERS = NETWORK_DUE - 2u * NETWORK_NODES;

// Of a customer's class, the bits with the number of the fork whose task it is.
const NETWORK_TASK = 0xffu & ~NETWORK_CLASS;

// Kinds of draws (facility/network/streams.wgsl).
const DRAW_SERVICE = 0u;
const DRAW_WAY = 1u;
const DRAW_TRAVEL = 2u;
const DRAW_PATIENCE = 3u;
const DRAW_STAYS = 4u;
const DRAW_UP = 5u;
const DRAW_REPAIR = 6u;
const DRAW_PICK = 7u;
const TRIP = 0x80000000u; // in the sender of a customer whose route took time
const NAMED = 0xc0000000u; // SUBSTREAM | SUBSTREAM_NAMED of pdes/model.wgsl

var<private> network: array<u32, NETWORK_WORDS>;
var<private> network_slot: u32; // of the batch
var<private> network_key: vec2<u32>;
var<private> network_base: vec2<u32>;
var<private> network_now: u32; // less the base
var<private> network_at: u32;  // the low word of the present time
var<private> network_faults: u32;
var<private> network_steps: u32;
// Whether events of this tick are handled in rounds; rounds and events of a round so far.
var<private> network_rounds: bool;
var<private> network_round: u32;
var<private> network_events_of_round: u32;
// The list of this round (0 or 1), and the customers in both lists.
var<private> network_list: u32;
var<private> network_mail: vec2<u32>;
// Of the last customer with patience that joined a line.
var<private> network_serial: u32;
// The customer on its way: to a node (or NONE), its class, the node it comes from + 1,
// its entry.
var<private> go_to: u32;
var<private> go_class: u32;
var<private> go_from: u32;
var<private> go_entered: u32;
// If it keeps a server at its sender: its class there + 1, and when it arrived there.
var<private> go_place: u32;
var<private> go_came: u32;
// Whether it was blocked before, and comes in now; whether a node has let it in, and its
// server at the sender is free.
var<private> go_admitted: bool;
var<private> go_released: bool;
// Whether numbers of customers changed that other nodes know with the next round.
var<private> network_reports: bool;
// The remainder of the service of the customer that was taken from a ring; NEVER if it has not
// begun.
var<private> network_left: u32;
// The next time of a slot in which an arrival began service.
var<private> network_began: vec2<u32>;

// The first four words of a draw of a class at a node, whose stream is named by a row of data.
fn network_block(row: u32, kind: u32, number: u32) -> vec4<u32> {
    let name = network_data[row].xy;
    return philox4x32(vec4<u32>(NAMED, name.x | kind, name.y, number), network_key);
}

// Opens the same stream for draws of any number.
fn network_stream(row: u32, kind: u32, number: u32) {
    let name = network_data[row].xy;
    stream_enter(NAMED, vec3<u32>(name.x | kind, name.y, number));
}

// A route of several at random: its row of data.
fn network_route(first: u32, count: u32, row: u32, kind: u32, number: u32) -> u32 {
    return network_route_of(network_block(row, kind, number), first, count, row, kind, number);
}

// The same, with the first words of the draw.
fn network_route_of(words: vec4<u32>, first: u32, count: u32, row: u32, kind: u32, number: u32) -> u32 {
    let scaled = mul_wide(words.x, count);
    var picked = scaled.y;
    var word = words.y;
    // See `draw_below`: rarely, the first word is drawn again.
    if scaled.x < count && scaled.x < (0u - count) % count {
        network_stream(row, kind, number);
        picked = alias_slot(count);
        word = draw();
    }
    let odds = network_data[first + picked];
    return first + select(odds.y, picked, word < odds.x);
}

// Draws the next route of several at random for a class at a node with these words.
fn network_choose(pair: u32, first: u32, count: u32, row: u32) {
    network[pair + PAIR_ROUTE] = network_route(first, count, row, DRAW_WAY, network_count(pair + PAIR_DEPARTURES));
}

// Takes that route, and draws the next one.
fn network_chosen(pair: u32, first: u32, count: u32, row: u32) -> u32 {
    let route = network[pair + PAIR_ROUTE];
    network_choose(pair, first, count, row);
    return route;
}

// The next time of a slot, a time from now.
fn network_when(span: vec2<u32>) -> u32 {
    if (span.y == 0u) & (span.x < LONG) { return network_now + span.x; }
    let then = time_add(add_word(network_base, network_now), span);
    network_faults |= select(0u, NETWORK_AHEAD, time_less(then, network_given.until));
    return FAR;
}

// The same for a slot without customers, whose time may be far ahead.
fn network_later(slot: u32, span: vec2<u32>) -> u32 {
    if (span.y == 0u) & (span.x < LONG) { return network_now + span.x; }
    let then = time_add(add_word(network_base, network_now), span);
    network[NETWORK_DUE + 2u * slot] = then.x;
    network[NETWORK_DUE + 2u * slot + 1u] = then.y;
    return FAR;
}

// Adds to a sum of 64 bits.
fn network_add(place: u32, more: u32) {
    let sum = network[place] + more;
    network[place] = sum;
    if sum < more { network[place + 1u] += 1u; }
}

// Adds a time to a sum, and its square to the sum of 96 bits behind it. (Without a branch: all
// words are read before the first is written.)
fn network_time(place: u32, time: u32) {
    let square = mul_wide(time, time);
    let sum = add_word(vec2<u32>(network[place], network[place + 1u]), time);
    let low = vec2<u32>(network[place + 2u], network[place + 3u]);
    let high = network[place + 4u];
    let squares = wide_add(low, square);
    network[place] = sum.x;
    network[place + 1u] = sum.y;
    network[place + 2u] = squares.x;
    network[place + 3u] = squares.y;
    network[place + 4u] = high + u32(wide_less(squares, square));
}

// Counts a time in the histogram of sojourns (0) or waits (1) of a class at a node.
fn network_bin(pair: u32, which: u32, time: u32) {
    let histogram = 2u * ((pair - NETWORK_PAIRS) / PAIR_WORDS) + which;
    // The rows of limits follow.
    let limits = vec2<u32>(NETWORK_SHIFT + 1u, NETWORK_LIMITS);
    let place = place_of(vec2<u32>(time, 0u), network_data[NETWORK_SHIFT].x, limits);
    network_results[(NETWORK_BINS + histogram * NETWORK_HISTOGRAM + place) * network_given.jobs + network_slot] += 1u;
}

// A node has a number of customers from now on.
fn network_number(node: u32, number: u32) {
    let words = NETWORK_NUMBERS + 2u * node;
    let length = 2u * (LENGTHS * node + length_bin(network[words]));
    let place = (NETWORK_LENGTHS + length) * network_given.jobs + network_slot;
    let more = network_at - network[words + 1u];
    let sum = network_results[place] + more;
    network_results[place] = sum;
    if sum < more { network_results[place + network_given.jobs] += 1u; }
    network[words] = number;
    network[words + 1u] = network_at;
}

// A customer of this class at a node began service after a wait.
fn network_waited(pair: u32, wait: u32) {
    network_time(pair + PAIR_WAIT, wait);
    if NETWORK_DETAILS && wait != 0u { network_bin(pair, 1u, wait); }
}

// A served customer of this class at a node leaves after a stay.
fn network_leaves(pair: u32, stay: u32) {
    network[pair] += 1u;
    network_time(pair + PAIR_SOJOURN, stay);
    if NETWORK_DETAILS { network_bin(pair, 0u, stay); }
}

// Counts a draw. Returns the number of earlier ones.
fn network_count(place: u32) -> u32 {
    let number = network[place];
    network[place] = number + 1u;
    return number;
}

// The words of a customer in a ring: entry, arrival; class; serial (NONE: an empty place).

// Four words of network_rings, the first at `place`; words of neighbours lie between them.
fn network_row(place: u32) -> vec4<u32> {
    let jobs = network_given.jobs;
    let low = vec2<u32>(network_rings[place], network_rings[place + jobs]);
    return vec4<u32>(low, network_rings[place + 2u * jobs], network_rings[place + 3u * jobs]);
}

fn network_set_row(place: u32, row: vec4<u32>) {
    let jobs = network_given.jobs;
    network_rings[place] = row.x;
    network_rings[place + jobs] = row.y;
    network_rings[place + 2u * jobs] = row.z;
    network_rings[place + 3u * jobs] = row.w;
}

// A row of a table of times.
fn law_row(row: u32) -> vec4<u32> {
    return network_data[row];
}
