// Statistics in LP memory: rows of sums, some of which each event changes. The rows' places are in
// facility/network.wgsl.
//
// A Level does not store its time integral. That is the level times the ticks up to the end, less
// the sum of each change times the ticks before it; only that sum is stored.
//
// import: facility/network/bins.wgsl
// import: facility/network/places.wgsl
// import: gpu/wide.wgsl
// import: random/distributions.wgsl
// import: time/ticks.wgsl

// A number that changes over time.
struct Level {
    // Sum of each change times its age, modulo 2^96; age: ticks since the end of the warm-up, at
    // least 0.
    changes: vec2<u32>,
    high: u32,          // its highest word
    level: u32,         // now, modulo 2^32
}

// Sums over observed times.
struct TimeSums {
    sum: vec4<u32>,
    squares: vec4<u32>, // all ones if the sum does not fit
    count: vec2<u32>,
    unused: vec2<u32>,
}

// Results of a class of customers at a node.
struct ClassOutput {
    // Of served customers, from arrival to departure; at a sink, from entry to the network; at
    // sources and routers only a count.
    sojourn: TimeSums,
    wait: TimeSums,          // from arrival to the beginning of service
    present: Level,       // customers
    busy: Level,          // of these, in service
    arrivals: vec2<u32>,
    lost: vec2<u32>,
    reneged: vec2<u32>,
    balked: vec2<u32>,
    came: vec2<u32>,      // sum of the ages at which the present customers came, modulo 2^64
    // Corrects sojourns for the warm-up: time spent here before its end by served customers, less
    // time after it of customers that left without service, modulo 2^64.
    apart: vec2<u32>,
    joined: vec2<u32>,    // returned tasks; at a fork, of customers of this class
    begun: vec2<u32>,     // trips from here along routes that take time
    ended: vec2<u32>,     // and to here
    unused: vec2<u32>,
}

struct Output {
    classes: array<ClassOutput, CLASSES>,
    trips: Level,                          // trips that began here, less trips that ended here
    // Blocked servers; busy ones (SHARING); waiting tasks (fork); servers down (breakdowns).
    servers: Level,
    interrupted: Level,                    // customers whose service is interrupted by a breakdown
    // Ticks with each number of customers; the last: with at least that number.
    lengths: array<vec2<u32>, LENGTHS>,
}


const INTERRUPTED = 7u; // a row: facility/network.wgsl
// Rows of a class's block; the first is its line.
const PRESENT = 1u; // a Level
const AGES = 2u;    // `came`; arrivals
const BUSY = 3u;    // a Level
const SOJOURN = 4u; // sum; low word of the count
const SOJOURN_SQUARES = 5u;
const WAIT = 6u;
const WAIT_SQUARES = 7u;
// Its further rows.
const LOSSES = 0u; // lost; reneged
const BALKS = 1u;  // balked; joined
const APART = 2u;  // `apart`; high words of the counts of sojourns and of waits
const TRIPS = 3u;  // begun; ended
const CAME_BEFORE = 4u; // arrivals that drew random numbers
// Further rows that `record` changes, by the same numbering.
const TAKEN = 4u;   // BUSY of the class of the customer whose service begins or resumes
const GIVEN = 5u;   // BUSY of the class of the customer that was interrupted
const COUNTED = 6u; // APART of the customer that waited
const UNDERWAY = 7u;
const KEPT = 8u;
const LENGTH = 9u;
const SOJOURN_BIN = 10u;
const WAIT_BIN = 11u;
const NOTES = 12u; // the count of notes
const NOTE = 13u;
const NEXT_NOTES = 14u; // the same for `next`
const NEXT_NOTE = 15u;

// Changes that an event makes to the records of its customer and of another customer, `next`.
struct NodeRecord {
    arrivals: u32,
    served: u32,
    lost: u32,
    reneged: u32,
    balked: u32,
    joined: u32,
    begun: u32,
    ended: u32,
    present: i32, // -1, 0 or 1
    busy: i32,    // -1, 0 or 1
    fresh: u32,   // whether `next` begins service for the first time
    taken: i32,   // servers that `next` took, if `next` is not the arriving customer
    given: i32,   // the change for the interrupted customer's class, `whose`
    whose: u32,
    kept: i32,    // change of SERVERS
    visited: u32, // whether customers spend time at the node
    changed: u32, // 1 + the previous number of customers at a station, if it changed; else 0
}

