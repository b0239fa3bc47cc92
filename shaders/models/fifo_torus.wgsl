// A closed network of FIFO stations on a torus, with no travel time. A station in each of rows x
// columns places serves customers in the order of arrival, each for an exponential time of at least
// a tick, and sends each to one of its four neighbours at random.
//
// At an arrival a station knows when that customer will leave: after the customers before it and
// its own service. So it sends the customer on at once, for the time of departure: one event per
// visit. (models/torus.wgsl has two, an arrival and a completion.) That time is usually far beyond
// the lookahead of one tick, so the model also defines its senders and the bounds of what they
// send.
//
// Customers are identical. One thread serves one LP, which is one station.

struct Params {
    mean_service: vec2<u32>, // in ticks, as all times
    rows: u32,
    columns: u32,
    customers: u32,          // in the whole network, initially spread evenly
    // log2 of the side of the square blocks by which stations are numbered, so that neighbours have
    // close numbers.
    block_shift: u32,
}

@group(1) @binding(0) var<uniform> params: Params;

// Rows of 16 bytes: a memory access of 8 bytes takes as long.
struct State {
    times: vec4<u32>, // when all arrived customers have left (2); their total service (2)
    sums: vec4<u32>,  // their total wait (2); their number (2)
}

struct Output {
    busy: vec2<u32>,   // time spent serving
    waited: vec2<u32>, // of the arrived customers
    served: vec2<u32>,
    unused: vec2<u32>,
}

fn init(lp: u32, state: ptr<function, State>) {
    let number = params.customers / lp_count() + u32(lp < params.customers % lp_count());
    for (var i = 0u; i < number; i += 1u) {
        schedule(lp, TIME_ZERO, vec2<u32>(0u));
    }
}

fn handle(lp: u32, event: Event, state: ptr<function, State>) {
    let service = service_time();
    let begin = later((*state).times.xy, event.time);
    let free = time_add(begin, service);
    let waited = time_add((*state).sums.xy, time_since(begin, event.time));
    (*state).times = vec4<u32>(free, time_add((*state).times.zw, service));
    (*state).sums = vec4<u32>(waited, time_add((*state).sums.zw, vec2<u32>(1u, 0u)));
    schedule(neighbour(lp, draw_below(4u)), free, vec2<u32>(0u));
}

// When the station first sends, if `event` is its first pending one.
fn earliest(lp: u32, event: Event, state: ptr<function, State>) -> vec2<u32> {
    return time_add(later((*state).times.xy, event.time), service_time());
}

// The same for an arrival that it does not know yet.
fn answer(lp: u32, state: ptr<function, State>) -> Answer {
    return Answer((*state).times.xy, service_time());
}

// The next arrival goes to this neighbour. Later arrivals leave after it, by at least a service of
// their own (`next_gap`), so the first departure goes nowhere else.
fn next_to(lp: u32, state: ptr<function, State>) -> u32 {
    let service = service_time();
    return neighbour(lp, draw_below(4u));
}

fn next_gap(lp: u32, state: ptr<function, State>) -> vec2<u32> {
    return service_time();
}

fn sender_count(lp: u32) -> u32 {
    return 4u;
}

fn sender(lp: u32, index: u32) -> u32 {
    return neighbour(lp, index);
}

// The first draw of each event.
fn service_time() -> vec2<u32> {
    return time_add(draw_exponential(params.mean_service), lookahead());
}

fn later(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    if time_less(a, b) { return b; }
    return a;
}

// Stations are numbered block by block, and within a block row by row.
fn neighbour(lp: u32, direction: u32) -> u32 {
    let shift = params.block_shift;
    let within = (1u << shift) - 1u;
    let blocks = params.columns >> shift;
    let block = lp >> (2u * shift);
    let block_row = block / blocks;
    var row = (block_row << shift) | ((lp >> shift) & within);
    var column = ((block - block_row * blocks) << shift) | (lp & within);
    switch direction {
        case 0u: { column = select(column + 1u, 0u, column + 1u == params.columns); }
        case 1u: { column = select(column, params.columns, column == 0u) - 1u; }
        case 2u: { row = select(row + 1u, 0u, row + 1u == params.rows); }
        default: { row = select(row, params.rows, row == 0u) - 1u; }
    }
    let in_block = ((row & within) << shift) | (column & within);
    return (((row >> shift) * blocks + (column >> shift)) << (2u * shift)) | in_block;
}

fn output(lp: u32, state: ptr<function, State>) -> Output {
    // The server works without a break until all have left.
    let ahead = time_since((*state).times.xy, now());
    return Output(time_since((*state).times.zw, ahead), (*state).sums.xy, (*state).sums.zw, vec2<u32>(0u, 0u));
}
