// One server: customers arrive one by one, wait in order, and are served. A step is a customer.
// Times are 64-bit ticks, low word and high word.
//
// import: statistics/tally.wgsl

struct Params {
    between: vec2<u32>,
    service: vec2<u32>,
    customers: u32,
    unused: u32,                // structs have no padding
}

// What a replication keeps.
struct State {
    wait: Tally,
    arrival: vec2<u32>,         // of the last customer
    free: vec2<u32>,            // when all customers so far will have been served
    next: u32,                  // customers so far
    unused: array<u32, 3>,
}

// What a replication returns.
struct Output {
    wait: Tally,
}

fn start(state: ptr<function, State>) {
    *state = State();
}

// Returns whether the replication continues.
fn step(state: ptr<function, State>) -> bool {
    let arrival = time_add((*state).arrival, draw_exponential(params.between));
    let begins = select((*state).free, arrival, time_less((*state).free, arrival));
    (*state).wait = tally_add((*state).wait, arrival, time_since(begins, arrival));
    (*state).free = time_add(begins, draw_exponential(params.service));
    (*state).arrival = arrival;
    (*state).next += 1u;
    return (*state).next < params.customers;
}

fn finish(state: ptr<function, State>) -> Output {
    return Output((*state).wait);
}