// The first row of a class's block, whose line has that number. (The lines of a station are ordered
// by number.)
fn block_of(number: u32) -> u32 {
    return BLOCK * (1u + number);
}

// The first of its further rows.
fn others_of(class_: u32) -> u32 {
    return BLOCK * (1u + params.classes) + OTHERS * class_;
}

// Adds to a sum of 96 bits.
fn add_96(sum: vec3<u32>, more: vec3<u32>) -> vec3<u32> {
    let low = wide_add(sum.xy, more.xy);
    return vec3<u32>(low, sum.z + more.z + u32(wide_less(low, more.xy)));
}

// A level's row after a change at an age.
fn with_change(row: vec4<u32>, change: i32, age: vec2<u32>) -> vec4<u32> {
    let product = product_128(age, vec2<u32>(u32(abs(change)), 0u));
    // To subtract is to add to the complement and complement the sum.
    let turned = vec3<u32>(select(0u, 0xffffffffu, change < 0));
    return vec4<u32>(add_96(row.xyz ^ turned, product.xyz) ^ turned, row.w + u32(change));
}

// Changes the levels of servers that are down and of interrupted customers, from `before` to
// `after`.
fn change_down(before: vec2<u32>, after: vec2<u32>) {
    let age = time_since(now(), params.warm_up);
    let change = bitcast<vec2<i32>>(after - before);
    if change.x != 0 { memory_set(SERVERS, with_change(memory_get(SERVERS), change.x, age)); }
    if change.y != 0 { memory_set(INTERRUPTED, with_change(memory_get(INTERRUPTED), change.y, age)); }
}

// The same for a change by one.
fn with_step(row: vec4<u32>, up: bool, age: vec2<u32>) -> vec4<u32> {
    let turned = vec3<u32>(select(0xffffffffu, 0u, up));
    return vec4<u32>(add_96(row.xyz ^ turned, vec3<u32>(age, 0u)) ^ turned, select(row.w - 1u, row.w + 1u, up));
}

// A row of a sum of times and a count, after `count` more observations of sum `time`.
fn with_times(row: vec4<u32>, time: vec2<u32>, count: u32) -> vec4<u32> {
    return vec4<u32>(add_96(row.xyz, vec3<u32>(time, 0u)), row.w + count);
}

// Adds to two 64-bit sums in a row.
fn with_sums(row: vec4<u32>, more: vec4<u32>) -> vec4<u32> {
    return vec4<u32>(wide_add(row.xy, more.xy), wide_add(row.zw, more.zw));
}

