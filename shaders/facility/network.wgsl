// A queueing network that is data: an interpreter of the tables that `facility::Network` is compiled to. Every LP is a node: a source, a
// station (a delay is one with servers for all), a router, a fork, or a sink. A customer is the event that moves it. One thread serves one LP. The Rust twin is
// `facility::Facility`; the files of the folder `network` have twins of their names beside it.
//
// A fork keeps who comes in a slot, and sends his siblings. In the place of the time when they entered the network they have his slot, and the fork's LP with the highest bit: so a fork knows
// its own when they come back, and whose they are, however forks lie within each other. The slot counts those who are missing; with the last of them, the customer goes on.
//
// Where customers are followed, the lowest 16 bits of that time are a customer's tag, and the time itself is above; siblings have his tag below the slot, so that those of one time come in the order of their slots with and without it. 0 is for who is not followed.
//
// LP memory (rows):
//     GUESTS      the line of those who wait at other nodes for room here: first + 1, last + 1 (0: nobody waits)
//     SERVERS     a Level: servers that wait for another node; of a station that shares its servers, those that work; of a fork, siblings that
//                 came back and wait for the others; of a station with breakdowns, servers that are down
//     TRAVELLERS  a Level: customers who began a trip here, along a way that takes time, less those who ended one
//     PIECE       of a calendar, the next one; breakdowns and repairs that were drawn; customers picked at random
//     CLOCK       of servers that are shared: facility/network/sharing.wgsl (2), and when it was moved last (2)
//     DUE         and the departure that is due next, at the earliest: when (2), its serial (0: nobody is there)
//     SINCE       with details: when the number of customers changed last (2)
//     INTERRUPTED a Level: customers whose service waits for a repair
//     blocks      BLOCK for each class, from row BLOCK on: the line of that number (2), services and departures
//                 that drew random numbers, and sums that most events change (facility/network/records.wgsl).
//                 A block is 128 bytes, a line of memory
//     others      OTHERS for each class: sums that few events change, and arrivals that drew random numbers
//     details     (params.details; 0: none) ticks by number of customers: LENGTHS of 2 words; BINS words of sojourn and of wait for each class
//     known       customers at each of the nodes that a shortest line is chosen of, four in a row
//     servers     2 for each server of a station with SERVER_ROWS: serial (0: free), class, end of service; entered, arrived
//     trace       (params.trace; 0: none) how many notes there are; notes: facility/network/records.wgsl
//     slots       2, or 1 where all lines are rings of one class, or 3 where something needs it, for each customer that may wait: entered, arrived; class, next + 1, previous + 1, serial;
//                 service that is left, or of a guest, who sent him and the number of his arrival, or of one who shares servers, when he leaves, or of one who was parted, missing siblings
//
// Slots lie last: rows of zeros do not count in fingerprints, so the room for waiting customers
// does not show there.
//
// Drivers copy a function to each of its calls. So `handle` calls `schedule`, `variate`, `wait`,
// `drop_out` and the records at one place each: an event sets variables, and later stages act on
// them. A second call costs seconds of compilation.
//
// import: facility/network/distributions.wgsl
// import: facility/network/lines.wgsl
// import: facility/network/records.wgsl
// import: facility/network/sharing.wgsl
// import: facility/network/streams.wgsl
// import: facility/network/tables.wgsl
// import: facility/network/routes.wgsl

const CLASSES = 4u;
const SURE = 0xffffffffu;

struct Params {
    warm_up: vec2<u32>, // in ticks; statistics begin here
    classes: u32,
    details: u32,       // first rows of what the head names
    known: u32,
    servers: u32,
    slots: u32,
    slot_rows: u32,
    room: u32,          // how many may wait at a station; there are as many slots, or more
    bin_shift: u32,     // the unit of bins is 2^bin_shift ticks, at most 2^31
    trace: u32,         // the first row of what is noted of customers that are followed, or 0 if nobody is
    trace_rows: u32,    // rows of that, the first of which counts the others
    every: u32,         // of each source, and of those that are at a node at the beginning, one in so many is followed
    most: u32,          // so many of them
    unused: vec2<u32>,
}

