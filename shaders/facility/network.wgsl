// A queueing network that is data: an interpreter of the tables that `facility::Network` is compiled to. Every LP is a node: a source, a
// station (a delay is one with servers for all), or a sink. A customer is the event that moves it. One thread serves one LP. The Rust twin is
// `facility::Facility`.
//
// Tables, in `data` (words):
//     nodes       NODE_WORDS words for each LP: kind, servers (SURE: one for everybody), most customers (SURE: no bound), discipline, law of
//                 arrivals, customers in a batch, their class, 0
//     pairs       PAIR_WORDS words for each LP and class: law of service, law of patience (0: none), place and number of its ways, whether they are taken
//                 in turn, its line (the lower goes first), customers at the beginning, 0
//     laws        8 words: kind, a number, three times
//     ways        WAY_WORDS words: threshold and other of an alias table, LP, class
//
// LP memory (rows):
//     lines       CLASSES: first + 1, last + 1 (0: nobody waits)
//     records     RECORD_ROWS for each class: sojourn (Tally: 4), wait (Tally: 4), present and in service (TimeAverage: 3 each), counts (2: arrivals, served;
//                 lost, reneged), ages (1: see `record`)
//     servers     2 for each server of a preemptive station: serial (0: free), class, end of service; entered, arrived
//     slots       2, or 3 where any station is preemptive, for each customer that may wait: entered, arrived; class, next + 1, previous + 1, serial;
//                 service that is left
//
// import: statistics/tally.wgsl
// import: statistics/time_average.wgsl

const CLASSES = 4u;
const SURE = 0xffffffffu;

struct Params {
    warm_up: vec2<u32>, // in ticks; statistics begin here
    classes: u32,
    servers: u32,       // first row of servers
    slots: u32,         // first row of slots
    slot_rows: u32,
    room: u32,          // slots
    unused: u32,
}
@group(1) @binding(0) var<uniform> params: Params;
@group(1) @binding(1) var<storage, read> data: array<u32>;

struct State {
    busy: u32,    // customers in service
    waiting: u32, // and those that wait
    serial: u32,  // of who waited, or was served by a preemptive station, last
    turn: u32,    // ways that were taken in turn
    free: u32,    // slot + 1 that is free, the first of a list; 0: none
    used: u32,    // slots that were ever used
    unused: vec2<u32>,
}

// What a class of customers did at a node.
struct ClassOutput {
    sojourn: Tally,       // from arrival to departure of those who were served; at a sink, from where they entered the network
    wait: Tally,          // from arrival to the beginning of service
    present: TimeAverage, // customers
    busy: TimeAverage,    // of these in service
    arrivals: vec2<u32>,
    served: vec2<u32>,
    lost: vec2<u32>,
    reneged: vec2<u32>,
    came: vec2<u32>,      // sum of the times of arrival of those present, modulo 2^64
    stayed: vec2<u32>,    // sum of the times that those who left were here, modulo 2^64
}
struct Output { classes: array<ClassOutput, CLASSES> }

const NODE_WORDS = 8u;
const SOURCE = 0u;
const STATION = 1u;
const SINK = 2u;
const LIFO = 1u; // disciplines; first come first served is 0
const RANDOM = 2u;
const PRIORITY = 3u;
const PREEMPTIVE = 4u;
const PAIR_WORDS = 8u;
const WAY_WORDS = 4u;
const RECORD_ROWS = 17u;

// Kinds of event, in the order in which they come at one time: see `event_of` for the words.
const COMPLETION = 0u;
const EMISSION = 1u;
const ARRIVAL = 2u;
const RENEGE = 3u;

struct Customer {
    class_: u32,
    entered: vec2<u32>, // the network
    arrived: vec2<u32>, // at this node
    left: vec2<u32>,    // of a service that was interrupted; TIME_NEVER for one that has not begun
}

// What happens to a customer's record.
struct Deed {
    arrivals: u32,
    served: u32,
    lost: u32,
    reneged: u32,
    present: i32,
    busy: i32,
}

fn pair(lp: u32, class_: u32) -> u32 {
    return lp_count() * NODE_WORDS + (lp * params.classes + class_) * PAIR_WORDS;
}

