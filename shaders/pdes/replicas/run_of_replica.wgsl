// The parameters and memory of a run among many of the same model, a replica. All that
// pdes/engine.wgsl says of a run holds for each replica. Replicas differ in their random streams
// and their point (a row of parameters); each has its own horizon, end and failure. A replica's
// place is its position in memory, not its number: its LPs are the run.total rows at its place.
//
// Here `run` is a private variable, made from `shared_run` and the rows of a replica, so that files
// that read `run` serve single runs and replicas.
//
//   shared_run   equal in all replicas; shared_run.rows are the LPs of all replicas
//   lps          instead of partials and control: for each place REPLICA_ROWS rows (below)
//   words        from shared_run.failures on, for each place REPLICA_WORDS: the first failure by
//                half, needed room (2), and at the start, inserted events (REPLICA_PUT)
//
// Functions: run_begin, run_open, replica_open, replica_row, replica_status, replica_window,
// replica_failed, replica_leave. pdes/replicas/run_of_one.wgsl has the same for a single run.
//
// import: pdes/engine.wgsl
// import: pdes/replicas/stop.wgsl
// provides: HALTED, REPLICA_DONE, REPLICA_POINT, REPLICA_PUT, REPLICA_SAVED, REPLICA_STATUS
// provides: REPLICA_WORDS, WINDOWS, replica_failed, replica_leave, replica_open, replica_row
// provides: replica_status, replica_window, run, run_begin, run_open, shared_run
// needs: params_open

@group(0) @binding(0) var<uniform> shared_run: Run;

var<private> run: Run;

const REPLICA_ROWS = 6u;
const REPLICA_NAMES = 0u;    // seed (2), lookahead (2)
const REPLICA_EPOCH = 1u;     // length of epochs (2), and its reciprocal (2)
// Number, point. Thread: events in a row of one LP at one time, and that LP.
const REPLICA_POINT = 2u;
const REPLICA_DONE = 3u;     // windows done (2), events executed (2)
// Time of the first pending event (2), how it stopped (STOP_), windows that began at that time.
const REPLICA_STATUS = 4u;
// Team: parity of the next window (local teams: pdes/replicas/team_local_pool.wgsl). Thread: events
// in the heap, events held back, end of the present window (2).
const REPLICA_SAVED = 5u;

const REPLICA_WORDS = 8u;
const REPLICA_PUT = 4u;

// Words of this dispatch for all replicas: replicas that continue; events executed, modulo 2^32;
// windows of local teams; whether a local team can continue only with pdes/replicas/team_local.wgsl
// (see pdes/replicas/team_local_horizon.wgsl).
const RUNNING = 0u;
const EXECUTED = 1u;
const WINDOWS = 2u;
const HALTED = 3u;

// Index in `lps` of a replica's row.
fn replica_row(place: u32, row: u32) -> u32 {
    return 2u * shared_run.rows + place * REPLICA_ROWS + row;
}

// Call it before anything of the replica at a place.
fn replica_open(place: u32) {
    let names = lps[replica_row(place, REPLICA_NAMES)];
    let epoch = lps[replica_row(place, REPLICA_EPOCH)];
    let point = lps[replica_row(place, REPLICA_POINT)];
    let saved = lps[replica_row(place, REPLICA_SAVED)];
    run = shared_run;
    run.seed = names.xy;
    run.lookahead = names.zw;
    run.epoch_length = epoch.xy;
    run.reciprocal = epoch.zw;
    run.replica = point.x;
    run.first_lp = 0u - place * shared_run.total;
    run.failures = shared_run.failures + place * REPLICA_WORDS;
    run.part.parity = saved.x & 1u;
    params_open(point.y);
}

// Call it before anything else.
fn run_begin() {
    run = shared_run;
}

// Call it before anything of the LP in a row.
fn run_open(row: u32) {
    replica_open(row / shared_run.total);
}

// Whether the open replica has failed in an earlier dispatch.
fn replica_failed() -> bool {
    return atomicLoad(&words[run.failures + FAILURE]) != NO_FAILURE
        || atomicLoad(&words[run.failures + FAILURE + 1u]) != NO_FAILURE;
}

// A replica's REPLICA_STATUS at the start of a dispatch.
fn replica_status(place: u32) -> vec4<u32> {
    return lps[replica_row(place, REPLICA_STATUS)];
}

// The end of a local team's window that begins at `now`. No epochs: that mapping has no
// event-limited runs, and its runs are not resumed.
fn replica_window(now: vec2<u32>) -> vec2<u32> {
    return time_add(now, run.epoch_length);
}

// Stores a replica's progress in this dispatch, in which it executed `executed` events.
fn replica_leave(place: u32, done: vec4<u32>, status: vec4<u32>, saved: vec4<u32>, executed: u32) {
    lps[replica_row(place, REPLICA_DONE)] = done;
    lps[replica_row(place, REPLICA_STATUS)] = status;
    lps[replica_row(place, REPLICA_SAVED)] = saved;
    atomicAdd(&words[EXECUTED], executed);
    if status.z == STOP_NOT { atomicAdd(&words[RUNNING], 1u); }
}
