// Steps 4, 5 and 2 of an iteration (facility/event_list.wgsl): facilities take the tokens released
// to them. An invocation serves a facility and writes only that facility's row, place in the FEL
// and queued tokens.
//
// import: facility/event_list.wgsl
// import: random/distributions.wgsl
// import: random/mix.wgsl
// import: gpu/reduce.wgsl
// provides: Reduced, merge
//
// bounds: indices as in event_list.wgsl; `NONE` sources are skipped. `next.token` is a token that a
// source released. It is never NONE: the same dispatch counted the arrivals, and sources differ, so
// no two arrivals are equal in the order. Loops count to tiles, sources and arrivals. The divisor
// is the interval, if it is above 0.

// By parity: the earliest time in ticks since the clock; FAR for that many or more, NEVER for no
// event.
@group(0) @binding(5) var<storage, read_write> keys: array<atomic<u32>>;
// By facility, then by workgroup: the low word of the last iteration that released a token to it.
@group(0) @binding(6) var<storage, read> hits: array<u32>;
// Rows of a word per facility: `sources` that send to it, or NONE; `targets`, equally likely; the
// number of targets; the mean time of service in ticks.
@group(0) @binding(7) var<storage, read> graph: array<u32>;
// By facility two rows: first and last queued token, services begun (2); times of service (2) and
// waiting (2). Then by token: next in its queue, unused, arrival at its facility (2).
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
var<private> departure: vec2<u32>;

fn word(line: u32) -> u32 {
    return graph[line * params.facilities + facility];
}

// The row of a token in `rows`.
fn token_row(token: u32) -> u32 {
    return 2u * params.facilities + token;
}

// A time in whole intervals: the nearest one, or the later of two, after `now`, which is a whole
// one.
fn rounded(service: u32) -> vec2<u32> {
    if params.interval == 0u { return time_add(now, vec2<u32>(service, 0u)); }
    let whole = service / params.interval;
    let part = service - whole * params.interval;
    let later = select(0u, params.interval, part >= params.interval - part);
    return time_add(time_add(now, vec2<u32>(whole * params.interval, 0u)), vec2<u32>(later, 0u));
}

// Begins a service of a token that has arrived at a time.
fn serve(token: u32, arrived: vec2<u32>) {
    let number = wide_add(row.zw, vec2<u32>(1u, 0u));
    stream_open(params.seed, facility, number);
    let mean = word(params.sources + params.targets + 1u);
    // The host rejects means so long that this does not fit.
    let service = draw_exponential(vec2<u32>(mean, 0u)).x + 1u;
    let towards = word(params.sources + draw_below(word(params.sources + params.targets)));
    departure = rounded(service);
    row = vec4<u32>(row.xy, number);
    let busy = wide_add(sums.xy, wide_subtract(departure, now));
    sums = vec4<u32>(busy, wide_add(sums.zw, wide_subtract(now, arrived)));
    servers[facility] = vec4<u32>(token, towards, time_add(now, vec2<u32>(service, 0u)));
}

// Queues a token that arrives now.
fn wait(token: u32) {
    if row.x == NONE { row.x = token; } else { rows[token_row(row.y)].x = token; }
    row.y = token;
    rows[token_row(token)] = vec4<u32>(NONE, 0u, now);
}

// Serves the first token in the queue.
fn serve_next() {
    let token = row.x;
    let held = rows[token_row(token)];
    row.x = held.x;
    serve(token, held.zw);
}

// The order of arrivals: by original time, then by a hash with the seed, then by the source.
struct Arrival {
    time: vec2<u32>,
    tie: vec2<u32>,
    source: u32,
    token: u32,
}

// Whether a source, which may be NONE, has released a token to the facility in this iteration.
fn sends(source: u32) -> bool {
    if source == NONE || any(released[2u * source + 1u].xy != iteration) { return false; }
    return released[2u * source].y == facility;
}

fn arrival_of(source: u32) -> Arrival {
    let held = released[2u * source];
    var lanes = mix_word(mix_word(mix_start(KIND_TIE), params.seed.x), params.seed.y);
    lanes = mix_word(mix_word(lanes, held.z), held.w);
    return Arrival(held.zw, mix_end(mix_word(lanes, held.x)), source, held.x);
}

fn arrives_before(a: Arrival, b: Arrival) -> bool {
    if any(a.time != b.time) { return time_less(a.time, b.time); }
    if any(a.tie != b.tie) { return wide_less(a.tie, b.tie); }
    return a.source < b.source;
}

fn take_arrivals(departs: bool, hit: bool) {
    row = rows[2u * facility];
    sums = rows[2u * facility + 1u];
    var idle = departs | all(departure == TIME_NEVER);
    if departs {
        departure = TIME_NEVER;
        // Waiting tokens go first.
        if row.x != NONE {
            serve_next();
            idle = false;
        }
    }
    var arrivals = 0u;
    if hit {
        for (var line = 0u; line < params.sources; line += 1u) { arrivals += u32(sends(word(line))); }
    }
    var last = Arrival(TIME_ZERO, vec2<u32>(0u), 0u, 0u);
    // Bounds: the sources of a facility, each of which releases one token; twice.
    for (var taken = 0u; taken < arrivals; taken += 1u) {
        var next = Arrival(TIME_NEVER, vec2<u32>(NONE), NONE, NONE);
        for (var line = 0u; line < params.sources; line += 1u) {
            let source = word(line);
            if !sends(source) { continue; }
            let found = arrival_of(source);
            if ((taken == 0u) | arrives_before(last, found)) & arrives_before(found, next) { next = found; }
        }
        if idle { serve(next.token, now); } else { wait(next.token); }
        idle = false;
        last = next;
    }
    rows[2u * facility] = row;
    rows[2u * facility + 1u] = sums;
    times[facility] = departure;
}

// The time until the earliest departure, as a word.
fn key_of(time: vec2<u32>) -> u32 {
    if all(time == TIME_NEVER) { return KEY_NEVER; }
    let since = wide_subtract(time, now);
    return select(since.x, KEY_FAR, (since.y != 0u) | (since.x > KEY_FAR));
}

// Stores the earliest time of a workgroup's facilities. One invocation calls it.
fn leave(id: u32, least: vec2<u32>, parity: u32) {
    times[params.facilities + id] = least;
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
        let first = times[params.facilities + id];
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
        let time = times[first + place];
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
        departure = times[facility];
        take_arrivals(all(departure == now), (busy[i] & 1u) == 1u);
        least = time_min(least, departure);
    }
    least = reduce_group(lane, least);
    if lane == 0u { leave(id, least, parity); }
}

// Step 1: every facility serves its first token, at time zero, before the first iteration (parity
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
        row = rows[2u * facility];
        sums = rows[2u * facility + 1u];
        departure = TIME_NEVER;
        if row.x != NONE { serve_next(); }
        rows[2u * facility] = row;
        rows[2u * facility + 1u] = sums;
        times[facility] = departure;
        least = time_min(least, departure);
    }
    least = reduce_group(lane, least);
    if lane == 0u && id <= group_of(params.facilities - 1u) { leave(id, least, 0u); }
}
