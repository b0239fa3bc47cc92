// Tokens move round a ring of LPs, each for some hops, and vanish. LPs declare their senders and
// their answers to unknown events; by `rule`, one of them declares something false. By rule 4 the
// last two LPs are not in the ring: one has an event in the far future, which the other, idle one
// might precede. If `awaited` is not 0, the culprit has an event of its own at that time.

struct Params {
    step: vec2<u32>,    // the least time of a hop, in ticks
    hops: u32,
    stride: u32,        // every stride-th LP starts with a token
    rule: u32,
    culprit: u32,
    awaited: u32,
    unused: u32,
}

@group(1) @binding(0) var<uniform> params: Params;

struct State {
    visits: u32,
    order: u32,
}

fn ring() -> u32 {
    return lp_count() - select(0u, 2u, params.rule == 4u);
}

fn init(lp: u32, state: ptr<function, State>) {
    if lp >= ring() {
        if lp == ring() { schedule(lp, vec2<u32>(0u, 1u << 18u), vec2<u32>(0u, lp)); }
        return;
    }
    if params.awaited > 0u && lp == params.culprit { schedule(lp, vec2<u32>(params.awaited, 0u), vec2<u32>(0u, lp)); }
    if lp % params.stride == 0u {
        schedule(lp, vec2<u32>(lp % 7u, 0u), vec2<u32>(params.hops, lp));
    }
}

fn handle(lp: u32, event: Event, state: ptr<function, State>) {
    (*state).visits += 1u;
    (*state).order = ((*state).order ^ event.payload.y) * 0x9e3779b1u + event.time.x;
    if event.payload.x > 0u {
        let time = time_add(event.time, hop());
        if memory_rows() > 0u { memory_set(0u, memory_get(0u) + draw_below(20000u)); }
        schedule((lp + 1u) % ring(), time, vec2<u32>(event.payload.x - 1u, event.payload.y));
    }
}

// If there is LP memory, its content is added, and grows.
fn least_hop() -> vec2<u32> {
    if memory_rows() > 0u { return time_add(params.step, memory_get(0u).xy * vec2<u32>(1u, 0u)); }
    return params.step;
}

fn hop() -> vec2<u32> {
    return time_add(least_hop(), vec2<u32>(draw_below(select(1000u, 20000u, memory_rows() > 0u)), 0u));
}

// The LP after the culprit declares no sender.
fn sender_count(lp: u32) -> u32 {
    if lp > ring() { return 0u; }
    return u32(!(params.rule == 1u && lp == (params.culprit + 1u) % lp_count()));
}

fn sender(lp: u32, index: u32) -> u32 {
    if lp == ring() { return lp + 1u; }
    return (lp + ring() - 1u) % ring();
}

fn answer(lp: u32, state: ptr<function, State>) -> Answer {
    if params.rule == 2u && lp == params.culprit { return Answer(TIME_ZERO, vec2<u32>(1000000u, 0u)); }
    return Answer(TIME_ZERO, least_hop());
}
