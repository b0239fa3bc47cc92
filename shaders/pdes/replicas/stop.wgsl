// How a run that a workgroup or an invocation executes alone stopped.
//
// Functions: replica_stop.
//
// import: time/ticks.wgsl
// provides: STOP_EMPTY, STOP_FAILED, STOP_NOT, replica_stop
// needs: shared_run

const STOP_NOT = 0u;
const STOP_FAILED = 1u;
const STOP_TIME = 2u;
const STOP_EVENTS = 3u;
const STOP_EMPTY = 4u;
// Until a later submission (run.pause in pdes/engine.wgsl).
const STOP_PAUSE = 5u;

// Whether a run whose first pending event is at `now` and that has executed `events` is at its end.
fn replica_stop(now: vec2<u32>, events: vec2<u32>) -> u32 {
    let counted = select(STOP_EVENTS, STOP_NOT, time_less(events, shared_run.event_limit));
    return select(select(STOP_TIME, counted, time_less(now, shared_run.until)), STOP_EMPTY, all(now == TIME_NEVER));
}
