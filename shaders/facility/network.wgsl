// Interprets the tables that a `facility::Network` compiles to. Every LP is a node: source, station
// (a delay has a server for every customer), router, fork, or sink. A customer is the event that
// moves it. One thread serves one LP. The reference implementation is `facility::Facility`.
//
// A fork stores an arriving customer in a slot and sends forked tasks. A task carries the slot and
// the fork's LP, with the highest bit set, instead of its time of entry: nested forks recognise
// their own. The slot counts missing tasks; when the last one returns, the customer continues.
// If customers are traced, the lowest 16 bits of the time of entry are the tag (0: not traced). A
// task has the tag below its slot: tracing does not change the order of tasks of one time.
//
// LP memory: rows BLOCKED to INTERRUPTED; BLOCK rows, then OTHERS rows for each class; the parts in
// `Params`. Slots are last: fingerprints skip rows of zeros, so `room` does not change them.
// Drivers inline each call, and a second call costs seconds of compilation: `handle` calls
// `schedule`, `variate`, `wait`, `drop_out` and `record` at one place each, controlled by
// variables.
// import: facility/network/distributions.wgsl
// import: facility/network/lines.wgsl
// import: facility/network/records.wgsl
// import: facility/network/shares.wgsl
// import: facility/network/sharing.wgsl
// import: facility/network/streams.wgsl
// import: facility/network/tables.wgsl
// import: facility/network/routes.wgsl

const CLASSES = 4u;
const SURE = 0xffffffffu;

struct Params {
    warm_up: vec2<u32>, // in ticks; statistics begin here
    classes: u32,
    // The first row of ticks by number of customers, LENGTHS of 2 words, then for each class
    // BINS words of sojourn and BINS of wait, each with a word for each limit, in whole rows
    // (0: not recorded). The rest are first rows, too:
    details: u32,
    known: u32, // customers at each node that a shortest-line route can choose, four in a row
    // 2 rows per server if SERVER_ROWS: serial (0: free), class, end of service; entered, arrived
    servers: u32,
    // Per waiting customer: entered, arrived; class, next + 1, previous + 1, serial; see `left`.
    slots: u32,
    // Rows of a slot: 1 if all lines are rings of one class, 3 if any needs `left`, else 2.
    slot_rows: u32,
    room: u32,          // most customers that wait at a station; there are at least as many slots
    bin_shift: u32,     // a bin's unit is 2^bin_shift ticks; at most 31
    trace: u32,         // the first row of notes on traced customers; 0 if none is traced
    trace_rows: u32,    // rows for notes; the first row counts the notes
    // One of `every` customers is traced, of each source and of those present at the start.
    every: u32,
    most: u32,          // at most this many are traced
    limits: vec2<u32>,  // the first row of data with limits of shares, and their number
}

// 32 bytes: what memory transactions move. State that few events need is in LP memory.
struct State {
    busy: u32,    // customers in service
    waiting: u32, // and those that wait
    // Last serial of a customer that waited, or was served with SERVER_ROWS or SHARING.
    serial: u32,
    turn: u32,    // the next route, of routes taken in turn
    // The first free slot of the list in facility/network/lines.wgsl; of a ring, the first in line.
    free: u32,
    open: u32, // servers now; of a source with a calendar, the odds that an emitted customer stays
    // The class served last, if classes are polled; of a ring, how often it was doubled.
    polled: u32,
    down: u32,    // whether the station is broken down
}

