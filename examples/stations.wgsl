// Customers walk between stations for ever. A station serves one customer at a time, in order of
// arrival, and sends it to a random station; the walk takes the lookahead. Customers are identical,
// so a station only counts them.
// import: statistics/time_average.wgsl

struct Params {
    mean_service: vec2<u32>,    // times are 64-bit ticks: low word, high word
    warm_up: vec2<u32>,         // statistics begin here
    customers: u32,             // that start at each station
    reserved: u32,
}
@group(1) @binding(0) var<uniform> params: Params;

struct State { busy: TimeAverage, here: u32, served: u32, reserved: vec2<u32> }
struct Output { busy: TimeAverage, here: u32, served: u32, reserved: vec2<u32> }

const ARRIVAL = 0u;
const COMPLETION = 1u;          // of a service

fn init(lp: u32, state: ptr<function, State>) {
    (*state).busy = time_average_since(params.warm_up, 0u);
    for (var i = 0u; i < params.customers; i += 1u) {
        schedule(lp, TIME_ZERO, vec2<u32>(ARRIVAL, i)); // receiver, time, two words of payload
    }
}

fn handle(lp: u32, event: Event, state: ptr<function, State>) {
    var begins: bool;           // whether a service begins
    if event.payload.x == ARRIVAL {
        (*state).here += 1u;
        begins = (*state).here == 1u;
    } else {
        (*state).here -= 1u;
        (*state).served += 1u;
        begins = (*state).here > 0u;
        schedule(draw_below(lp_count()), time_add(now(), lookahead()), vec2<u32>(ARRIVAL, 0u));
    }
    if begins {
        schedule(lp, time_add(now(), draw_exponential(params.mean_service)), vec2<u32>(COMPLETION, 0u));
    }
    (*state).busy = time_average_set((*state).busy, now(), min((*state).here, 1u));
}

fn output(lp: u32, state: ptr<function, State>) -> Output {
    let busy = time_average_at((*state).busy, now());
    return Output(busy, (*state).here, (*state).served, vec2<u32>(0u));
}
