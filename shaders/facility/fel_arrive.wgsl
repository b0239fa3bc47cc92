// Steps 4, 5 and 2 of an iteration (facility/event_list.wgsl): facilities take the tokens released
// to them. An invocation serves a facility and writes only that facility's rows, places in the FEL
// and queue.
//
// import: facility/event_list.wgsl
// import: random/distributions.wgsl
// import: random/mix.wgsl
// import: gpu/reduce.wgsl
// provides: Reduced, WORD_FIRST_PLACE, WORD_PLACES, WORD_SERVERS, WORD_TIMES, facility_word, merge
// provides: now, row, row_of, rows
// needs: FACILITY_ROWS, draw_service, fifo_close, fifo_is_empty, fifo_open, fifo_put, fifo_take
// needs: graph_word, is_source
//
// bounds: indices as in event_list.wgsl; `NONE` sources are skipped. `next.token` is a token that a
// source released. It is never NONE: the same dispatch counted the arrivals, and sources differ, so
// no two arrivals are equal in the order. Loops count to tiles, sources, servers, arrivals and 32.
// The divisor is the interval, if it is above 0.

// By parity: the earliest time in ticks since the clock; FAR for that many or more, NEVER for no
// event.
@group(0) @binding(5) var<storage, read_write> keys: array<atomic<u32>>;
// By facility, then by workgroup: the low word of the last iteration that released a token to it.
@group(0) @binding(6) var<storage, read> hits: array<u32>;
// By facility FACILITY_ROWS rows: two words of the queue, services begun (2); times of service (2)
// and waiting (2); with a bound also tokens dropped (2). Then by token or by place of a queue: the
// next token or the token, unused, arrival at the facility (2).
@group(0) @binding(8) var<storage, read_write> rows: array<vec4<u32>>;

// Separates the hash that orders tokens arriving at one time from other hashes.
const KIND_TIE = 0x66656c74u;

alias Reduced = vec2<u32>;

fn merge(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    return time_min(a, b);
}

var<private> facility: u32;
var<private> now: vec2<u32>;
var<private> iteration: vec2<u32>;
var<private> row: vec4<u32>;
var<private> sums: vec4<u32>;

// The graph has lines of a word per facility: `sources` that send to it, or NONE; `targets`,
// equally likely; then the lines WORD_.
fn word(line: u32) -> u32 {
    return graph_word(line * params.facilities + facility);
}

// The lines after those of sources and targets: the number of targets; what `draw_service` knows of
// its times; the number of servers; with a bound also the first place of the queue, and their
// number.
const WORD_TARGETS = 0u;
const WORD_TIMES = 1u;
const WORD_SERVERS = 2u;
const WORD_FIRST_PLACE = 3u;
const WORD_PLACES = 4u;

fn facility_word(which: u32) -> u32 {
    return word(params.sources + params.targets + which);
}

// A row of the facility in `rows`.
fn row_of(which: u32) -> u32 {
    return FACILITY_ROWS * facility + which;
}

// The remainder of a time divided by the interval, which is from 1 to 2^31.
fn part_of_interval(time: vec2<u32>) -> u32 {
    if time.y == 0u { return time.x % params.interval; }
    var part = time.y % params.interval;
    for (var bit = 0u; bit < 32u; bit += 1u) {
        part = 2u * part + ((time.x >> (31u - bit)) & 1u);
        part = select(part, part - params.interval, part >= params.interval);
    }
    return part;
}

// A time in whole intervals: the nearest one, or the later of two, after `now`, which is a whole
// one.
fn rounded(service: vec2<u32>) -> vec2<u32> {
    if params.interval == 0u { return time_add(now, service); }
    let part = part_of_interval(service);
    let whole = wide_subtract(service, vec2<u32>(part, 0u));
    let later = select(0u, params.interval, part >= params.interval - part);
    return time_add(time_add(now, whole), vec2<u32>(later, 0u));
}

