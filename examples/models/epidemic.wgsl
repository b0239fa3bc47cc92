// People who meet by chance. Who is infected becomes infectious after the lookahead, and then meets somebody after exponential times, until an
// exponential time is over. An event is a contact with somebody infectious, or the next contact that an infectious person makes.

struct Params {
    contact: vec2<u32>,         // mean time between contacts, in ticks (low word, high word)
    infectious: vec2<u32>,      // mean time for which somebody is infectious, in ticks
    infection: u32,             // 2^32 times the probability that a contact infects
    index_cases: u32,           // so many people, the first ones, are infected at time 0
}
@group(1) @binding(0) var<uniform> params: Params;

struct State {
    infected_at: vec2<u32>,
    until: vec2<u32>,           // infectious until then
    infected: u32,              // 1 once it is so
    contacts: u32,              // that this one made while infectious
}

struct Output {
    infected_at: vec2<u32>,
    infected: u32,
    contacts: u32,
}

const MET = 0u;
const MEETS = 1u;

fn init(lp: u32, state: ptr<function, State>) {
    if lp < params.index_cases {
        schedule(lp, TIME_ZERO, vec2<u32>(MET, 1u));            // whoever it was
    }
}

fn handle(lp: u32, event: Event, state: ptr<function, State>) {
    if event.payload.x == MET {
        // The first cases are infected for certain.
        if (*state).infected == 1u || (event.payload.y == 0u && !draw_bernoulli(params.infection)) {
            return;
        }
        let begins = time_add(now(), lookahead());
        (*state).infected = 1u;
        (*state).infected_at = now();
        (*state).until = time_add(begins, draw_exponential(params.infectious));
        schedule(lp, time_add(begins, draw_exponential(params.contact)), vec2<u32>(MEETS, 0u));
        return;
    }
    if time_less((*state).until, now()) {
        return;                                                 // recovered before it came to this contact
    }
    (*state).contacts += 1u;
    // What is sent to others comes at least the lookahead later: the other one tells then that it met somebody.
    schedule(draw_below(lp_count()), time_add(now(), lookahead()), vec2<u32>(MET, 0u));
    schedule(lp, time_add(now(), draw_exponential(params.contact)), vec2<u32>(MEETS, 0u));
}

fn output(lp: u32, state: ptr<function, State>) -> Output {
    return Output((*state).infected_at, (*state).infected, (*state).contacts);
}
