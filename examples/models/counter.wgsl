// Customers come one by one, wait in order, and are served one at a time: a step of a replication is a customer.
// Times are 64-bit ticks, low word and high word.
//
// import: statistics/tally.wgsl

struct Params {
    between: vec2<u32>,         // mean time between two arrivals
    service: vec2<u32>,         // mean time of a service
    customers: u32,
    unused: u32,
}

struct State {
    wait: Tally,
    arrival: vec2<u32>,         // of the last customer
    free: vec2<u32>,            // when all who came so far will have been served
    idle: vec2<u32>,            // time in which nobody was served
    next: u32,                  // customers so far
    unused: u32,
}

struct Output {
    wait: Tally,
    idle: vec2<u32>,
    end: vec2<u32>,             // of the last service
}

fn start(state: ptr<function, State>) {
    *state = State();
}

fn step(state: ptr<function, State>) -> bool {
    let arrival = time_add((*state).arrival, draw_exponential(params.between));
    let begins = select((*state).free, arrival, time_less((*state).free, arrival));
    (*state).wait = tally_add((*state).wait, arrival, time_since(begins, arrival));
    (*state).idle = time_add((*state).idle, time_since(begins, (*state).free));
    (*state).free = time_add(begins, draw_exponential(params.service));
    (*state).arrival = arrival;
    (*state).next += 1u;
    return (*state).next < params.customers;
}

fn finish(state: ptr<function, State>) -> Output {
    return Output((*state).wait, (*state).idle, (*state).free);
}
