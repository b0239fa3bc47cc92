// Tokens move from LP to LP at random, and their traces depend on the number of the run. In one run
// of many, some LPs violate the lookahead from some time on.

struct Params {
    at: vec2<u32>,      // from this time on
    mean: vec2<u32>,    // delay beyond the lookahead
    culprit: u32,       // the run, or EVERY
    first: u32,         // its LPs from this one on
}

const EVERY = 0xfffffffeu;

@group(1) @binding(0) var<uniform> params: Params;

struct State { coloured: u32, seen: u32 }
struct Output { coloured: u32, replica: u32 }

fn init(lp: u32, state: ptr<function, State>) {
    (*state).coloured = replica() * 0x9e3779b1u + draw();
    schedule(lp, vec2<u32>(lp, 0u), vec2<u32>(lp, replica()));
}

fn handle(lp: u32, event: Event, state: ptr<function, State>) {
    (*state).seen += 1u;
    (*state).coloured = ((*state).coloured ^ (event.payload.y + replica())) * 0x9e3779b1u;
    var next = time_add(now(), lookahead());
    let wrong = replica() == params.culprit || params.culprit == EVERY;
    if wrong && lp >= params.first && !time_less(now(), params.at) {
        next = time_add(now(), vec2<u32>(lookahead().x - 1u, 0u));
        schedule((lp + 1u) % lp_count(), next, event.payload);
        return;
    }
    next = time_add(next, draw_exponential(params.mean));
    schedule(draw_below(lp_count()), next, event.payload);
}

fn output(lp: u32, state: ptr<function, State>) -> Output {
    return Output((*state).coloured, replica());
}
