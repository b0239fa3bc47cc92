// Tokens move from LP to LP at random. At each LP a token writes up to `rows` rows of LP memory,
// reads them again, and repeats this at the same time `again` times.

struct Params {
    mean: vec2<u32>,    // delay beyond the lookahead
    rows: u32,          // rows that an event writes, at most
    again: u32,         // events that a token has at one time after the first
}

@group(1) @binding(0) var<uniform> params: Params;

struct State { sum: u32, seen: u32 }

fn init(lp: u32, state: ptr<function, State>) {
    schedule(lp, vec2<u32>(lp, 0u), vec2<u32>(lp, 0u));
}

fn handle(lp: u32, event: Event, state: ptr<function, State>) {
    (*state).seen += 1u;
    let count = 1u + draw_below(params.rows);
    for (var i = 0u; i < count; i += 1u) {
        let row = memory_get(i);
        memory_set(i, vec4<u32>(row.y + event.payload.x, row.z + i, row.w + 1u, row.x ^ count));
        (*state).sum = (*state).sum * 31u + memory_get((i * 7u) % params.rows).x;
    }
    if event.payload.y < params.again {
        schedule(lp, event.time, vec2<u32>(event.payload.x, event.payload.y + 1u));
        return;
    }
    let next = time_add(event.time, time_add(lookahead(), draw_exponential(params.mean)));
    schedule(draw_below(lp_count()), next, vec2<u32>((*state).sum, 0u));
}
