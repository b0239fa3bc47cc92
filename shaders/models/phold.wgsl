// PHOLD (Baudis et al., sections II.C and IV.A): a fixed population of events. An executed event
// sends one event to a uniformly random LP after the lookahead plus an exponential delay. It
// exercises only the engine. One thread serves one LP.

struct Params {
    mean: vec2<u32>,    // of the exponential delay, in ticks
    population: u32,    // events that each LP schedules at the start
    neighbours: u32,    // unused here: models/phold_ring.wgsl
}

@group(1) @binding(0) var<uniform> params: Params;

struct State {
    received: u32,      // events executed, modulo 2^32
    last: u32,          // low word of the time of the last one
}

fn init(lp: u32, state: ptr<function, State>) {
    for (var i = 0u; i < params.population; i += 1u) {
        let delay = draw_exponential(params.mean);
        schedule(draw_below(lp_count()), delay, vec2<u32>(lp, i));
    }
}

fn handle(lp: u32, event: Event, state: ptr<function, State>) {
    (*state).received += 1u;
    (*state).last = event.time.x;
    let delay = time_add(lookahead(), draw_exponential(params.mean));
    schedule(draw_below(lp_count()), time_add(event.time, delay), event.payload);
}
