// One token per LP goes round until LPs at or above `culprit` break a rule at a given time.

struct Params {
    at: vec2<u32>,
    rule: u32,
    culprit: u32,
}

@group(1) @binding(0) var<uniform> params: Params;

struct State {
    events: u32,
}

fn init(lp: u32, state: ptr<function, State>) {
    if params.rule == 10u { schedule(lp_count(), vec2<u32>(1u, 0u), vec2<u32>(0u)); }
    if params.rule == 11u { schedule(2u, vec2<u32>(1u, 0u), vec2<u32>(lp)); }
    if params.rule == 12u { schedule(lp, TIME_NEVER, vec2<u32>(0u)); }
    schedule(lp, vec2<u32>(lp, 0u), vec2<u32>(lp));
}

fn handle(lp: u32, event: Event, state: ptr<function, State>) {
    (*state).events += 1u;
    let next = time_add(event.time, lookahead());
    if lp >= params.culprit && !time_less(event.time, params.at) {
        switch params.rule {
            case 0u: { schedule((lp + 1u) % lp_count(), time_add(event.time, vec2<u32>(lookahead().x - 1u, 0u)), event.payload); }
            case 1u: { schedule(lp_count() + lp, next, event.payload); }
            case 2u: { schedule(lp, time_add(next, TIME_NEVER), event.payload); }
            case 3u: { schedule(3u, next, event.payload); } // floods a mailbox
            case 4u: { schedule(4u, time_add(next, vec2<u32>(0u, 1u)), event.payload); }
            default: {}
        }
    }
    schedule((lp + 1u) % lp_count(), next, event.payload);
}
