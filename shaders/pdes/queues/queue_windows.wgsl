// What windows read and leave for each other if pending events are in queues:
// pdes/window/yawns.wgsl, pdes/horizon/horizon.wgsl and pdes/horizon/horizon_look.wgsl.
// pdes/calendar/calendar_sync.wgsl has its own.
//
// Functions: merge, did_something.
//
// import: time/ticks.wgsl
// provides: Horizon, IDLE, Reduced, did_something, merge

// A time (2 words), of which the earliest counts; a number of events, which are added; a mark, of
// which the greatest counts: 0 of an idle LP, else the result of clock_store.
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
    // Windows that began at `now`, with this one.
    rounds: u32,
    // Whether LPs are served: all events before `until` are executed.
    serve: bool,
    until: vec2<u32>,
}
