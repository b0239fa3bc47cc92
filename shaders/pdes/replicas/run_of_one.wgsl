// A single run that a team executes: the functions of pdes/replicas/run_of_replica.wgsl for memory
// that is laid out as in pdes/engine.wgsl, with one workgroup. So a run may change between a team
// and other windows, and all that reads it between calls stays the same.
//
//   lps      the first half of control: CONTROL_DONE and CONTROL_STATUS hold what a replica's rows
//            of these names do, CONTROL_REACH holds REPLICA_SAVED; partials stay zero
//   words    failures in either half; the other words of replicas are among those of relaxations
//            and after them, which teams do not have
//
// Windows end with epochs, as those of the sequential engine do.
//
// import: pdes/engine.wgsl
// import: pdes/window/epochs.wgsl
// import: pdes/replicas/stop.wgsl
// provides: HALTED, REPLICA_DONE, REPLICA_PUT, REPLICA_SAVED, REPLICA_STATUS, REPLICA_WORDS
// provides: WINDOWS, replica_failed, replica_leave, replica_open, replica_row, replica_status
// provides: replica_window, run, run_begin, run_open, shared_run

@group(0) @binding(0) var<uniform> shared_run: Run;

var<private> run: Run;

const REPLICA_DONE = CONTROL_DONE;
const REPLICA_STATUS = CONTROL_STATUS;
const REPLICA_SAVED = CONTROL_REACH;

// Words from the start of `words`.
const REPLICA_WORDS = COUNTS;
const WINDOWS = 12u;
const HALTED = 13u;
const REPLICA_PUT = 14u;

fn replica_row(place: u32, row: u32) -> u32 {
    return 2u * (shared_run.rows + shared_run.groups) + 1u + row;
}

fn replica_open(place: u32) {
    run = shared_run;
    run.part.parity = lps[replica_row(place, REPLICA_SAVED)].x & 1u;
}

fn run_begin() {
    run = shared_run;
}

fn run_open(row: u32) {}

fn replica_failed() -> bool {
    return atomicLoad(&words[FAILURE]) != NO_FAILURE || atomicLoad(&words[FAILURE + 1u]) != NO_FAILURE;
}

// The status at the start of a dispatch: the end may have changed since the last one.
fn replica_status(place: u32) -> vec4<u32> {
    let status = lps[replica_row(place, REPLICA_STATUS)];
    let events = lps[replica_row(place, REPLICA_DONE)].zw;
    let stop = replica_stop(status.xy, events);
    let pauses = (stop == STOP_NOT) & !time_less(events, shared_run.pause);
    return vec4<u32>(status.xy, select(stop, STOP_PAUSE, pauses), status.w);
}

fn replica_window(now: vec2<u32>) -> vec2<u32> {
    return epoch_end(now);
}

fn replica_leave(place: u32, done: vec4<u32>, status: vec4<u32>, saved: vec4<u32>, executed: u32) {
    lps[replica_row(place, REPLICA_DONE)] = done;
    lps[replica_row(place, REPLICA_STATUS)] = status;
    lps[replica_row(place, REPLICA_SAVED)] = saved;
}
