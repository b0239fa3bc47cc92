// M/M/1: clients arrive at a single server with exponential times between them, wait in order, and take exponential times of
// service. The second model of the paper (section 5.1).
//
// Lindley's recursion: client k finds the work R that is left, waits W = max(R - A, 0), and leaves R = W + S, for the time A
// since the arrival before it and its own service S. The server idles for max(A - R, 0). The first client finds no work, and
// the server idles until it comes.
//
// Client k uses draws 2k (for A) and 2k + 1 (for S), so one Philox block serves two clients: a step is two clients.
//
// import: gpu/wide.wgsl
// import: random/distributions.wgsl

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
    // Number of the next client, even.
    next: u32,
    backlog: vec2<u32>,
    // Sums over the clients so far, in ticks.
    idle: vec2<u32>,
    queue: vec2<u32>,
    service: vec2<u32>,
}

struct Output {
    // Sums over all clients, in ticks: idle time of the server, time in queue, time in queue and service.
    idle_ticks: vec2<u32>,
    queue_ticks: vec2<u32>,
    system_ticks: vec2<u32>,
}

// So that no time is as long as 2^25 * 22.9 = 0.77e9 ticks, and the words below have room for what is added to them.
const MM1_LONGEST_MEAN = 0x2000000u;
// With this much work before them two clients cannot find the server idle: 2 * 0.77e9 < 1.61e9.
const MM1_ENOUGH = 0x60000000u;
// `fail`: the clients wait for more than 2^62 ticks in all.
const MM1_TOO_LONG = 1u;

fn start(state: ptr<function, State>) {
    *state = State();
}

fn step(state: ptr<function, State>) -> bool {
    mm1_serve(state, mm1_times(draw_block(), (*state).next));
    return (*state).next < params.clients;
}

fn finish(state: ptr<function, State>) -> Output {
    return Output((*state).idle, (*state).queue, wide_add((*state).queue, (*state).service));
}

// A, S of client `next` and A, S of the one after it, which are 0 where it does not exist.
fn mm1_times(words: vec4<u32>, next: u32) -> vec4<u32> {
    let times = vec4<u32>(
        exponential_short(words.x, params.mean_interarrival),
        exponential_short(words.y, params.mean_service),
        exponential_short(words.z, params.mean_interarrival),
        exponential_short(words.w, params.mean_service),
    );
    return select(times, vec4<u32>(times.xy, 0u, 0u), vec4<bool>(next + 1u == params.clients));
}

// Two clients. Only words are used while the workload fits one, which is nearly always.
fn mm1_serve(state: ptr<function, State>, times: vec4<u32>) {
    let single = (*state).next + 1u == params.clients;
    if (*state).workload > MM1_ENOUGH || ((*state).backlog.x | (*state).backlog.y) != 0u {
        mm1_balance(state);
        // Both clients wait for the backlog too.
        (*state).queue = wide_add((*state).queue, (*state).backlog);
        if !single {
            (*state).queue = wide_add((*state).queue, (*state).backlog);
        }
    }
    let found = (*state).workload;
    let first_wait = max(found, times.x) - times.x;
    let first_idle = first_wait + times.x - found;
    let left = first_wait + times.y;
    let second_wait = max(left, times.z) - times.z;
    let second_idle = second_wait + times.z - left;
    (*state).workload = second_wait + times.w;
    // No sum of two words overflows: waits are below 1.61e9 + 0.77e9 and 1.61e9, times below 0.77e9.
    (*state).queue = add_word((*state).queue, first_wait + select(second_wait, 0u, single));
    (*state).idle = add_word((*state).idle, first_idle + second_idle);
    (*state).service = add_word((*state).service, times.y + times.w);
    (*state).next += 2u;
    if (*state).queue.y >= 0x40000000u {
        fail(MM1_TOO_LONG);
    }
}

// Splits the work into at most MM1_ENOUGH and a backlog.
fn mm1_balance(state: ptr<function, State>) {
    let work = add_word((*state).backlog, (*state).workload);
    let kept = select(min(work.x, MM1_ENOUGH), MM1_ENOUGH, work.y != 0u);
    (*state).workload = kept;
    (*state).backlog = vec2<u32>(work.x - kept, work.y - u32(work.x < kept));
}