// Each changed row has a bit. Frequent rows are all read first, so that reads overlap; the rest is
// a loop, to keep kernels short. Unchanged rows are not written: speculative execution searches for
// each write, and stops after a few (pdes/memory/lp_memory_speculative.wgsl).
fn record(who: Customer, next: Customer, node_record: NodeRecord) {
    let counts = !time_less(now(), params.warm_up);
    let age = time_since(now(), params.warm_up);
    let came = time_since(who.arrived, params.warm_up);
    let stay = select(TIME_ZERO, time_since(now(), who.arrived), node_record.visited != 0u);
    let wait = time_since(now(), next.arrived);
    let served = counts & (node_record.served != 0u);
    let waited = counts & (node_record.fresh != 0u);
    let arrivals = select(0u, node_record.arrivals, counts);
    let at = block_of(who.class_);
    let then = block_of(next.class_);
    let present = memory_get(at + PRESENT);
    let ages = memory_get(at + AGES);
    let busy = memory_get(at + BUSY);
    let sojourn = memory_get(at + SOJOURN);
    let sojourn_squares = memory_get(at + SOJOURN_SQUARES);
    let waits = memory_get(then + WAIT);
    let wait_squares = memory_get(then + WAIT_SQUARES);
    if (node_record.present != 0) | (arrivals != 0u) {
        if node_record.present != 0 { memory_set(at + PRESENT, with_step(present, node_record.present > 0, age)); }
        let sum = select(select(ages.xy, wide_add(ages.xy, came), node_record.present > 0), wide_subtract(ages.xy, came), node_record.present < 0);
        memory_set(at + AGES, vec4<u32>(sum, wide_add(ages.zw, vec2<u32>(arrivals, 0u))));
    }
    if node_record.busy != 0 { memory_set(at + BUSY, with_step(busy, node_record.busy > 0, age)); }
    var full = vec2<u32>(0u); // whether the low words of counts overflowed: of `who`, and of `next`
    if served {
        let sums = with_times(sojourn, stay, node_record.served);
        full.x = u32(sums.w < node_record.served);
        memory_set(at + SOJOURN, sums);
        if any(stay != TIME_ZERO) { memory_set(at + SOJOURN_SQUARES, wide_add_128(sojourn_squares, product_128(stay, stay))); }
    }
    if waited {
        let sums = with_times(waits, wait, 1u);
        full.y = u32(sums.w == 0u);
        memory_set(then + WAIT, sums);
        if any(wait != TIME_ZERO) { memory_set(then + WAIT_SQUARES, wide_add_128(wait_squares, product_128(wait, wait))); }
    }

    // See `apart`: it is zero for most stays, which lie after the warm-up and end with service.
    var apart = TIME_ZERO;
    if (node_record.present < 0) & counts {
        apart = select(wide_subtract(TIME_ZERO, time_since(age, came)), time_since(params.warm_up, who.arrived), node_record.served != 0u);
    }
    var left = u32(any(apart != TIME_ZERO) | (full.x != 0u)) << APART;
    left |= full.y << COUNTED;
    left |= (u32(node_record.taken != 0) << TAKEN) | (u32(node_record.given != 0) << GIVEN);
    left |= (u32(node_record.begun != node_record.ended) << UNDERWAY) | (u32(node_record.kept != 0) << KEPT);
    if counts {
        left |= u32((node_record.lost | node_record.reneged) != 0u) << LOSSES;
        left |= u32((node_record.balked | node_record.joined) != 0u) << BALKS;
        left |= u32((node_record.begun | node_record.ended) != 0u) << TRIPS;
    }
    if detailed() {
        left |= u32(node_record.changed != 0u) << LENGTH;
        left |= (u32(served & (node_record.visited != 0u)) << SOJOURN_BIN) | (u32(waited) << WAIT_BIN);
    }
    if traced() && node_record.visited != 0u {
        if node_record_of(node_record) != 0u && tag_of(who.entered) != 0u { left |= 3u << NOTES; }
        if node_record.fresh != 0u && tag_of(next.entered) != 0u { left |= 3u << NEXT_NOTES; }
    }
    var notes = 0u;
    while left != 0u {
        let what = firstTrailingBit(left);
        left &= left - 1u;
        var row = others_of(who.class_) + what;
        var more = vec4<u32>(0u);
        var change = 0;     // of a level
        var apiece = false; // whether each word is a sum of its own
        switch what {
            case LOSSES: { more = vec4<u32>(node_record.lost, 0u, node_record.reneged, 0u); }
            case BALKS: { more = vec4<u32>(node_record.balked, 0u, node_record.joined, 0u); }
            case APART: { more = vec4<u32>(apart, full.x, 0u); }
            case TRIPS: { more = vec4<u32>(node_record.begun, 0u, node_record.ended, 0u); }
            case TAKEN: {
                row = then + BUSY;
                change = node_record.taken;
            }
            case GIVEN: {
                row = block_of(node_record.whose) + BUSY;
                change = node_record.given;
            }
            case COUNTED: {
                row = others_of(next.class_) + APART;
                more.w = 1u;
            }
            case UNDERWAY: {
                row = TRAVELLERS;
                change = i32(node_record.begun) - i32(node_record.ended);
            }
            case KEPT: {
                row = SERVERS;
                change = node_record.kept;
            }
            default: {
                if !SPECIAL { break; }
                if what == LENGTH {
                    let place = length_bin(node_record.changed - 1u);
                    row = params.details + place / 2u;
                    let span = lasted();
                    more = select(vec4<u32>(TIME_ZERO, span), vec4<u32>(span, TIME_ZERO), (place & 1u) == 0u);
                    memory_set(SINCE, vec4<u32>(now(), 0u, 0u));
                } else if what <= WAIT_BIN {
                    let which = what - SOJOURN_BIN;
                    let place = place_of(select(wait, stay, which == 0u), params.bin_shift, params.limits);
                    row = bins_of(select(next.class_, who.class_, which == 0u), which) + place / 4u;
                    more[place & 3u] = 1u;
                    apiece = true;
                } else if (what == NOTES) | (what == NEXT_NOTES) {
                    row = params.trace;
                    more.x = 1u;
                } else {
                    // A note, in a row of zeros: tag, kind, class (16, 8, 8 bits); now (2); when
                    // the customer arrived at the node (low word).
                    var of_ = who;
                    var happened = node_record_of(node_record);
                    if what == NEXT_NOTE {
                        of_ = next;
                        happened = BEGAN;
                    }
                    row = params.trace + notes;
                    more = vec4<u32>(tag_of(of_.entered) | (happened << 16u) | (of_.class_ << 24u), now(), of_.arrived.x);
                }
            }
        }
        let before = memory_get(row);
        var sums = with_sums(before, more);
        if apiece { sums = before + more; }
        if change != 0 { sums = with_change(before, change, age); }
        if SPECIAL && (what == NOTES || what == NEXT_NOTES) {
            notes = sums.x;
            if notes >= params.trace_rows {
                memory_full();
                return;
            }
        }
        memory_set(row, sums);
    }
}

