// What a model may use: events, draws, schedule. The model brings State, init and handle.
//
// import: random/philox.wgsl
// import: random/stream.wgsl
// import: random/distributions.wgsl
// import: pdes/engine.wgsl
//
// needs: State, init, handle (the model), schedule (pdes/deliver_*.wgsl), mul_wide

@group(0) @binding(6) var<storage, read_write> states: array<State>;

// An event as `handle` gets it: its time in ticks (low, high) and two words of the model's own.
struct Event {
    time: vec2<u32>,
    payload: vec2<u32>,
}

// How many LPs there are. Destinations are 0 .. lp_count() - 1.
fn lp_count() -> u32 {
    return run.total;
}

// The lookahead in ticks: the least time from an event to one that it schedules.
fn lookahead() -> vec2<u32> {
    return run.lookahead;
}
