// M/M/1: clients arrive at a single server at exponential intervals, wait in order, and have
// exponential service times. The second model of the paper (section 5.1).
//
// Lindley's recursion: client k finds the remaining work R, waits W = max(R - A, 0), and leaves R =
// W + S, for the time A since the previous arrival and its own service S. The server idles for
// max(A - R, 0). The first client finds no work, and the server idles until it comes.
//
// Client k uses draws 2k (for A) and 2k + 1 (for S), so one Philox block serves two clients. A step
// is eight clients. The total idle time is computed at the end: the sum of A and the remaining
// work, less the sum of S.
//
// import: gpu/wide.wgsl
// import: random/distributions.wgsl
// import: random/exponential_table.wgsl

struct Params {
    // Ticks, at most MM1_LONGEST_MEAN.
    mean_interarrival: u32,
    mean_service: u32,
    // At least 1.
    clients: u32,
}

struct State {
    // The work R in ticks is workload + backlog. backlog is 0 unless workload is MM1_ENOUGH.
    workload: u32,
    // Number of the next client, a multiple of eight between steps.
    next: u32,
    backlog: vec2<u32>,
    // Sums over the clients so far, in ticks: of A, of W, of S.
    arrival: vec2<u32>,
    queue: vec2<u32>,
    service: vec2<u32>,
}

struct Output {
    // Sums over all clients, in ticks: idle time of the server, time in queue, and time in queue
    // and service.
    idle_ticks: vec2<u32>,
    queue_ticks: vec2<u32>,
    system_ticks: vec2<u32>,
}

// Keeps each time below 2^25 * 22.9 = 0.77e9 ticks, so that the sums below fit a word.
const MM1_LONGEST_MEAN = 0x2000000u;
// If there is this much work, two clients cannot find the server idle: 2 * 0.77e9 < 1.61e9.
const MM1_ENOUGH = 0x60000000u;
// Eight services are below MM1_GROWTH means. If the work plus that, and eight intervals between
// arrivals, are below an eighth of 2^32, all sums of a step fit a word.
const MM1_GROWTH = 184u;
const MM1_EIGHTH = 0x20000000u;
const MM1_SHORT_MEAN = MM1_EIGHTH / MM1_GROWTH;
// `fail`: the clients wait for more than 2^62 ticks in all.
const MM1_TOO_LONG = 1u;

fn start(state: ptr<function, State>) {
    *state = State();
}

fn step(state: ptr<function, State>) -> bool {
    if mm1_calm(*state) {
        mm1_serve_eight(state);
    } else {
        // Bound: four pairs. The work is below 2^60 ticks, so the sum does not overflow before it
        // is checked.
        for (var pair = 0u; (pair < 4u) & ((*state).next < params.clients); pair++) {
            mm1_serve(state, mm1_times(draw_block(), (*state).next));
        }
    }
    if (*state).queue.y >= 0x40000000u { fail(MM1_TOO_LONG); }
    return (*state).next < params.clients;
}

fn finish(state: ptr<function, State>) -> Output {
    let left = add_word((*state).backlog, (*state).workload);
    let idle = wide_subtract(wide_add((*state).arrival, left), (*state).service);
    return Output(idle, (*state).queue, wide_add((*state).queue, (*state).service));
}

// Whether there are eight more clients and words suffice for their sums.
fn mm1_calm(state: State) -> bool {
    let means = max(params.mean_interarrival, params.mean_service);
    return (means < MM1_SHORT_MEAN) & ((state.backlog.x | state.backlog.y) == 0u) & (params.clients - state.next >= 8u)
        & (state.workload < MM1_EIGHTH - MM1_GROWTH * params.mean_service);
}

// The state of a step in words, and its sums.
struct Mm1Words {
    work: u32,
    arrival: u32,
    queue: u32,
    service: u32,
}

fn mm1_serve_eight(state: ptr<function, State>) {
    var sums = Mm1Words((*state).workload, 0u, 0u, 0u);
    sums = mm1_serve_two(sums, draw_block());
    sums = mm1_serve_two(sums, draw_block());
    sums = mm1_serve_two(sums, draw_block());
    sums = mm1_serve_two(sums, draw_block());
    (*state).workload = sums.work;
    (*state).arrival = add_word((*state).arrival, sums.arrival);
    (*state).queue = add_word((*state).queue, sums.queue);
    (*state).service = add_word((*state).service, sums.service);
    (*state).next += 8u;
}

fn mm1_serve_two(before: Mm1Words, words: vec4<u32>) -> Mm1Words {
    let first_arrival = exponential_tabled(words.x, params.mean_interarrival);
    let first_service = exponential_tabled(words.y, params.mean_service);
    let second_arrival = exponential_tabled(words.z, params.mean_interarrival);
    let second_service = exponential_tabled(words.w, params.mean_service);
    let first_wait = max(before.work, first_arrival) - first_arrival;
    let left = first_wait + first_service;
    let second_wait = max(left, second_arrival) - second_arrival;
    return Mm1Words(
        second_wait + second_service,
        before.arrival + first_arrival + second_arrival,
        before.queue + first_wait + second_wait,
        before.service + first_service + second_service,
    );
}

// A, S of client `next` and A, S of the next one, or 0 if there is no such client.
fn mm1_times(words: vec4<u32>, next: u32) -> vec4<u32> {
    let times = vec4<u32>(
        exponential_tabled(words.x, params.mean_interarrival),
        exponential_tabled(words.y, params.mean_service),
        exponential_tabled(words.z, params.mean_interarrival),
        exponential_tabled(words.w, params.mean_service),
    );
    return select(times, vec4<u32>(times.xy, 0u, 0u), vec4<bool>(next + 1u == params.clients));
}

// Two clients, for any work. Uses only words while it fits one.
fn mm1_serve(state: ptr<function, State>, times: vec4<u32>) {
    let single = (*state).next + 1u == params.clients;
    if ((*state).workload > MM1_ENOUGH) | (((*state).backlog.x | (*state).backlog.y) != 0u) {
        mm1_balance(state);
        // Both clients also wait for the backlog.
        (*state).queue = wide_add((*state).queue, (*state).backlog);
        if !single {
            (*state).queue = wide_add((*state).queue, (*state).backlog);
        }
    }
    let first_wait = max((*state).workload, times.x) - times.x;
    let left = first_wait + times.y;
    let second_wait = max(left, times.z) - times.z;
    (*state).workload = second_wait + times.w;
    // No sum of two words overflows: waits are below 1.61e9 + 0.77e9 and 1.61e9, times below
    // 0.77e9.
    (*state).queue = add_word((*state).queue, first_wait + select(second_wait, 0u, single));
    (*state).arrival = add_word((*state).arrival, times.x + times.z);
    (*state).service = add_word((*state).service, times.y + times.w);
    (*state).next += 2u;
}

// Splits the work into at most MM1_ENOUGH and a backlog.
fn mm1_balance(state: ptr<function, State>) {
    let work = add_word((*state).backlog, (*state).workload);
    let kept = select(min(work.x, MM1_ENOUGH), MM1_ENOUGH, work.y != 0u);
    (*state).workload = kept;
    (*state).backlog = vec2<u32>(work.x - kept, work.y - u32(work.x < kept));
}