const SOURCE = 0u;
const STATION = 1u;
const SINK = 2u;
const ROUTER = 3u;
const FORK = 4u;
const TASK = 0x80000000u; // with the fork's LP: the high word of `entered` of a forked task
const TRIP = 0x80000000u;    // in the serial of an arrival: it took time to travel
const LIFO = 1u; // disciplines; 0 is first come, first served
const RANDOM = 2u;
const PRIORITY = 3u;
const PREEMPTIVE = 4u;
const SHARING = 5u;
const POLLING = 6u;
// First come, first served, if only the first customer leaves and no blocked customers wait.
const RING = 7u;
const RING_SIZE = 8u; // slots of a ring before it is doubled
// Flags: a customer that finds the node full keeps its server at the sender and waits there.
const BLOCKS = 1u;
const SERVER_ROWS = 2u; // its servers have rows
const HOLDS = 4u;       // some of its routes lead to a node that blocks
// Servers may be free while customers wait: it holds, or has a calendar or breakdowns.
const WAKES = 8u;
const IN_TURN = 1u; // how a route is chosen; 0 is at random
const SHORTEST = 2u;
// Rows of LP memory; (2) means two words.
const BLOCKED = 0u; // first + 1, last + 1 of the line of customers blocked at other nodes; 0: none
// A Level: blocked servers; busy ones (SHARING); returned tasks (fork); servers down (breakdowns).
const SERVERS = 1u;
// A Level: trips that began here, along routes that take time, less trips that ended here.
const TRAVELLERS = 2u;
const PIECE = 3u; // the next piece of a calendar; breakdown and repair times drawn; picks at random
// Of shared servers: facility/network/sharing.wgsl (2); when it was last moved (2).
const CLOCK = 4u;
const DUE = 5u; // the earliest departure of shared servers: when (2), its serial (0: none)
const SINCE = 6u; // with details: when the number of customers last changed (2)
// Rows of a class's block, 128 bytes: its line (2), draws of services and departures, main sums.
const BLOCK = 8u;
// Further rows of a class: sums that few events change, arrivals that drew random numbers.
const OTHERS = 5u;

// Kinds of event, in their order at one time (table: docs/guide-networks.md); words: `event_of`.
const COMPLETION = 0u;
// The end of a repair or the start of a run (place 0), a breakdown (1), a calendar piece (2).
const SHIFT = 1u;
const EMISSION = 2u;   // place 1: the first one, which emits no customer
const RELEASE = 3u;    // another node took in the customer that kept a server here
const REPORT = 4u;     // the node of number `place` has `serial` more customers
const WAKE = 5u;       // a free server serves a waiting customer
const ADMIT = 6u;      // the first blocked customer comes in
const RENEGE = 7u;
// Serial of an arrival: the LP it comes from + 1, with TRIP if it took time. Place: its class there
// + 1 if it keeps a server.
const ARRIVAL = 8u;
const NOTHING = 9u;

struct Customer {
    class_: u32,
    entered: vec2<u32>, // the network
    arrived: vec2<u32>, // at this node
    // Remaining service if interrupted, TIME_NEVER if not begun; of a blocked customer, words 1 and
    // place of its event; at a fork, missing tasks.
    left: vec2<u32>,
}

fn next_serial(state: ptr<function, State>) -> u32 {
    (*state).serial = max((*state).serial + 1u, 1u);
    return (*state).serial;
}

fn event_of(kind: u32, place: u32, serial: u32, who: Customer) -> array<u32, 6> {
    let first = (kind << 24u) | (place << 8u) | who.class_;
    // High words first: events of one time are ordered by their words.
    return array<u32, 6>(first, serial, who.entered.y, who.entered.x, who.arrived.y, who.arrived.x);
}

fn nobody(class_: u32) -> Customer {
    return Customer(class_, TIME_ZERO, TIME_ZERO, TIME_NEVER);
}

fn init(lp: u32, state: ptr<function, State>) {
    let table = table_of(lp);
    (*state).open = table.servers;
    // Customers present at the start, at most 4,096 of a class, then the first events of the node.
    for (var class_ = 0u; class_ < params.classes + 3u; class_ += 1u) {
        var what = event_of(ARRIVAL, 0u, 0u, nobody(class_));
        var count = 0u;
        if class_ < params.classes {
            count = pair_more(lp, class_).z;
        } else if class_ == params.classes {
            what = event_of(SHIFT, 2u, 0u, nobody(0u));
            count = u32(table.calendar != 0u);
        } else if class_ == params.classes + 1u {
            what = event_of(SHIFT, 0u, 0u, nobody(0u));
            count = u32(table.up != 0u);
        } else {
            what = event_of(EMISSION, 1u, 0u, nobody(table.class_));
            count = u32(table.kind == SOURCE);
        }
        for (var i = 0u; i < count; i += 1u) {
            if traced() && class_ < params.classes { what[3] = tag_at(pair_more(lp, class_).w, i); }
            schedule(lp, TIME_ZERO, what);
        }
    }
}

// Whether customers are traced; below, whether distributions are recorded.
fn traced() -> bool {
    return SPECIAL && params.trace != 0u;
}

