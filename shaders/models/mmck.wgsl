// M/M/c/K: several servers and limited room. Clients arrive at exponential intervals; one that
// finds `room` clients in queue and service is rejected; the others wait in order for the first
// free server.
//
// Because of this order, a client's start is known at its arrival: the later of its arrival and the
// first time at which a server is free. Starts never decrease, so the waiting clients are a queue
// of starts.
//
// Client k uses draws 2k (interarrival time) and 2k + 1 (service), admitted or not. A step is one
// client.
//
// import: random/distributions.wgsl

struct Params {
    // Ticks, at most 2^27.
    mean_interarrival: u32,
    mean_service: u32,
    // 1 to MMCK_MOST_SERVERS.
    servers: u32,
    // From `servers` to servers + MMCK_MOST_WAITING.
    room: u32,
    // At least 1.
    arrivals: u32,
}

const MMCK_MOST_SERVERS = 8u;
const MMCK_MOST_WAITING = 24u;

struct State {
    clock: vec2<u32>,
    // Total wait of the admitted clients, in ticks.
    queue: vec2<u32>,
    next: u32,
    turned_away: u32,
    // A ring: the place of the first waiting client, and their number.
    first: u32,
    waiting: u32,
    // When each server becomes free.
    free: array<vec2<u32>, MMCK_MOST_SERVERS>,
    // When the waiting clients start.
    starts: array<vec2<u32>, MMCK_MOST_WAITING>,
}

struct Output {
    // Clients.
    turned_away: u32,
    let_in: u32,
    // Total wait of the admitted clients, in ticks.
    queue_ticks: vec2<u32>,
}

// `fail`: the clock or the total wait passed 2^63 ticks.
const MMCK_TOO_LONG = 1u;

fn start(state: ptr<function, State>) {
    *state = State();
}

fn step(state: ptr<function, State>) -> bool {
    let clock = add_word((*state).clock, exponential_short(draw(), params.mean_interarrival));
    let service = exponential_short(draw(), params.mean_service);
    (*state).clock = clock;
    // Clients that have started by now no longer wait.
    for (var left = 0u; left < MMCK_MOST_WAITING; left++) {
        if (*state).waiting == 0u || time_less(clock, (*state).starts[(*state).first]) {
            break;
        }
        (*state).first = ((*state).first + 1u) % MMCK_MOST_WAITING;
        (*state).waiting -= 1u;
    }
    // The first server to become free.
    var server = 0u;
    for (var other = 1u; other < min(params.servers, MMCK_MOST_SERVERS); other++) {
        if time_less((*state).free[other], (*state).free[server]) {
            server = other;
        }
    }
    let free = (*state).free[server];
    let busy = time_less(clock, free);
    if busy && (*state).waiting >= params.room - params.servers {
        (*state).turned_away += 1u;
    } else {
        var begin = clock;
        if busy {
            begin = free;
            (*state).starts[((*state).first + (*state).waiting) % MMCK_MOST_WAITING] = begin;
            (*state).waiting += 1u;
            let wait = vec2<u32>(begin.x - clock.x, begin.y - clock.y - u32(begin.x < clock.x));
            (*state).queue = time_add((*state).queue, wait);
        }
        (*state).free[server] = add_word(begin, service);
    }
    (*state).next += 1u;
    if (clock.y | (*state).queue.y) >= 0x80000000u {
        fail(MMCK_TOO_LONG);
    }
    return (*state).next < params.arrivals;
}

fn finish(state: ptr<function, State>) -> Output {
    return Output((*state).turned_away, params.arrivals - (*state).turned_away, (*state).queue);
}
