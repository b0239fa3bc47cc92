// An epidemic, SIR on a graph: people are susceptible, then infected, then recovered. An infected
// person becomes infectious after the latent time, which is the lookahead, and recovers an
// exponential time later. Until then each neighbour is infected after an exponential time.
//
// All effects of an infection are drawn when it happens, at the first event of its LP, whatever its
// sender. So reachability and shortest paths give who is ever infected and when, which a host can
// compute. One thread serves one LP.
//
// Events of one time are ordered by payload: the infector is the one with the fewest infections
// from an index case.

struct Params {
    mean_contact: vec2<u32>,    // until a neighbour is infected, in ticks
    mean_infectious: vec2<u32>, // in ticks
    index_cases: u32,           // this many people, the last ones, are infected at time 0
    unused: u32,
}

@group(1) @binding(0) var<uniform> params: Params;
// The neighbours of person p are data[data[p]], data[data[p] + 1], ... data[data[p + 1] - 1].
@group(1) @binding(1) var<storage, read> data: array<u32>;

struct State {
    status: u32,
    contacts: u32,          // contacts with infectious people
    infections: u32,        // neighbours that this person contacts in time
    generation: u32,        // infections between an index case and this person
    infector: u32,
    index_case: u32,        // the start of this chain of infections
    infected: vec2<u32>,    // when
    recovered: vec2<u32>,   // when
    interval: vec2<u32>,    // from the infector's infection to this one: the generation interval
}

const SUSCEPTIBLE = 0u;
const INFECTED = 1u;
const RECOVERED = 2u;

// Payloads: (CONTACT, generation, infector, index case, time of the infector's infection (2)),
// (RECOVERY, 0, 0, 0, 0, 0).
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
        // The infector is not contacted.
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
