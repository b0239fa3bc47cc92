// LPs with statistics of their draws in the output: every kind of column that results can have.
//
// import: statistics/tally.wgsl
// import: statistics/time_average.wgsl
// import: statistics/histogram.wgsl

struct Params {
    classes: u32,
    row: u32,       // of LP memory, which `output` reads
    culprit: u32,   // LPs from this one on read a row that they do not have
    huge: u32,      // what is added to the highest word of a number of 128 bits
    kinds: u32,     // in `data`
}

@group(1) @binding(0) var<uniform> params: Params;
@group(1) @binding(1) var<storage, read> data: array<u32>;

struct State {
    wait: Tally,
    load: TimeAverage,
    bins: array<u32, 5>,
    drift: i32,
    served: u32,
    spare: u32,
}

struct Output {
    wait: Tally,
    load: TimeAverage,
    big: vec4<u32>,
    ticks: vec2<u32>,
    kind: u32,
    drift: i32,
    share: f32,
    bins: array<u32, 5>,
    lp: u32,
    spare: u32,
}

fn init(lp: u32, state: ptr<function, State>) {
    if lp % 3u != 2u {
        schedule(lp, vec2<u32>(lp % 7u, 0u), vec2<u32>(0u, lp));
    }
}

fn handle(lp: u32, event: Event, state: ptr<function, State>) {
    let wait = draw_below(1000u);
    (*state).wait = tally_add((*state).wait, now(), vec2<u32>(wait, wait & 1u));
    (*state).load = time_average_set((*state).load, now(), draw_below(5u));
    (*state).bins[histogram_bin(vec2<u32>(wait, 0u), vec2<u32>(100u, 0u), vec2<u32>(300u, 0u), 5u)] += 1u;
    // Independent of the events' draws: the number counts this LP's services.
    stream_purpose(3u, (*state).served);
    (*state).drift += i32(draw_below(7u)) - 3;
    stream_main();
    (*state).served += 1u;
    memory_set(1u, vec4<u32>(draw(), draw(), draw(), (draw() >> 8u) + params.huge));
    let other = (lp + 1u + draw_below(5u)) % lp_count();
    schedule(other, time_add(time_add(now(), lookahead()), vec2<u32>(draw_below(20u), 0u)), vec2<u32>((*state).served, lp));
}

fn kind(lp: u32) -> u32 {
    return data[lp % params.kinds] + lp % params.classes;
}

fn output(lp: u32, state: ptr<function, State>) -> Output {
    var told: Output;
    told.wait = (*state).wait;
    told.load = time_average_at((*state).load, now());
    told.big = memory_get(select(params.row, memory_rows(), lp >= params.culprit));
    told.ticks = time_add(now(), vec2<u32>(lp, lp & 1u));
    told.kind = kind(lp);
    told.drift = (*state).drift;
    told.share = f32((*state).drift) * 0.25;
    told.bins = (*state).bins;
    told.lp = lp;
    return told;
}