// Begins a service of a token that has arrived at a time.
fn serve(server: u32, token: u32, arrived: vec2<u32>) {
    let number = wide_add(row.zw, vec2<u32>(1u, 0u));
    stream_open(params.seed, facility, number);
    let service = draw_service();
    let towards = word(params.sources + draw_below(facility_word(WORD_TARGETS)));
    let departure = rounded(service);
    row = vec4<u32>(row.xy, number);
    let busy = wide_add(sums.xy, wide_subtract(departure, now));
    sums = vec4<u32>(busy, wide_add(sums.zw, wide_subtract(now, arrived)));
    let slot = slot_of(facility, server);
    servers[slot] = vec4<u32>(token, towards, time_add(now, service));
    times[slot] = departure;
}

// A server that is free serves the first token in the queue. A source mints the next token, named
// by its number.
fn serve_next(server: u32) {
    if is_source() {
        serve(server, row.z + 1u, now);
    } else if !fifo_is_empty() {
        let held = fifo_take();
        serve(server, held.x, held.zw);
    }
}

fn open_facility() {
    row = rows[row_of(0u)];
    sums = rows[row_of(1u)];
    fifo_open();
}

// Writes the facility's rows. Returns its earliest departure.
fn close_facility() -> vec2<u32> {
    rows[row_of(0u)] = row;
    rows[row_of(1u)] = sums;
    fifo_close();
    var least = TIME_NEVER;
    for (var server = 0u; server < SERVERS; server += 1u) {
        least = time_min(least, times[slot_of(facility, server)]);
    }
    return least;
}

// The order of arrivals: by original time, then by a hash with the seed, then by the server that
// released the token.
struct Arrival {
    time: vec2<u32>,
    tie: vec2<u32>,
    slot: u32,
    token: u32,
}

// Whether a server of a source, which may be NONE, has released a token to the facility in this
// iteration.
fn sends(source: u32, server: u32) -> bool {
    if source == NONE { return false; }
    let slot = slot_of(source, server);
    if any(released[2u * slot + 1u].xy != iteration) { return false; }
    return released[2u * slot].y == facility;
}

fn arrival_of(slot: u32) -> Arrival {
    let held = released[2u * slot];
    var lanes = mix_word(mix_word(mix_start(KIND_TIE), params.seed.x), params.seed.y);
    lanes = mix_word(mix_word(lanes, held.z), held.w);
    return Arrival(held.zw, mix_end(mix_word(lanes, held.x)), slot, held.x);
}

fn arrives_before(a: Arrival, b: Arrival) -> bool {
    if any(a.time != b.time) { return time_less(a.time, b.time); }
    if any(a.tie != b.tie) { return wide_less(a.tie, b.tie); }
    return a.slot < b.slot;
}

// Returns the facility's earliest departure.
fn take_arrivals(hit: bool) -> vec2<u32> {
    open_facility();
    let count = facility_word(WORD_SERVERS);
    // Waiting tokens go first.
    for (var server = 0u; server < count; server += 1u) {
        let slot = slot_of(facility, server);
        if all(times[slot] == now) {
            times[slot] = TIME_NEVER;
            serve_next(server);
        }
    }
    var arrivals = 0u;
    if hit {
        for (var line = 0u; line < params.sources; line += 1u) {
            for (var server = 0u; server < SERVERS; server += 1u) {
                arrivals += u32(sends(word(line), server));
            }
        }
    }
    var last = Arrival(TIME_ZERO, vec2<u32>(0u), 0u, 0u);
    // The servers before this one are busy.
    var idle = 0u;
    // Bounds: the servers of a facility's sources, each of which releases one token; twice.
    for (var taken = 0u; taken < arrivals; taken += 1u) {
        var next = Arrival(TIME_NEVER, vec2<u32>(NONE), NONE, NONE);
        for (var line = 0u; line < params.sources; line += 1u) {
            let source = word(line);
            for (var server = 0u; server < SERVERS; server += 1u) {
                if !sends(source, server) { continue; }
                let found = arrival_of(slot_of(source, server));
                if ((taken == 0u) | arrives_before(last, found)) & arrives_before(found, next) { next = found; }
            }
        }
        // Bound: the servers.
        while idle < count && any(times[slot_of(facility, idle)] != TIME_NEVER) { idle += 1u; }
        if idle < count { serve(idle, next.token, now); } else { fifo_put(next.token); }
        last = next;
    }
    return close_facility();
}

