// The time of an LP's first send, for a model that declares it (`earliest`): no speculative
// execution. pdes/horizon/speculate.wgsl has the same functions. The queue is open.
//
// Functions: speculate, speculation_reset, schedule (the model's).
//
// import: pdes/model.wgsl
// import: pdes/memory/lp_memory.wgsl
// provides: schedule, speculate, speculation_reset
// needs: Payload, State, earliest, event_time, item_event, queue_first, queue_size, run

struct Speculation {
    earliest: vec2<u32>,
    events: u32,
    reached: bool,
}

fn speculate(row: u32, executed: vec2<u32>, begun: State, reach: vec2<u32>) -> Speculation {
    if queue_size() == 0u { return Speculation(TIME_NEVER, 0u, false); }
    let event = queue_first();
    let time = event_time(event);
    if !time_less(time, reach) { return Speculation(time, 0u, true); }
    let name = name_of(row);
    lp_row = row;
    lp_now = time;
    stream_open(run.seed, name, wide_add(executed, vec2<u32>(1u, 0u)));
    var state = begun;
    // Nothing is sent before the event happens. The number of events before that time is unknown,
    // so event-limited runs use speculative execution instead.
    let sends_at = earliest(name, item_event(event), &state);
    record_failure();
    return Speculation(time_add(time, time_since(sends_at, time)), run.budget, false);
}

fn speculation_reset() {}

// `earliest` schedules nothing: one that could is refused earlier.
fn schedule(lp: u32, time: vec2<u32>, payload: Payload) {}