fn event_of(kind: u32, place: u32, serial: u32, who: Customer) -> array<u32, 6> {
    let first = (kind << 24u) | (place << 8u) | who.class_;
    // High words first: events of one time are in the order of their words.
    return array<u32, 6>(first, serial, who.entered.y, who.entered.x, who.arrived.y, who.arrived.x);
}

fn init(lp: u32, state: ptr<function, State>) {
    let node = lp * NODE_WORDS;
    if data[node] == SOURCE {
        let who = Customer(data[node + 6u], TIME_ZERO, TIME_ZERO, TIME_NEVER);
        schedule(lp, variate(data[node + 4u]), event_of(EMISSION, 0u, 0u, who));
        return;
    }
    for (var class_ = 0u; class_ < params.classes; class_ += 1u) {
        let who = Customer(class_, TIME_ZERO, TIME_ZERO, TIME_NEVER);
        // At most 4,096.
        for (var i = 0u; i < data[pair(lp, class_) + 6u]; i += 1u) {
            schedule(lp, TIME_ZERO, event_of(ARRIVAL, 0u, 0u, who));
        }
    }
}

fn handle(lp: u32, event: Event, state: ptr<function, State>) {
    let node = lp * NODE_WORDS;
    let words = event.payload;
    let kind = words[0] >> 24u;
    let discipline = data[node + 3u];
    var who = Customer(words[0] & 0xffu, vec2<u32>(words[3], words[2]), vec2<u32>(words[5], words[4]), TIME_NEVER);
    var deed = Deed();
    var moves = 0u;      // customers that go on to another node
    var law = 0u;        // of a time that is to be drawn
    var begins = false;  // whether `next` begins or resumes service
    var next = who;
    var server = 0u;     // by which, at a preemptive station
    var slot = 0u;       // of who waits
    var serial = 0u;
    var joins = false;   // whether `waits` joins the line
    var waits = who;
    var interrupted = SURE; // the class of who was
    switch kind {
        case EMISSION: {
            law = data[node + 4u];
            who.entered = now();
            moves = data[node + 5u];
            deed.served = moves;
        }
        case ARRIVAL: {
            who.arrived = now();
            deed.arrivals = 1u;
            if data[node] == SINK {
                who.arrived = who.entered;
                deed.served = 1u;
            } else if (*state).busy + (*state).waiting >= data[node + 2u] {
                deed.lost = 1u;
            } else {
                deed.present = 1;
                next = who;
                begins = (*state).busy < data[node + 1u];
                if discipline == PREEMPTIVE {
                    server = select(worst_server(lp), free_server(lp), begins);
                    if !begins {
                        let row = memory_get(params.servers + 2u * server);
                        begins = line_of(lp, row.y) > line_of(lp, who.class_);
                        if begins {
                            let times = memory_get(params.servers + 2u * server + 1u);
                            interrupted = row.y;
                            (*state).busy -= 1u;
                            joins = true;
                            waits = Customer(row.y, times.xy, times.zw, time_since(row.zw, now()));
                        }
                    }
                }
                if !begins {
                    law = data[pair(lp, who.class_) + 1u];
                    joins = true;
                    waits = who;
                }
            }
        }
        case COMPLETION: {
            if discipline == PREEMPTIVE {
                server = (words[0] >> 8u) & 0xffffu;
                if memory_get(params.servers + 2u * server).x != words[1] { return; } // it was interrupted
                memory_set(params.servers + 2u * server, vec4<u32>(0u));
            }
            moves = 1u;
            deed.served = 1u;
            deed.present = -1;
            deed.busy = -1;
            (*state).busy -= 1u;
            begins = (*state).waiting > 0u;
            if begins { next = take(lp, state); }
        }
        default: { // RENEGE
            let place = (words[0] >> 8u) & 0xffffu;
            if slot_row(place, 1u).w != words[1] { return; } // it was served before
            drop_out(lp, place, state);
            deed.reneged = 1u;
            deed.present = -1;
        }
    }
    if joins {
        slot = wait(lp, waits, discipline == LIFO || begins, state);
        serial = (*state).serial;
    }
    let fresh = all(next.left == TIME_NEVER);
    if begins {
        (*state).busy += 1u;
        if fresh { law = data[pair(lp, next.class_)]; }
    }
    var span = next.left;
    if law != 0u { span = variate(law); }

    // The next event of the node's own: what it is, and of whom.
    let at = time_add(now(), span);
    var own = RENEGE;
    if kind == EMISSION {
        own = EMISSION;
        next = Customer(who.class_, TIME_ZERO, TIME_ZERO, TIME_NEVER);
    } else if begins {
        own = COMPLETION;
        slot = server;
        if discipline == PREEMPTIVE {
            serial = next_serial(state);
            memory_set(params.servers + 2u * server, vec4<u32>(serial, next.class_, at));
            memory_set(params.servers + 2u * server + 1u, vec4<u32>(next.entered, next.arrived));
        } else {
            serial = 0u;
        }
    }
    // And then customers that go on, at most 256. (One call of a function where it can be: drivers put the function in the place of each.)
    for (var i = select(1u, 0u, begins || law != 0u); i <= moves; i += 1u) {
        var to = lp;
        var when = at;
        var what = event_of(own, slot, serial, next);
        if i > 0u {
            let way = way_of(lp, who.class_, state);
            to = data[way + 2u];
            when = now();
            what = event_of(ARRIVAL, 0u, 0u, Customer(data[way + 3u], who.entered, TIME_ZERO, TIME_NEVER));
        }
        schedule(to, when, what);
    }

    // Statistics.
    let begun = begins && kind == ARRIVAL; // who came begins at once
    if begun { deed.busy = 1; }
    record(who, deed);
    for (var i = 0u; i < 4u; i += 1u) {
        var class_ = who.class_;
        var change = deed.present;
        switch i {
            case 0u: {}
            case 1u: { change = deed.busy; }
            case 2u: {
                class_ = next.class_;
                change = i32(begins && !begun);
            }
            default: {
                class_ = interrupted;
                change = -i32(interrupted != SURE);
            }
        }
        if change != 0 { level(class_, select(3u, 0u, i == 0u), change); }
    }
    for (var i = 0u; i < 2u; i += 1u) {
        var class_ = who.class_;
        var arrived = who.arrived;
        var counts = deed.served > 0u && kind != EMISSION;
        if i == 1u {
            class_ = next.class_;
            arrived = next.arrived;
            counts = begins && fresh;
        }
        if counts { tally(class_, 4u * i, time_since(now(), arrived)); }
    }
}

