// People meet at random. An infected person is infectious after the lookahead for an exponential
// time, with contacts at exponential intervals. An event is such a contact, for either of the two.

struct Params {
    contact: vec2<u32>,         // mean time between contacts, in ticks (low word, high word)
    infectious: vec2<u32>,      // mean infectious time, in ticks
    infection: u32,             // 2^32 times the probability that a contact infects
    index_cases: u32,           // this many people, the first ones, are infected at time 0
}
@group(1) @binding(0) var<uniform> params: Params;

struct State {
    infected_at: vec2<u32>,
    until: vec2<u32>,           // infectious until then
    infected: u32,              // 1 if ever infected
    contacts: u32,              // that this person made while infectious
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
        schedule(lp, TIME_ZERO, vec2<u32>(MET, 1u));            // an infection for certain
    }
}

fn handle(lp: u32, event: Event, state: ptr<function, State>) {
    if event.payload.x == MET {
        // The index cases are infected for certain.
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
        return;                                                 // recovered before this contact
    }
    (*state).contacts += 1u;
    // Messages to other LPs take at least the lookahead: the other person is met then.
    schedule(draw_below(lp_count()), time_add(now(), lookahead()), vec2<u32>(MET, 0u));
    schedule(lp, time_add(now(), draw_exponential(params.contact)), vec2<u32>(MEETS, 0u));
}

fn output(lp: u32, state: ptr<function, State>) -> Output {
    return Output((*state).infected_at, (*state).infected, (*state).contacts);
}