// 32 bytes, because that is what memory is read by: with 80, 10,000 runs of `jackson.toml` by threads made 0.79 to 0.98 as many events (H200, four turns). What few events need is in LP memory.
struct State {
    busy: u32,    // customers in service
    waiting: u32, // and those that wait
    serial: u32,  // of who waited, or was served where servers have rows or are shared, last
    turn: u32,    // ways that were taken in turn
    free: u32,    // the first slot that is free, and of a list of them: facility/network/lines.wgsl. Of a ring, that of the first in line
    open: u32,    // servers that there are now; of a source with a calendar, odds that who comes stays
    polled: u32,  // class that was served last, where they are polled. Of a ring, how often it was doubled
    down: u32,    // whether the station is broken
}

const SOURCE = 0u;
const STATION = 1u;
const SINK = 2u;
const ROUTER = 3u;
const FORK = 4u;
const SIBLING = 0x80000000u; // and the fork's LP: the high word of a sibling's `entered`
const TRIP = 0x80000000u;    // of an arrival
const LIFO = 1u; // disciplines; first come first served is 0
const RANDOM = 2u;
const PRIORITY = 3u;
const PREEMPTIVE = 4u;
const SHARING = 5u;
const POLLING = 6u;
const RING = 7u; // first come first served too, where nobody leaves the line but the first, and no guests wait
const RING_SIZE = 8u; // slots of a ring, before it is doubled
const BLOCKS = 1u;      // flags: who finds it full waits where he is, and keeps his server there
const SERVER_ROWS = 2u; // its servers have rows
const HOLDS = 4u;       // some of its ways lead to a node that blocks
const WAKES = 8u;       // servers may be free while customers wait: it holds, or has a calendar or breakdowns
const IN_TURN = 1u; // ways; by chance is 0
const SHORTEST = 2u;
const GUESTS = 0u;
const SERVERS = 1u;
const TRAVELLERS = 2u;
const PIECE = 3u;
const CLOCK = 4u;
const DUE = 5u;
const SINCE = 6u;
const BLOCK = 8u;
const OTHERS = 5u;

// Kinds of event, in their order at one time (docs/guide-networks.md has the table of it): see `event_of` for the words.
const COMPLETION = 0u;
const SHIFT = 1u;      // the end of a repair, or the beginning (place 0), a breakdown (1), a piece of the calendar (2)
const EMISSION = 2u;   // place 1: of nobody, at the beginning
const RELEASE = 3u;    // a node took in the customer that kept a server here
const REPORT = 4u;     // the node of number `place` has `serial` customers more
const WAKE = 5u;       // a free server takes who waits
const ADMIT = 6u;      // the first guest comes in
const RENEGE = 7u;
// Of an arrival, serial: LP + 1 where it comes from, with the highest bit if it took time; place: its class there + 1 if it
// keeps a server.
const ARRIVAL = 8u;
const NOTHING = 9u;

struct Customer {
    class_: u32,
    entered: vec2<u32>, // the network
    arrived: vec2<u32>, // at this node
    left: vec2<u32>,    // of a service that was interrupted; TIME_NEVER for one that has not begun. Of a guest, words 1 and place of his event; of one who was
                        // parted, missing siblings
}

fn next_serial(state: ptr<function, State>) -> u32 {
    (*state).serial = max((*state).serial + 1u, 1u);
    return (*state).serial;
}

fn event_of(kind: u32, place: u32, serial: u32, who: Customer) -> array<u32, 6> {
    let first = (kind << 24u) | (place << 8u) | who.class_;
    // High words first: events of one time are in the order of their words.
    return array<u32, 6>(first, serial, who.entered.y, who.entered.x, who.arrived.y, who.arrived.x);
}

fn nobody(class_: u32) -> Customer {
    return Customer(class_, TIME_ZERO, TIME_ZERO, TIME_NEVER);
}