fn detailed() -> bool {
    return SPECIAL && params.details != 0u;
}

// Servers that may begin a service.
fn free_servers(state: ptr<function, State>) -> u32 {
    if ((*state).down != 0u) | ((*state).busy >= (*state).open) { return 0u; }
    return (*state).open - (*state).busy;
}

// Whether customers at other nodes are blocked by this one, which has these flags.
fn blocked_customers_wait(flags: u32) -> bool {
    if (flags & BLOCKS) == 0u { return false; }
    return memory_get(BLOCKED).x != 0u;
}

fn handle(lp: u32, event: Event, state: ptr<function, State>) {
    let table = table_of(lp);
    let words = event.payload;
    let kind = words[0] >> 24u;
    let place = (words[0] >> 8u) & 0xffffu;
    // Named, because each dot in a chain of conditions counts as nesting depth (src/gpu/depth.rs).
    let node = table.kind;
    let room = table.room;
    let discipline = select(table.discipline, RING, SIMPLE);
    let sharing = SPECIAL && discipline == SHARING;
    let preemptive = SPECIAL && discipline == PREEMPTIVE;
    var flags = 0u;
    var listeners = 0u;
    if SPECIAL {
        flags = table.flags;
        listeners = table.listeners;
    }
    let before = (*state).busy + (*state).waiting;
    var came = TIME_ZERO; // when an arriving customer that keeps a server came to its sender
    let working = min((*state).busy, (*state).open);
    var who = Customer(select(words[0] & 0xffu, 0u, SIMPLE), vec2<u32>(words[3], words[2]), vec2<u32>(words[5], words[4]), TIME_NEVER);
    var node_record = NodeRecord();
    var moves = 0u;      // customers that move to another node
    var law = 0u;        // of a time to be drawn
    var span = TIME_NEVER;
    var own = NOTHING;   // the node's next event of its own
    var slot = 0u;       // its place
    var serial = 0u;
    var begins = false;  // whether service of `next` begins or resumes
    var next = who;
    var server = SURE;   // the server, if servers have rows
    var shares = false;  // whether `next` begins shared service
    var joins = false;   // whether `waits` joins `line`
    var waits = who;
    var line = BLOCKED;
    var drops = SURE;       // slot of the customer that leaves the line `from_line`
    var from_line = BLOCKED;
    var interrupted = SURE; // the class of the interrupted customer
    // Of an arrival: LP + 1, and its class there + 1 if it keeps a server.
    var sender = vec2<u32>(words[1] & ~TRIP, place);
    if kind == ARRIVAL { node_record.ended = u32((words[1] & TRIP) != 0u); }
    var holds = false;      // whether the departing customer keeps its server
    var parts = false;      // whether the departing customers are forked tasks
    var back = 0;           // change of the number of tasks that wait at their fork

    // Events that happen with a probability.
    var odds = SURE;
    if SPECIAL && kind == EMISSION && table.calendar != 0u { odds = (*state).open; }
    if !SIMPLE && kind == ARRIVAL && table.odds != 0u { odds = word(table.odds + min(before, table.odds_count - 1u)); }
    var number = 0u;     // of the next random draw
    var name = table.name;
    if kind == ARRIVAL { number = next_arrival(lp, who.class_); }
    if kind == EMISSION { number = memory_get(block_of(who.class_)).z; }
    var stays = odds == SURE;
    if !SIMPLE && !stays {
        stream_named(pair_name(lp, who.class_, DRAW_STAYS), number);
        stays = draw() < odds;
    }

    var due = vec4<u32>(0u);
    if sharing { due = memory_get(DUE); }
    if sharing && (kind == ARRIVAL || (kind == COMPLETION && words[1] == due.z)) { advance(lp, state); }

    switch kind {
        case SHIFT: {
            if !SPECIAL { return; }
            own = SHIFT;
            let was_down = out_of_order(state);
            if place == 2u {
                slot = place;
                let drawn = memory_get(PIECE);
                let piece = table.calendar + 3u * drawn.x;
                memory_set(PIECE, vec4<u32>((drawn.x + 1u) % table.pieces, drawn.yzw));
                (*state).open = word(piece + 2u);
                span = vec2<u32>(word(piece), word(piece + 1u));
            } else {
                (*state).down = place;
                law = select(table.up, table.repair, place == 1u);
                slot = 1u - place;
                let drawn = memory_get(PIECE);
                memory_set(PIECE, vec4<u32>(drawn.x, drawn.y + 1u, drawn.zw));
                number = drawn.y;
                name.x |= select(DRAW_UP, DRAW_REPAIR, place == 1u);
            }
            change_down(was_down, out_of_order(state));
            next = nobody(0u);
        }
        case COMPLETION: {
            if sharing {
                if words[1] != due.z { return; } // another customer came that leaves earlier
                // If others came and delayed it, the first customer does not leave yet.
                if !time_less(memory_get(CLOCK).xy, slot_row(0u, 2u).xy) {
                    who = customer_of(0u);
                    who.left = TIME_NEVER;
                    moves = 1u;
                }
            } else {
                if (flags & SERVER_ROWS) != 0u {
                    server = place;
                    let row = memory_get(params.servers + 2u * server);
                    if row.x != words[1] { return; } // it was interrupted
                    if time_less(now(), row.zw) {
                        // The station broke down meanwhile.
                        own = COMPLETION;
                        slot = server;
                        serial = row.x;
                        span = time_since(row.zw, now());
                    } else {
                        memory_set(params.servers + 2u * server, vec4<u32>(0u));
                        moves = 1u;
                    }
                } else {
                    moves = 1u;
                }
                (*state).busy -= moves;
                begins = ((flags & WAKES) == 0u) & (moves != 0u) & ((*state).waiting > 0u) & (free_servers(state) > 0u);
            }
            node_record.served = moves;
            node_record.present = -i32(moves);
            node_record.busy = -i32(moves);
        }
        case EMISSION: {
            own = EMISSION;
            law = table.arrivals;
            who.entered = now();
            if place == 0u && stays { moves = table.batch; }
            node_record.served = moves;
            next = nobody(who.class_);
        }
        case RELEASE: {
            if !SPECIAL { return; }
            (*state).busy -= 1u;
            node_record.served = 1u;
            node_record.present = -1;
            node_record.busy = -1;
        }
        case REPORT: {
            if !SPECIAL { return; }
            var known = memory_get(params.known + place / 4u);
            known[place & 3u] += words[1];
            memory_set(params.known + place / 4u, known);
            return;
        }
        case WAKE: {
            if !SPECIAL { return; }
            begins = ((*state).waiting > 0u) & (free_servers(state) > 0u);
            if !begins { return; }
        }
        case ADMIT, ARRIVAL: {
            // (A time of entry is below 2^63, so it never looks like a task; stations are no
            // forks.)
            let forks = SPECIAL && node == FORK;
            let full = before >= room || (SPECIAL && kind == ARRIVAL && blocked_customers_wait(flags));
            let returns = SPECIAL && kind == ARRIVAL && who.entered.y == (TASK | lp);
            var found = who.entered.x >> 16u;
            if kind == ADMIT {
                if !SPECIAL { return; }
                found = memory_get(BLOCKED).x - 1u;
                if found == SURE || before >= room { return; }
                drops = found;
            }
            if (SPECIAL && kind == ADMIT) || returns {
                who = customer_of(found);
                sender = who.left;
                if kind == ADMIT { number = slot_row(found, 2u).z; }
            }
            waits = Customer(who.class_, who.entered, who.arrived, sender);
            came = who.arrived;
            if !returns { who.arrived = now(); }
            who.left = TIME_NEVER;
            next = who;
            node_record.arrivals = u32(!returns);
            if returns {
                let missing = sender.x - 1u;
                set_slot_row(found, 2u, vec4<u32>(missing, 0u, 0u, 0u));
                node_record.joined = 1u;
                back = 1;
                if missing == 0u {
                    drops = found;
                    from_line = block_of(0u);
                    node_record.served = 1u;
                    node_record.present = -1;
                    moves = 1u;
                    back = 1 - i32(pair_more(lp, who.class_).w);
                }
            } else if forks {
                node_record.present = 1;
                moves = pair_more(lp, who.class_).w;
                parts = true;
                joins = true;
                line = block_of(0u);
                waits.arrived = now();
                waits.left = vec2<u32>(moves, 0u);
            } else if node == SINK {
                who.arrived = time_of(who.entered);
                node_record.served = 1u;
            } else if node == ROUTER {
                node_record.served = 1u;
                moves = 1u;
            } else if !stays {
                node_record.balked = 1u;
            } else if full {
                joins = SPECIAL && sender.y != 0u;
                node_record.arrivals = u32(!joins);
                node_record.lost = u32(!joins);
            } else {
                node_record.present = 1;
                shares = sharing;
                begins = !shares & ((*state).waiting == 0u) & (free_servers(state) > 0u);
                if preemptive {
                    begins = free_servers(state) > 0u;
                    if !begins {
                        server = worst_server(lp);
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
                if !begins & !shares {
                    if !SIMPLE {
                        law = data[pair(lp, who.class_)].y;
                        name = pair_name(lp, who.class_, DRAW_PATIENCE);
                    }
                    joins = true;
                    waits = who;
                }
                if joins { line = line_of(lp, waits.class_); }
            }
        }
        default: { // RENEGE
            if SIMPLE { return; }
            if slot_row(place, 1u).w != words[1] { return; } // it was served before
            drops = place;
            from_line = line_of(lp, who.class_);
            node_record.reneged = 1u;
            node_record.present = -1;
        }
    }
    if begins & (kind != ADMIT) & (kind != ARRIVAL) {
        let found = next_in_line(lp, state);
        from_line = found.x;
        drops = found.y;
        next = customer_of(drops);
    }
    if drops != SURE { drop_out(lp, drops, from_line, state); }
    if joins {
        slot = wait(lp, waits, line, (line != BLOCKED) & ((discipline == LIFO) | begins), state);
        serial = (*state).serial;
        if SPECIAL && line == BLOCKED { set_slot_row(slot, 2u, vec4<u32>(waits.left, number, 0u)); }
        if law != 0u { own = RENEGE; }
    }
    let fresh = all(next.left == TIME_NEVER);
    if begins | shares {
        if fresh { law = data[pair(lp, next.class_)].x; } else { span = next.left; }
    }
    // Counts services or arrivals, and departures, that draw random numbers.
    let serves = ((begins | shares) & fresh) | (kind == EMISSION);
    var departures = 0u;
    let departs = moves != 0u && (pair_streams(lp, who.class_).z & DEPARTURES) != 0u;
    if serves {
        let row = memory_get(block_of(next.class_));
        memory_set(block_of(next.class_), vec4<u32>(row.xy, row.z + 1u, row.w));
        number = row.z;
        name = pair_name(lp, next.class_, DRAW_SERVICE);
    }
    if departs {
        let row = memory_get(block_of(who.class_));
        memory_set(block_of(who.class_), vec4<u32>(row.xyz, row.w + 1u));
        departures = row.w;
    }

    // First the node's own next event, then departing customers (at most 256), the node's messages
    // to itself and to a sender that it unblocks, and listeners. One loop: `schedule` is called
    // once.
    let last = moves + select(0u, 3u, flags != 0u) + listeners;
    for (var i = 0u; i <= last; i += 1u) {
        var to = lp;
        var route = vec4<u32>(0u);
        if i > 0u {
            law = 0u;
            span = TIME_ZERO;
            if i <= moves {
                var row = 0u;
                name = pair_name(lp, who.class_, 8u * (i - 1u));
                number = departures;
                if parts {
                    row = task_route(lp, who.class_, i - 1u);
                } else {
                    row = route_of(lp, who.class_, state, name, number);
                }
                name.x |= DRAW_TRAVEL;
                route = data[row];
                to = route.z;
                law = route_distribution(route);
            }
        }
        if law != 0u {
            stream_named(name, number);
            span = variate(law);
        }
        var what = event_of(WAKE, 0u, 0u, nobody(0u));
        var notifies = true;
        if i == 0u {
            if begins {
                own = COMPLETION;
                slot = 0u;
                serial = 0u;
                (*state).busy += 1u;
                if discipline == POLLING { (*state).polled = next.class_; }
                if (flags & SERVER_ROWS) != 0u {
                    slot = server;
                    if server == SURE { slot = free_server(lp); }
                    serial = next_serial(state);
                    memory_set(params.servers + 2u * slot, vec4<u32>(serial, next.class_, time_add(now(), span)));
                    memory_set(params.servers + 2u * slot + 1u, vec4<u32>(next.entered, next.arrived));
                }
            }
            if sharing && (shares || kind == COMPLETION) {
                if shares | (moves != 0u) { change_shared(next, span, shares, state); }
                if (*state).busy > 0u {
                    span = until_next(lp, state);
                    if !shares | time_less(time_add(now(), span), select(due.xy, TIME_NEVER, due.z == 0u)) {
                        own = COMPLETION;
                        serial = next_serial(state);
                        memory_set(DUE, vec4<u32>(time_add(now(), span), serial, 0u));
                    }
                } else {
                    memory_set(DUE, vec4<u32>(0u));
                }
            }
            if SPECIAL && kind == SHIFT && place == 1u {
                // A breakdown lengthens all services by the repair. At most 32 servers.
                for (var i = 0u; i < table.servers; i += 1u) {
                    let row = memory_get(params.servers + 2u * i);
                    if row.x != 0u { memory_set(params.servers + 2u * i, vec4<u32>(row.xy, time_add(row.zw, span))); }
                }
            }
            notifies = own != NOTHING;
            var whose = next;
            if sharing { whose = nobody(0u); }
            what = event_of(own, slot, serial, whose);
        } else if i <= moves {
            var goes = Customer(route_class(route), who.entered, TIME_ZERO, TIME_NEVER);
            // (Tasks have no sender: a fork does not count tasks among customers sent to a shorter
            // line.)
            var from_ = lp + 1u;
            if parts {
                goes.entered = vec2<u32>((slot << 16u) | tag_of(who.entered), TASK | lp);
                from_ = 0u;
            }
            if traced() && kind == EMISSION {
                goes.entered = vec2<u32>(goes.entered.x << 16u, (goes.entered.y << 16u) | (goes.entered.x >> 16u));
                goes.entered.x |= tag_at(table.odds, (*state).serial);
                (*state).serial += 1u;
            }
            holds = (flags & HOLDS) != 0u && (data[to * NODE_ROWS + 3u].w & BLOCKS) != 0u;
            var keeps = 0u;
            if holds {
                goes.arrived = who.arrived;
                keeps = who.class_ + 1u;
                (*state).busy += 1u;
                node_record = NodeRecord();
            }
            if law != 0u {
                from_ |= TRIP;
                node_record.begun += 1u;
            }
            what = event_of(ARRIVAL, keeps, from_, goes);
        } else if SPECIAL && i > last - listeners {
            // The sender of this customer has already counted it.
            let listener = table.listening + 2u * (i + listeners - last - 1u);
            to = word(listener);
            let change = node_record.present - i32(kind == ARRIVAL && sender.x == to + 1u);
            notifies = change != 0;
            what = event_of(REPORT, word(listener + 1u), bitcast<u32>(change), nobody(0u));
        } else if SPECIAL {
            switch i - moves {
                case 1u: { notifies = (flags & WAKES) != 0u && (*state).waiting > 0u && free_servers(state) > 0u; }
                case 2u: {
                    what = event_of(ADMIT, 0u, 0u, nobody(0u));
                    notifies = blocked_customers_wait(flags) && (*state).busy + (*state).waiting < room;
                }
                default: {
                    to = sender.x - 1u;
                    notifies = node_record.present > 0 && sender.y != 0u;
                    what = event_of(RELEASE, 0u, 0u, Customer(sender.y - 1u, who.entered, came, TIME_NEVER));
                }
            }
        }
        if notifies { schedule(to, time_add(now(), span), what); }
    }

    // Statistics.
    if begins | shares {
        node_record.fresh = u32(fresh);
        // An arriving customer begins at once.
        if kind == ARRIVAL || kind == ADMIT { node_record.busy = 1; } else if begins { node_record.taken = 1; }
        // (A server that continues with a customer of the same class.)
        if next.class_ == who.class_ {
            node_record.busy += node_record.taken;
            node_record.taken = 0;
        }
    }
    if interrupted != SURE {
        node_record.given = -1;
        node_record.whose = interrupted;
    }
    if SPECIAL { node_record.kept = i32(holds) - i32(kind == RELEASE) + back; }
    if sharing { node_record.kept = i32(min((*state).busy, (*state).open)) - i32(working); }
    node_record.visited = u32(node != SOURCE && node != ROUTER);
    if (*state).busy + (*state).waiting != before && node == STATION { node_record.changed = before + 1u; }
    record(who, next, node_record);
}
