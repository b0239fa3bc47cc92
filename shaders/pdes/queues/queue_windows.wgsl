// What windows are told of and leave for each other where pending events are in queues: pdes/window/yawns.wgsl, pdes/horizon/horizon.wgsl and
// pdes/horizon/horizon_look.wgsl. (pdes/calendar/calendar_sync.wgsl has its own.)
//
// Functions: merge, did_something.
//
// import: time/ticks.wgsl
// provides: Horizon, IDLE, Reduced, did_something, merge

// A time of which the earliest counts (2 words); a number of events of which the sum does; a mark of which the greatest does: 0 of an LP that had
// nothing to do, and else what clock_store says.
alias Reduced = vec4<u32>;

const IDLE = vec4<u32>(0xffffffffu, 0xffffffffu, 0u, 0u);

fn merge(a: Reduced, b: Reduced) -> Reduced {
    return vec4<u32>(time_min(a.xy, b.xy), a.z + b.z, max(a.w, b.w));
}

fn did_something(left: Reduced) -> bool {
    return left.w != 0u;
}

struct Horizon {
    // The smallest pending timestamp, and the events and windows so far.
    now: vec2<u32>,
    events: vec2<u32>,
    windows: vec2<u32>,
    failure: u32,
    stopped: bool,
    rounds: u32,
    // Whether LPs are to be served: all before `until` are executed.
    serve: bool,
    until: vec2<u32>,
}