fn init(lp: u32, state: ptr<function, State>) {
    let table = table_of(lp);
    (*state).open = table.servers;
    // Who is there from the beginning, at most 4,096 of a class; and the first pieces of what goes on by itself.
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

// Whether customers are followed, and whether distributions are told.
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

// Whether anybody waits elsewhere for room at a node with these flags.
fn blocked_customers_wait(flags: u32) -> bool {
    if (flags & BLOCKS) == 0u { return false; }
    return memory_get(GUESTS).x != 0u;
}

fn handle(lp: u32, event: Event, state: ptr<function, State>) {
    let table = table_of(lp);
    let words = event.payload;
    let kind = words[0] >> 24u;
    let place = (words[0] >> 8u) & 0xffffu;
    // Names of their own, because each dot in a chain of conditions counts as a level of a deep text (src/gpu/depth.rs).
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
    var came = TIME_ZERO; // of who arrives: where he keeps a server
    let working = min((*state).busy, (*state).open);
    var who = Customer(select(words[0] & 0xffu, 0u, SIMPLE), vec2<u32>(words[3], words[2]), vec2<u32>(words[5], words[4]), TIME_NEVER);
    var record = NodeRecord();
    var moves = 0u;      // customers that go on to another node
    var law = 0u;        // of a time that is to be drawn
    var span = TIME_NEVER;
    var own = NOTHING;   // the node's next event of its own
    var slot = 0u;       // its place
    var serial = 0u;
    var begins = false;  // whether `next` begins or resumes service
    var next = who;
    var server = SURE;   // by which, where servers have rows
    var shares = false;  // whether `next` begins service with the others
    var joins = false;   // whether `waits` joins `line`
    var waits = who;
    var line = GUESTS;
    var drops = SURE;       // slot of who leaves the line `from_line`
    var from_line = GUESTS;
    var interrupted = SURE; // the class of who was
    var sender = vec2<u32>(words[1] & ~TRIP, place); // of who arrives: LP + 1, and his class there + 1 if he keeps a server
    if kind == ARRIVAL { record.ended = u32((words[1] & TRIP) != 0u); }
    var holds = false;      // whether who goes on keeps his server
    var parts = false;      // whether those who go on are siblings
    var back = 0;           // siblings who wait at their fork, more or less than before

    // What happens with a probability only.
    var odds = SURE;
    if SPECIAL && kind == EMISSION && table.calendar != 0u { odds = (*state).open; }
    if !SIMPLE && kind == ARRIVAL && table.odds != 0u { odds = word(table.odds + min(before, table.odds_count - 1u)); }
    var number = 0u;     // of the random draw that comes next
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
                if words[1] != due.z { return; } // another came, who leaves earlier
                // Else others came, and he leaves later.
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
            record.served = moves;
            record.present = -i32(moves);
            record.busy = -i32(moves);
        }
        case EMISSION: {
            own = EMISSION;
            law = table.arrivals;
            who.entered = now();
            if place == 0u && stays { moves = table.batch; }
            record.served = moves;
            next = nobody(who.class_);
        }
        case RELEASE: {
            if !SPECIAL { return; }
            (*state).busy -= 1u;
            record.served = 1u;
            record.present = -1;
            record.busy = -1;
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
            // (Who enters the network has a time below 2^63, and stations are no forks.)
            let forks = SPECIAL && node == FORK;
            let full = before >= room || (SPECIAL && kind == ARRIVAL && blocked_customers_wait(flags));
            let returns = SPECIAL && kind == ARRIVAL && who.entered.y == (SIBLING | lp);
            var found = who.entered.x >> 16u;
            if kind == ADMIT {
                if !SPECIAL { return; }
                found = memory_get(GUESTS).x - 1u;
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
            record.arrivals = u32(!returns);
            if returns {
                let missing = sender.x - 1u;
                set_slot_row(found, 2u, vec4<u32>(missing, 0u, 0u, 0u));
                record.joined = 1u;
                back = 1;
                if missing == 0u {
                    drops = found;
                    from_line = block_of(0u);
                    record.served = 1u;
                    record.present = -1;
                    moves = 1u;
                    back = 1 - i32(pair_more(lp, who.class_).w);
                }
            } else if forks {
                record.present = 1;
                moves = pair_more(lp, who.class_).w;
                parts = true;
                joins = true;
                line = block_of(0u);
                waits.arrived = now();
                waits.left = vec2<u32>(moves, 0u);
            } else if node == SINK {
                who.arrived = time_of(who.entered);
                record.served = 1u;
            } else if node == ROUTER {
                record.served = 1u;
                moves = 1u;
            } else if !stays {
                record.balked = 1u;
            } else if full {
                joins = SPECIAL && sender.y != 0u;
                record.arrivals = u32(!joins);
                record.lost = u32(!joins);
            } else {
                record.present = 1;
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
            record.reneged = 1u;
            record.present = -1;
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
        slot = wait(lp, waits, line, (line != GUESTS) & ((discipline == LIFO) | begins), state);
        serial = (*state).serial;
        if SPECIAL && line == GUESTS { set_slot_row(slot, 2u, vec4<u32>(waits.left, number, 0u)); }
        if law != 0u { own = RENEGE; }
    }
    let fresh = all(next.left == TIME_NEVER);
    if begins | shares {
        if fresh { law = data[pair(lp, next.class_)].x; } else { span = next.left; }
    }
    // What is counted for the random numbers of a service, or an arrival, and of departures.
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

    // The next event of the node's own: what it is, and of whom. And then customers that go on, at most 256; what a node with flags tells itself, and the node from which a guest came; and
    // listeners. (One call of a function where it can be: drivers put the function in the place of each.)
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
        var tells = true;
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
                // It breaks down: all services take longer by the repair. At most 32.
                for (var i = 0u; i < table.servers; i += 1u) {
                    let row = memory_get(params.servers + 2u * i);
                    if row.x != 0u { memory_set(params.servers + 2u * i, vec4<u32>(row.xy, time_add(row.zw, span))); }
                }
            }
            tells = own != NOTHING;
            var whose = next;
            if sharing { whose = nobody(0u); }
            what = event_of(own, slot, serial, whose);
        } else if i <= moves {
            var goes = Customer(route_class(route), who.entered, TIME_ZERO, TIME_NEVER);
            // (Siblings come from nobody: their fork does not count them among those it sent to a shorter line.)
            var from_ = lp + 1u;
            if parts {
                goes.entered = vec2<u32>((slot << 16u) | tag_of(who.entered), SIBLING | lp);
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
                record = NodeRecord();
            }
            if law != 0u {
                from_ |= TRIP;
                record.begun += 1u;
            }
            what = event_of(ARRIVAL, keeps, from_, goes);
        } else if SPECIAL && i > last - listeners {
            // Who sent somebody here knows of him.
            let listener = table.listening + 2u * (i + listeners - last - 1u);
            to = word(listener);
            let change = record.present - i32(kind == ARRIVAL && sender.x == to + 1u);
            tells = change != 0;
            what = event_of(REPORT, word(listener + 1u), bitcast<u32>(change), nobody(0u));
        } else if SPECIAL {
            switch i - moves {
                case 1u: { tells = (flags & WAKES) != 0u && (*state).waiting > 0u && free_servers(state) > 0u; }
                case 2u: {
                    what = event_of(ADMIT, 0u, 0u, nobody(0u));
                    tells = blocked_customers_wait(flags) && (*state).busy + (*state).waiting < room;
                }
                default: {
                    to = sender.x - 1u;
                    tells = record.present > 0 && sender.y != 0u;
                    what = event_of(RELEASE, 0u, 0u, Customer(sender.y - 1u, who.entered, came, TIME_NEVER));
                }
            }
        }
        if tells { schedule(to, time_add(now(), span), what); }
    }

    // Statistics.
    if begins | shares {
        record.fresh = u32(fresh);
        // Who came begins at once.
        if kind == ARRIVAL || kind == ADMIT { record.busy = 1; } else if begins { record.taken = 1; }
        // (A server that goes on with a customer of the same class.)
        if next.class_ == who.class_ {
            record.busy += record.taken;
            record.taken = 0;
        }
    }
    if interrupted != SURE {
        record.given = -1;
        record.whose = interrupted;
    }
    if SPECIAL { record.kept = i32(holds) - i32(kind == RELEASE) + back; }
    if sharing { record.kept = i32(min((*state).busy, (*state).open)) - i32(working); }
    record.visited = u32(node != SOURCE && node != ROUTER);
    if (*state).busy + (*state).waiting != before && node == STATION { record.changed = before + 1u; }
    record(who, next, record);
}
