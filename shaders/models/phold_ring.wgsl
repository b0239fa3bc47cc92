// PHOLD on a ring: as models/phold.wgsl, but each event goes to a random one of the nearest LPs. So
// a model can define its senders, and windows can use per-LP bounds (pdes/bounds/neighbours.wgsl).
// One thread serves one LP.

struct Params {
    mean: vec2<u32>,    // of the exponential delay, in ticks
    population: u32,    // events that each LP schedules at the start
    neighbours: u32,    // of an LP: half of them before it, half after it
}

@group(1) @binding(0) var<uniform> params: Params;

struct State {
    received: u32,      // events executed, modulo 2^32
    last: u32,          // low word of the time of the last one
}

fn init(lp: u32, state: ptr<function, State>) {
    for (var i = 0u; i < params.population; i += 1u) {
        let delay = draw_exponential(params.mean);
        schedule(neighbour(lp, draw_below(params.neighbours)), delay, vec2<u32>(lp, i));
    }
}

fn handle(lp: u32, event: Event, state: ptr<function, State>) {
    (*state).received += 1u;
    (*state).last = event.time.x;
    let delay = time_add(lookahead(), draw_exponential(params.mean));
    schedule(neighbour(lp, draw_below(params.neighbours)), time_add(event.time, delay), event.payload);
}

// An LP's senders are the LPs that it sends to.
fn sender_count(lp: u32) -> u32 {
    return params.neighbours;
}

fn sender(lp: u32, index: u32) -> u32 {
    return neighbour(lp, index);
}

// Neighbours 0, 2, 4, ... follow the LP, the others precede it. There are fewer neighbours than
// LPs, and fewer LPs than 2^28.
fn neighbour(lp: u32, index: u32) -> u32 {
    let steps = index / 2u + 1u;
    if index % 2u == 0u { return (lp + steps) % lp_count(); }
    return (lp + lp_count() - steps) % lp_count();
}
