// Machines that fail, and crews that repair them in the order of failure. For common random
// numbers: with `by_purpose`, each repair and each time until a failure has its own draws, by
// machine and number; without, all draw from one stream.
//
// A step is one event: a failure, or the end of a repair. Times are in ticks, with means of at most
// 2^20.
//
// import: random/distributions.wgsl

const MACHINES = 6u;
const WAITING = 0xffffffffu;

struct Params {
    crews: u32,
    by_purpose: u32,
    mean_until_failure: u32,
    mean_repair: u32,
    // Events from here on are ignored; at most 2^28.
    horizon: u32,
}

struct State {
    // By machine: its next event, or WAITING for a crew; its last failure; the number of its
    // failures.
    next: array<u32, MACHINES>,
    failed: array<u32, MACHINES>,
    failures: array<u32, MACHINES>,
    // A bit for each machine that is being repaired.
    repaired: u32,
    // Decided by the stream itself: the number of inspected events.
    inspected: u32,
    // Ticks of all machines from failures to ends of repairs.
    down: vec2<u32>,
}

struct Output {
    down: vec2<u32>,
    failures: u32,
    inspected: u32,
}

// Purposes: two for each machine.
fn until_failure(machine: u32, number: u32) -> u32 {
    if params.by_purpose != 0u { stream_purpose(2u * machine, number); }
    return exponential_short(draw(), params.mean_until_failure);
}

fn repair(machine: u32, number: u32) -> u32 {
    if params.by_purpose != 0u { stream_purpose(2u * machine + 1u, number); }
    return exponential_short(draw(), params.mean_repair);
}

fn start(state: ptr<function, State>) {
    *state = State();
    for (var machine = 0u; machine < MACHINES; machine++) {
        (*state).next[machine] = until_failure(machine, 0u);
    }
}

fn step(state: ptr<function, State>) -> bool {
    // The step begins with the replication's stream, wherever the last one ended.
    if draw_below(3u) == 0u { (*state).inspected += 1u; }
    var machine = 0u;
    for (var other = 1u; other < MACHINES; other++) {
        if (*state).next[other] < (*state).next[machine] { machine = other; }
    }
    let now = (*state).next[machine];
    if now >= params.horizon { return false; }
    if ((*state).repaired >> machine & 1u) != 0u {
        (*state).repaired ^= 1u << machine;
        (*state).down = add_word((*state).down, now - (*state).failed[machine]);
        (*state).next[machine] = now + until_failure(machine, (*state).failures[machine]);
    } else {
        (*state).next[machine] = WAITING;
        (*state).failed[machine] = now;
        (*state).failures[machine] += 1u;
    }
    // A free crew, if any, takes the machine that failed first.
    var waiting = MACHINES;
    for (var other = 0u; other < MACHINES; other++) {
        if (*state).next[other] == WAITING {
            if waiting == MACHINES || (*state).failed[other] < (*state).failed[min(waiting, MACHINES - 1u)] { waiting = other; }
        }
    }
    if waiting < MACHINES && countOneBits((*state).repaired) < params.crews {
        (*state).repaired |= 1u << waiting;
        (*state).next[waiting] = now + repair(waiting, (*state).failures[waiting]);
    }
    return true;
}

fn finish(state: ptr<function, State>) -> Output {
    var failures = 0u;
    for (var machine = 0u; machine < MACHINES; machine++) {
        failures += (*state).failures[machine];
    }
    return Output((*state).down, failures, (*state).inspected);
}
