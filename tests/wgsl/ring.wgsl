// Tokens move from LP to LP along a table for a given number of hops and vanish.

struct Params {
    step: vec2<u32>,
    hops: u32,
    stride: u32,    // every stride-th LP starts with a token
}

@group(1) @binding(0) var<uniform> params: Params;
@group(1) @binding(1) var<storage, read> data: array<u32>;

struct State {
    visits: u32,
    drawn: u32,
}

fn init(lp: u32, state: ptr<function, State>) {
    (*state).drawn = draw();
    if lp % params.stride == 0u {
        schedule(lp, vec2<u32>(lp % 7u, 0u), vec2<u32>(params.hops, lp));
    }
}

fn handle(lp: u32, event: Event, state: ptr<function, State>) {
    (*state).visits += 1u;
    (*state).drawn = (*state).drawn * 31u + draw_below(1000u);
    if event.payload.x > 0u {
        schedule(data[lp], time_add(event.time, params.step), vec2<u32>(event.payload.x - 1u, event.payload.y));
    }
}
