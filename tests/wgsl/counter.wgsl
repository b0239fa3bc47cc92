// A single server for the replication engine, with every statistic of the library in its state. A
// step is one client.
//
// import: statistics/histogram.wgsl
// import: statistics/tally.wgsl
// import: statistics/time_average.wgsl

struct Params {
    mean: vec2<u32>,        // between arrivals and of service, in ticks
    warm_up: vec2<u32>,     // in ticks
    clients: u32,
    spare: u32,
}

struct State {
    wait: Tally,
    busy: TimeAverage,
    bins: array<u32, 4>,
    arrival: vec2<u32>,
    free: vec2<u32>,
    served: u32,
    spare_0: u32,
    spare_1: u32,
    spare_2: u32,
}

struct Output {
    count: vec2<u32>,
    sum: vec2<u32>,
    squares: vec2<u32>,
    minimum: vec2<u32>,
    maximum: vec2<u32>,
    area: vec2<u32>,
    changed: vec2<u32>,
    busiest: u32,
    bin_0: u32,
    bin_1: u32,
    bin_2: u32,
    bin_3: u32,
    spare: u32,
}

fn start(state: ptr<function, State>) {
    *state = State();
    (*state).wait = tally_since(params.warm_up);
    (*state).busy = time_average_since(params.warm_up, 0u);
}

fn step(state: ptr<function, State>) -> bool {
    (*state).arrival = time_add((*state).arrival, draw_exponential(params.mean));
    let begin = select((*state).free, (*state).arrival, time_less((*state).free, (*state).arrival));
    let wait = wide_subtract(begin, (*state).arrival);
    // The server is idle from the end of the last service to the beginning of this one.
    (*state).busy = time_average_add((*state).busy, begin, 1);
    (*state).free = time_add(begin, draw_exponential(params.mean));
    (*state).busy = time_average_set((*state).busy, (*state).free, 0u);
    (*state).wait = tally_add((*state).wait, begin, wait);
    (*state).bins[histogram_bin(wait, vec2<u32>(100u, 0u), vec2<u32>(900u, 0u), 4u)] += 1u;
    (*state).served += 1u;
    return (*state).served < params.clients;
}

fn finish(state: ptr<function, State>) -> Output {
    let wait = (*state).wait;
    let busy = time_average_at((*state).busy, time_add((*state).free, vec2<u32>(1000u, 0u)));
    let bins = (*state).bins;
    return Output(
        wait.count, wait.sum.xy, wait.squares.xy, wait.minimum, wait.maximum,
        busy.area.xy, busy.changed, busy.maximum, bins[0], bins[1], bins[2], bins[3], 0u,
    );
}