// Kinds of note on a traced customer.
const CAME = 1u;
const BEGAN = 2u; // began service
const LEFT = 3u;
const LOST = 4u;
const BALKED = 5u;
const RENEGED = 6u;

// The tag of the customer of this number, from 0 on, if the first one has tag `first`.
fn tag_at(first: u32, number: u32) -> u32 {
    let place = number / params.every;
    return select(0u, first + place, place * params.every == number && place < params.most);
}

// The tag, which is part of the time of entry to the network.
fn tag_of(entered: vec2<u32>) -> u32 {
    if !traced() { return 0u; }
    return entered.x & 0xffffu;
}

// The time of entry without the tag.
fn time_of(entered: vec2<u32>) -> vec2<u32> {
    if !traced() { return entered; }
    return vec2<u32>((entered.x >> 16u) | (entered.y << 16u), entered.y >> 16u);
}

fn node_record_of(node_record: NodeRecord) -> u32 {
    if node_record.served != 0u { return LEFT; }
    if node_record.lost != 0u { return LOST; }
    if node_record.balked != 0u { return BALKED; }
    if node_record.reneged != 0u { return RENEGED; }
    return select(0u, CAME, node_record.present > 0);
}

fn later(time: vec2<u32>) -> vec2<u32> {
    if time_less(time, params.warm_up) { return params.warm_up; }
    return time;
}

// The first row of the bins of a class.
fn bins_of(class_: u32, which: u32) -> u32 {
    return params.details + LENGTHS / 2u + (2u * class_ + which) * (BIN_ROWS + (params.limits.y + 3u) / 4u);
}

// The time since the number of customers last changed, after the warm-up.
fn lasted() -> vec2<u32> {
    return time_since(now(), later(memory_get(SINCE).xy));
}

// The level in a row.
fn level_at(row: u32) -> Level {
    let words = memory_get(row);
    return Level(words.xy, words.z, words.w);
}

// The sums whose rows begin at `row`; `high` is the high word of their count.
fn times_at(row: u32, high: u32) -> TimeSums {
    let sum = memory_get(row);
    return TimeSums(vec4<u32>(sum.xyz, 0u), memory_get(row + 1u), vec2<u32>(sum.w, high), vec2<u32>(0u));
}

fn class_output(class_: u32) -> ClassOutput {
    let at = block_of(class_);
    let others = others_of(class_);
    let came = memory_get(at + AGES);
    let lost = memory_get(others + LOSSES);
    let balked = memory_get(others + BALKS);
    let apart = memory_get(others + APART);
    let trips = memory_get(others + TRIPS);
    return ClassOutput(
        times_at(at + SOJOURN, apart.z), times_at(at + WAIT, apart.w), level_at(at + PRESENT), level_at(at + BUSY),
        came.zw, lost.xy, lost.zw, balked.xy, came.xy, apart.xy, balked.zw, trips.xy, trips.zw, vec2<u32>(0u),
    );
}

fn output(lp: u32, state: ptr<function, State>) -> Output {
    var results = Output();
    for (var class_ = 0u; class_ < params.classes; class_ += 1u) { results.classes[class_] = class_output(class_); }
    results.trips = level_at(TRAVELLERS);
    results.servers = level_at(SERVERS);
    results.interrupted = level_at(INTERRUPTED);
    if !detailed() { return results; }
    let present = length_bin((*state).busy + (*state).waiting);
    for (var i = 0u; i < LENGTHS; i += 1u) {
        let row = memory_get(params.details + i / 2u);
        results.lengths[i] = select(row.zw, row.xy, (i & 1u) == 0u);
        if i == present { results.lengths[i] = wide_add(results.lengths[i], lasted()); }
    }
    return results;
}