// The way that a customer of a class takes: its place in `data`.
fn way_of(lp: u32, class_: u32, state: ptr<function, State>) -> u32 {
    let ways = pair(lp, class_);
    let first = data[ways + 2u];
    let count = data[ways + 3u];
    var way = 0u;
    if data[ways + 4u] != 0u {
        way = (*state).turn % count;
        (*state).turn = (way + 1u) % count;
    } else if count > 1u {
        let picked = alias_slot(count);
        way = alias_pick(picked, data[first + WAY_WORDS * picked], data[first + WAY_WORDS * picked + 1u]);
    }
    return first + WAY_WORDS * way;
}

fn line_of(lp: u32, class_: u32) -> u32 {
    return data[pair(lp, class_) + 5u];
}

fn next_serial(state: ptr<function, State>) -> u32 {
    (*state).serial = max((*state).serial + 1u, 1u);
    return (*state).serial;
}

// The server of a preemptive station that is free, one of which there is.
fn free_server(lp: u32) -> u32 {
    var server = 0u;
    // At most 32.
    while server < data[lp * NODE_WORDS + 1u] && memory_get(params.servers + 2u * server).x != 0u { server += 1u; }
    return server;
}

// And if there is none, that of the customer whom an arrival interrupts first: of the lowest class, and of these who began last.
fn worst_server(lp: u32) -> u32 {
    var worst = 0u;
    var found = memory_get(params.servers);
    // At most 32.
    for (var server = 1u; server < data[lp * NODE_WORDS + 1u]; server += 1u) {
        let row = memory_get(params.servers + 2u * server);
        let order = line_of(lp, row.y);
        let other = line_of(lp, found.y);
        if order > other || (order == other && row.x > found.x) {
            worst = server;
            found = row;
        }
    }
    return worst;
}

fn slot_row(slot: u32, row: u32) -> vec4<u32> {
    return memory_get(params.slots + slot * params.slot_rows + row);
}

fn set_slot_row(slot: u32, row: u32, words: vec4<u32>) {
    memory_set(params.slots + slot * params.slot_rows + row, words);
}

