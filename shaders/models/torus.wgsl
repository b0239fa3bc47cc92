// A closed network of queues on a torus: a station in each of rows x columns places, and customers
// that circulate for ever. A station serves them in the order of arrival, for an exponential time
// each, and sends each to one of its four neighbours at random. The travel time is the lookahead.
//
// Customers are identical, so a station stores only their number. One thread serves one LP, which
// is one station.
//
// import: statistics/time_average.wgsl

struct Params {
    mean_service: vec2<u32>, // in ticks, as all times
    warm_up: vec2<u32>,      // statistics begin here
    columns: u32,
    customers: u32,          // in the whole network, initially spread evenly
}

@group(1) @binding(0) var<uniform> params: Params;

struct State {
    number: TimeAverage, // customers in the station; its level is their number now
    busy: TimeAverage,   // 1 while it serves, 0 while it is empty
    served: vec2<u32>,   // since the warm-up
    unused: vec2<u32>,
}

struct Output {
    number: TimeAverage,
    busy: TimeAverage,
    served: vec2<u32>,
    unused: vec2<u32>,
}

// Events. Arrivals of one time are equal in all words, since customers are identical.
const COMPLETION = vec2<u32>(0u, 0u);
const ARRIVAL = vec2<u32>(1u, 0u);

fn init(lp: u32, state: ptr<function, State>) {
    let number = params.customers / lp_count() + u32(lp < params.customers % lp_count());
    (*state).number = time_average_since(params.warm_up, 0u);
    (*state).busy = time_average_since(params.warm_up, 0u);
    hold(number, state);
    if number > 0u { serve(lp); }
}

fn handle(lp: u32, event: Event, state: ptr<function, State>) {
    let number = (*state).number.level;
    if event.payload.x == ARRIVAL.x {
        hold(number + 1u, state);
        if number == 0u { serve(lp); }
    } else {
        hold(number - 1u, state);
        schedule(neighbour(lp, draw_below(4u)), time_add(now(), lookahead()), ARRIVAL);
        if number > 1u { serve(lp); }
        if !time_less(now(), params.warm_up) { (*state).served = time_add((*state).served, vec2<u32>(1u, 0u)); }
    }
}

// The senders of a station: its neighbours, in the opposite directions.
fn sender_count(lp: u32) -> u32 {
    return 4u;
}

fn sender(lp: u32, index: u32) -> u32 {
    return neighbour(lp, index ^ 1u);
}

// An empty station serves the next arrival at once, for the time that its next event draws. A busy
// one is not done earlier because of an arrival.
fn answer(lp: u32, state: ptr<function, State>) -> Answer {
    if (*state).number.level > 0u { return Answer(TIME_NEVER, TIME_ZERO); }
    return Answer(TIME_ZERO, time_add(draw_exponential(params.mean_service), lookahead()));
}

fn hold(number: u32, state: ptr<function, State>) {
    (*state).number = time_average_set((*state).number, now(), number);
    (*state).busy = time_average_set((*state).busy, now(), min(number, 1u));
}

fn serve(lp: u32) {
    schedule(lp, time_add(now(), draw_exponential(params.mean_service)), COMPLETION);
}

fn neighbour(lp: u32, direction: u32) -> u32 {
    let column = lp % params.columns;
    switch direction {
        case 0u: { return lp - column + (column + 1u) % params.columns; }
        case 1u: { return lp - column + (column + params.columns - 1u) % params.columns; }
        case 2u: { return (lp + params.columns) % lp_count(); }
        default: { return (lp + lp_count() - params.columns) % lp_count(); }
    }
}

fn output(lp: u32, state: ptr<function, State>) -> Output {
    let busy = time_average_at((*state).busy, now());
    return Output(time_average_at((*state).number, now()), busy, (*state).served, vec2<u32>(0u, 0u));
}
