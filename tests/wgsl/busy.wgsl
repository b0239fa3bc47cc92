// LPs with many events: an event schedules others for the LP itself, at once or soon, and sometimes
// one for another LP. A ring in LP memory holds the last rows.

struct Params {
    rows: u32,      // of the ring
    rule: u32,      // the error to make, or 0
    culprit: u32,   // the LP that makes it
    children: u32,  // of each event, at most
}

@group(1) @binding(0) var<uniform> params: Params;

struct State {
    seen: u32,
    order: u32,
}

fn init(lp: u32, state: ptr<function, State>) {
    // Reads the earlier content: `init` may run more than once and must find zeros.
    for (var i = 0u; i < params.rows; i += 1u) {
        let row = memory_get(i);
        memory_set(i, row + vec4<u32>(lp, i, 1u, 0u));
    }
    schedule(lp, vec2<u32>(draw_below(50u), 0u), vec2<u32>(6u, lp));
    if params.rule == 5u && lp == params.culprit { memory_set(params.rows, vec4<u32>(1u)); }
    // More than two budgets at one time, then for ever.
    if params.rule == 7u && lp == params.culprit {
        for (var i = 0u; i < 300u; i += 1u) { schedule(lp, vec2<u32>(60u, 0u), vec2<u32>(0u, i)); }
        schedule(lp, vec2<u32>(60u, 0u), vec2<u32>(8u, 0u));
    }
}

fn handle(lp: u32, event: Event, state: ptr<function, State>) {
    (*state).seen += 1u;
    (*state).order = ((*state).order ^ event.payload.y) * 0x9e3779b1u + event.payload.x;
    if params.rows > 0u {
        let place = draw_below(params.rows);
        let row = memory_get(place);
        memory_set(place, vec4<u32>(row.y, row.x + 1u, event.time.x, event.payload.x));
        (*state).order += row.x;
    }
    if params.rule == 6u { // for ever: the culprit at one time, the others from tick to tick
        schedule(lp, time_add(event.time, vec2<u32>(u32(lp != params.culprit), 0u)), event.payload);
        return;
    }
    if params.rule == 7u {
        if event.payload.x == 8u { schedule(lp, event.time, event.payload); }
        return;
    }
    if lp == params.culprit && event.payload.x <= 3u {
        switch params.rule {
            case 1u: { schedule(lp, event.time, event.payload); return; }               // for ever
            case 2u: { schedule(lp, vec2<u32>(event.time.x - 1u, 0u), event.payload); } // past
            case 3u: { schedule(lp, now(), vec2<u32>(event.payload.x, 7u)); schedule(lp, now(), vec2<u32>(event.payload.x, 8u)); }
            case 4u: { (*state).order += memory_get(memory_rows()).x; }
            default: {}
        }
    }
    if event.payload.x == 0u { return; }
    let children = draw_below(params.children + 1u);
    for (var i = 0u; i < children; i += 1u) {
        // Half of them without a delay: in the order of payloads they are before, after or equal to
        // other pending events of this time.
        let delay = select(0u, draw_below(400u), draw_bernoulli(0x80000000u));
        schedule(lp, time_add(now(), vec2<u32>(delay, 0u)), vec2<u32>(event.payload.x - 1u, draw_below(4u)));
    }
    if draw_below(3u) == 0u {
        schedule(draw_below(lp_count()), time_add(event.time, lookahead()), vec2<u32>(event.payload.x - 1u, lp));
    }
}