// Puts a customer into its line, at the end or in front. Returns its slot.
fn wait(lp: u32, who: Customer, in_front: bool, state: ptr<function, State>) -> u32 {
    // Without gaps for a random order, else from the list of those that are free.
    var slot = (*state).waiting;
    if data[lp * NODE_WORDS + 3u] != RANDOM {
        slot = (*state).free - 1u;
        if (*state).free == 0u {
            slot = (*state).used;
            (*state).used += 1u;
        } else {
            (*state).free = slot_row(slot, 1u).y;
        }
    }
    if slot >= params.room {
        memory_full();
        return 0u;
    }
    (*state).waiting += 1u;
    var neighbours = vec2<u32>(0u);
    if data[lp * NODE_WORDS + 3u] != RANDOM {
        let line = line_of(lp, who.class_);
        var ends = memory_get(line);
        if in_front {
            neighbours.x = ends.x;
            link(ends.x, 2u, slot + 1u);
            ends = vec4<u32>(slot + 1u, select(ends.y, slot + 1u, ends.y == 0u), 0u, 0u);
        } else {
            neighbours.y = ends.y;
            link(ends.y, 1u, slot + 1u);
            ends = vec4<u32>(select(ends.x, slot + 1u, ends.x == 0u), slot + 1u, 0u, 0u);
        }
        memory_set(line, ends);
    }
    set_slot_row(slot, 0u, vec4<u32>(who.entered, who.arrived));
    set_slot_row(slot, 1u, vec4<u32>(who.class_, neighbours, next_serial(state)));
    if data[lp * NODE_WORDS + 3u] == PREEMPTIVE { set_slot_row(slot, 2u, vec4<u32>(who.left, 0u, 0u)); }
    return slot;
}

// Tells a slot, if there is one, its next (1) or previous (2).
fn link(slot: u32, side: u32, other: u32) {
    if slot == 0u { return; }
    var row = slot_row(slot - 1u, 1u);
    row = select(vec4<u32>(row.xy, other, row.w), vec4<u32>(row.x, other, row.zw), side == 1u);
    set_slot_row(slot - 1u, 1u, row);
}

// Takes a customer out of its line.
fn drop_out(lp: u32, slot: u32, state: ptr<function, State>) {
    let row = slot_row(slot, 1u);
    (*state).waiting -= 1u;
    link(row.y, 2u, row.z);
    link(row.z, 1u, row.y);
    let line = line_of(lp, row.x);
    let ends = memory_get(line);
    memory_set(line, vec4<u32>(select(ends.x, row.y, row.z == 0u), select(ends.y, row.z, row.y == 0u), 0u, 0u));
    set_slot_row(slot, 1u, vec4<u32>(0u, (*state).free, 0u, 0u));
    (*state).free = slot + 1u;
}

// Takes the customer who is served next out of its line. Somebody waits.
fn take(lp: u32, state: ptr<function, State>) -> Customer {
    let discipline = data[lp * NODE_WORDS + 3u];
    var slot = 0u;
    if discipline == RANDOM {
        slot = draw_below((*state).waiting);
    } else {
        for (var line = 0u; line < CLASSES; line += 1u) {
            slot = memory_get(line).x;
            if slot != 0u { break; }
        }
        slot = max(slot, 1u) - 1u;
    }
    let times = slot_row(slot, 0u);
    var taken = Customer(slot_row(slot, 1u).x, times.xy, times.zw, TIME_NEVER);
    if discipline == PREEMPTIVE { taken.left = slot_row(slot, 2u).xy; }
    if discipline == RANDOM {
        (*state).waiting -= 1u;
        set_slot_row(slot, 0u, slot_row((*state).waiting, 0u));
        set_slot_row(slot, 1u, slot_row((*state).waiting, 1u));
    } else {
        drop_out(lp, slot, state);
    }
    return taken;
}

// The row where the record of a class begins.
fn record_of(class_: u32) -> u32 {
    return CLASSES + class_ * RECORD_ROWS;
}

