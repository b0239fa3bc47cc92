// Customers walk between stations for ever: each station serves one at a time, in order of arrival, and then sends the
// customer to a random station. The walk takes the lookahead. An event is an arrival.

struct Params {
    mean_service: vec2<u32>,
    customers: u32,             // that start at each station
    reserved: u32,
}

@group(1) @binding(0) var<uniform> params: Params;

struct State {
    free: vec2<u32>,            // when the server will have served all that have arrived
    busy: vec2<u32>,            // time spent serving
    served: vec2<u32>,
}

fn init(lp: u32, state: ptr<function, State>) {
    for (var i = 0u; i < params.customers; i += 1u) {
        schedule(lp, vec2<u32>(i, 0u), vec2<u32>(lp, i));
    }
}

fn handle(lp: u32, event: Event, state: ptr<function, State>) {
    let service = draw_exponential(params.mean_service);
    var begin = event.time;
    if time_less(begin, (*state).free) { begin = (*state).free; }
    (*state).free = time_add(begin, service);
    (*state).busy = time_add((*state).busy, service);
    (*state).served = time_add((*state).served, vec2<u32>(1u, 0u));
    schedule(draw_below(lp_count()), time_add((*state).free, lookahead()), event.payload);
}