// The time until the earliest departure, as a word.
fn key_of(time: vec2<u32>) -> u32 {
    if all(time == TIME_NEVER) { return KEY_NEVER; }
    let since = wide_subtract(time, now);
    return select(since.x, KEY_FAR, (since.y != 0u) | (since.x > KEY_FAR));
}

// Stores the earliest time of a workgroup's facilities. One invocation calls it.
fn leave(id: u32, least: vec2<u32>, parity: u32) {
    times[SERVERS * params.facilities + id] = least;
    let key = key_of(least);
    if key != KEY_NEVER { atomicMin(&keys[parity], key); }
}

// What one invocation reads for all.
struct Iteration {
    now: vec2<u32>,
    number: vec2<u32>,
    stop: u32,
    // Whether one of the workgroup's facilities has an event or an arrival.
    busy: u32,
}

var<workgroup> shared_iteration: Iteration;

// The workgroup's facilities with an event or an arrival, compacted so that invocations in lockstep
// are all busy: twice the facility's number in the workgroup, plus 1 if a token arrives.
var<workgroup> busy: array<u32, GROUP_SIZE * TILES>;
var<workgroup> busy_count: atomic<u32>;

@compute @workgroup_size(GROUP_SIZE)
fn arrive(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let parity = 1u - params.parity;
    let id = min(group.y * groups.x + group.x, group_of(params.facilities - 1u));
    // A grid of two dimensions may have more workgroups than needed.
    let serves = id == group.y * groups.x + group.x;
    if lane == 0u {
        let held = control[2u * parity];
        let number = control[2u * parity + 1u].xy;
        let first = times[SERVERS * params.facilities + id];
        let hit = hits[params.facilities + id] == number.x;
        now = held.xy;
        let something = hit | all(first == now);
        if serves && held.z == STOP_NOT && !something { leave(id, first, parity); }
        shared_iteration = Iteration(held.xy, number, held.z, u32(something && serves));
        atomicStore(&busy_count, 0u);
    }
    let shared_ = workgroupUniformLoad(&shared_iteration);
    if shared_.stop != STOP_NOT || shared_.busy == 0u { return; }
    now = shared_.now;
    iteration = shared_.number;
    var least = TIME_NEVER;
    let first = facility_of(id, 0u, 0u);
    for (var tile = 0u; tile < TILES; tile += 1u) {
        let place = tile * GROUP_SIZE + lane;
        if first + place >= params.facilities { break; }
        var time = times[first + place];
        for (var server = 1u; server < SERVERS; server += 1u) {
            time = time_min(time, times[slot_of(first + place, server)]);
        }
        let hit = hits[first + place] == iteration.x;
        if hit || all(time == now) {
            busy[atomicAdd(&busy_count, 1u)] = 2u * place + u32(hit);
        } else {
            least = time_min(least, time);
        }
    }
    let count = workgroupUniformLoad(&busy_count);
    // Bound: TILES.
    for (var i = lane; i < count; i += GROUP_SIZE) {
        facility = first + busy[i] / 2u;
        least = time_min(least, take_arrivals((busy[i] & 1u) == 1u));
    }
    least = reduce_group(lane, least);
    if lane == 0u { leave(id, least, parity); }
}

// Step 1: every facility serves its first tokens, at time zero, before the first iteration (parity
// 0).
@compute @workgroup_size(GROUP_SIZE)
fn begin(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let id = group.y * groups.x + group.x;
    var least = TIME_NEVER;
    for (var tile = 0u; tile < TILES; tile += 1u) {
        facility = facility_of(id, lane, tile);
        if facility >= params.facilities { break; }
        open_facility();
        let count = facility_word(WORD_SERVERS);
        for (var server = 0u; server < SERVERS; server += 1u) {
            times[slot_of(facility, server)] = TIME_NEVER;
            if server < count { serve_next(server); }
        }
        least = time_min(least, close_facility());
    }
    least = reduce_group(lane, least);
    if lane == 0u && id <= group_of(params.facilities - 1u) { leave(id, least, 0u); }
}