// What happened to a customer, but for levels and tallies. Ages: the sum of the times of arrival of those present, and of the times that those who left were here, modulo 2^64
// and from the end of the warm-up on. With the time now, they make the area under the number present: Little's law.
fn record(who: Customer, deed: Deed) {
    let at = record_of(who.class_);
    if deed.present != 0 {
        let ages = memory_get(at + 16u);
        let till = later(now());
        let since = later(who.arrived);
        if deed.present > 0 {
            memory_set(at + 16u, vec4<u32>(plus(ages.xy, till), ages.zw));
        } else {
            memory_set(at + 16u, vec4<u32>(minus(ages.xy, since), plus(ages.zw, minus(till, since))));
        }
    }
    if time_less(now(), params.warm_up) { return; }
    if deed.arrivals + deed.served > 0u {
        let counts = memory_get(at + 14u);
        let some = vec4<u32>(plus(counts.xy, vec2<u32>(deed.arrivals, 0u)), plus(counts.zw, vec2<u32>(deed.served, 0u)));
        memory_set(at + 14u, some);
    }
    if deed.lost + deed.reneged > 0u {
        let counts = memory_get(at + 15u);
        let some = vec4<u32>(plus(counts.xy, vec2<u32>(deed.lost, 0u)), plus(counts.zw, vec2<u32>(deed.reneged, 0u)));
        memory_set(at + 15u, some);
    }
}

fn later(time: vec2<u32>) -> vec2<u32> {
    if time_less(time, params.warm_up) { return params.warm_up; }
    return time;
}

// Modulo 2^64.
fn plus(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    let low = a.x + b.x;
    return vec2<u32>(low, a.y + b.y + u32(low < a.x));
}

fn minus(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    return vec2<u32>(a.x - b.x, a.y - b.y - u32(a.x < b.x));
}

// The tally in row `row` of a class's record.
fn tally_of(class_: u32, row: u32) -> Tally {
    let at = record_of(class_) + row;
    let range = memory_get(at + 2u);
    return Tally(memory_get(at), memory_get(at + 1u), range.xy, range.zw, memory_get(at + 3u).xy, params.warm_up);
}

fn tally(class_: u32, row: u32, value: vec2<u32>) {
    let at = record_of(class_) + row;
    let next = tally_add(tally_of(class_, row), now(), value);
    memory_set(at, next.sum);
    memory_set(at + 1u, next.squares);
    memory_set(at + 2u, vec4<u32>(next.minimum, next.maximum));
    memory_set(at + 3u, vec4<u32>(next.count, next.since));
}

// The number present (0) or in service (3) of a class.
fn level_of(class_: u32, row: u32) -> TimeAverage {
    let at = record_of(class_) + 8u + row;
    let last = memory_get(at + 2u);
    return TimeAverage(memory_get(at), params.warm_up, memory_get(at + 1u).zw, last.x, last.y, last.z, last.w);
}

fn level(class_: u32, row: u32, change: i32) {
    let at = record_of(class_) + 8u + row;
    let next = time_average_add(level_of(class_, row), now(), change);
    memory_set(at, next.area);
    memory_set(at + 1u, vec4<u32>(next.since, next.changed));
    memory_set(at + 2u, vec4<u32>(next.level, next.minimum, next.maximum, next.unused));
}

// A time by the law at a place in `data`.
fn variate(law: u32) -> vec2<u32> {
    let number = data[law + 1u];
    let a = vec2<u32>(data[law + 2u], data[law + 3u]);
    let b = vec2<u32>(data[law + 4u], data[law + 5u]);
    let c = vec2<u32>(data[law + 6u], data[law + 7u]);
    switch data[law] {
        case 1u: { return draw_exponential(a); }
        case 2u: { return draw_uniform(a, b); }
        case 3u: { return draw_erlang(number, a); }
        case 4u: { return draw_hyperexponential(number, a, b); }
        case 5u: { return draw_triangular(a, b, c); }
        case 6u: { return draw_normal(a, b); }
        case 7u: { return draw_lognormal(a, number); }
        case 8u: { return draw_weibull(a, number); }
        default: { return a; }
    }
}

fn class_output(class_: u32) -> ClassOutput {
    let at = record_of(class_);
    let counts = memory_get(at + 14u);
    let others = memory_get(at + 15u);
    let ages = memory_get(at + 16u);
    return ClassOutput(
        tally_of(class_, 0u), tally_of(class_, 4u),
        time_average_at(level_of(class_, 0u), now()), time_average_at(level_of(class_, 3u), now()),
        counts.xy, counts.zw, others.xy, others.zw, ages.xy, ages.zw,
    );
}

fn output(lp: u32, state: ptr<function, State>) -> Output {
    var told = Output();
    for (var class_ = 0u; class_ < params.classes; class_ += 1u) { told.classes[class_] = class_output(class_); }
    return told;
}
