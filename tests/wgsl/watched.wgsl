// Tokens move at random, and each LP collects every statistic of the library about its visitors. A
// token carries the time at which it was sent.
//
// import: statistics/histogram.wgsl
// import: statistics/tally.wgsl
// import: statistics/time_average.wgsl

struct State {
    travel: Tally,
    load: TimeAverage,
    bins: array<u32, 8>,
}

fn send(now: vec2<u32>) {
    let travel = time_add(lookahead(), draw_exponential(vec2<u32>(100u, 0u)));
    schedule(draw_below(lp_count()), time_add(now, travel), now);
}

fn init(lp: u32, state: ptr<function, State>) {
    (*state).travel = tally_since(vec2<u32>(500u, 0u));
    (*state).load = time_average_since(vec2<u32>(500u, 0u), lp % 3u);
    send(TIME_ZERO);
}

fn handle(lp: u32, event: Event, state: ptr<function, State>) {
    let travel = travelled(event.time, event.payload);
    (*state).travel = tally_add((*state).travel, event.time, travel);
    // Up to 20, then from 0.
    if (*state).load.level >= 20u {
        (*state).load = time_average_set((*state).load, event.time, 0u);
    } else {
        (*state).load = time_average_add((*state).load, event.time, 3);
    }
    (*state).load = time_average_at((*state).load, event.time);
    (*state).bins[histogram_bin(travel, vec2<u32>(20u, 0u), vec2<u32>(40u, 0u), 8u)] += 1u;
    send(event.time);
}

// Travel takes less than 2^32 ticks.
fn travelled(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    return vec2<u32>(a.x - b.x, 0u);
}
