// An epidemic, SIR on a graph: people are susceptible, then infected, then recovered. Who is infected becomes infectious after the latent
// time, which is the lookahead, and recovers an exponential time later. Until then each neighbour is infected after an exponential time.
//
// All that a person's infection leads to is drawn when it happens, and that is the first event at that LP, whoever caused it. So who will
// ever be infected, and when, is a question of reachability and of shortest paths, which a host can answer. One thread serves one LP.
//
// Events are ordered by their payload at one time: a person is infected by the one who is fewest infections away from an index case.

struct Params {
    mean_contact: vec2<u32>,    // until a neighbour is infected, in ticks
    mean_infectious: vec2<u32>, // in ticks
    index_cases: u32,           // so many people, the last ones, are infected at time 0
    unused: u32,
}

@group(1) @binding(0) var<uniform> params: Params;
// The neighbours of person p are data[data[p]], data[data[p] + 1], ... data[data[p + 1] - 1].
@group(1) @binding(1) var<storage, read> data: array<u32>;

struct State {
    status: u32,
    contacts: u32,          // with people who were infectious, all in all
    infections: u32,        // neighbours who were or will be contacted in time
    generation: u32,        // infections between an index case and this person
    infector: u32,
    index_case: u32,        // where this chain of infections began
    infected: vec2<u32>,    // when
    recovered: vec2<u32>,   // when
    interval: vec2<u32>,    // from the infection of the infector to this one: the generation interval
}

const SUSCEPTIBLE = 0u;
const INFECTED = 1u;
const RECOVERED = 2u;

// Payloads: (CONTACT, generation, infector, index case, when the infector was infected (2)), (RECOVERY, 0, 0, 0, 0, 0).
const CONTACT = 0u;
const RECOVERY = 1u;

fn init(lp: u32, state: ptr<function, State>) {
    if lp >= lp_count() - params.index_cases {
        schedule(lp, TIME_ZERO, array<u32, 6>(CONTACT, 0u, lp, lp, 0u, 0u));
    }
}

fn handle(lp: u32, event: Event, state: ptr<function, State>) {
    let payload = event.payload;
    if payload[0] == RECOVERY {
        (*state).status = RECOVERED;
        (*state).recovered = now();
        return;
    }
    (*state).contacts += 1u;
    if (*state).status != SUSCEPTIBLE { return; }
    let infectious = time_add(now(), lookahead());
    let recovery = time_add(infectious, draw_exponential(params.mean_infectious));
    schedule(lp, recovery, array<u32, 6>(RECOVERY, 0u, 0u, 0u, 0u, 0u));
    var infections = 0u;
    let message = array<u32, 6>(CONTACT, payload[1] + 1u, lp, payload[3], now().x, now().y);
    for (var i = data[lp]; i < data[lp + 1u]; i += 1u) {
        let contact = time_add(infectious, draw_exponential(params.mean_contact));
        // The infector needs no contact.
        if time_less(contact, recovery) && data[i] != payload[2] {
            schedule(data[i], contact, message);
            infections += 1u;
        }
    }
    let interval = time_since(now(), vec2<u32>(payload[4], payload[5]));
    *state = State(INFECTED, 1u, infections, payload[1], payload[2], payload[3], now(), TIME_ZERO, interval);
}

struct Output { status: u32, generation: u32, infected: vec2<u32>, interval: vec2<u32>, cases: u32, unused: u32 }

fn output(lp: u32, state: ptr<function, State>) -> Output {
    let cases = u32((*state).status != SUSCEPTIBLE);
    return Output((*state).status, (*state).generation, (*state).infected, (*state).interval, cases, 0u);
}
