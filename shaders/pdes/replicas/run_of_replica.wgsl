// A run among many of the same model: what its kernels are told, and where it lies.
//
// All that pdes/engine.wgsl says of a run holds for each of these *replicas*: `run` is what a run alone would be told. They differ in their random streams and
// their point, which is a row of parameters, and each has its own horizon, end and failure. The LPs of a replica are run.total rows
// of the memory, replica after replica: its *place*, which is not its number.
//
// `run` is a private variable here, made from `given` and the rows of a replica. So files that read
// `run` serve runs alone and replicas.
//
//   given    what is the same in all of them; given.rows are the LPs of all replicas
//   lps      where runs alone have partials and control: for each place REPLICA_ROWS rows (below)
//   words    from given.failures on, for each place REPLICA_WORDS: the first failure by half, the most room that was asked for (2), and at the start,
//            the events of thread replicas and near teams. The first COUNTS words: below
//   params_rows   by point, the model's Params (pdes/replicas/params_of_replica.wgsl), if it has any
//
// Functions: run_begin, run_open (as in pdes/run.wgsl), replica_open, replica_row, replica_stop, replica_failed, replica_leave.
//
// import: pdes/engine.wgsl
// provides: HALTED, REPLICA_DONE, REPLICA_POINT, REPLICA_PUT, REPLICA_SAVED, REPLICA_STATUS
// provides: REPLICA_WORDS, STOP_EMPTY, STOP_FAILED, STOP_NOT, WINDOWS, replica_failed
// provides: replica_leave, replica_open, replica_row, replica_stop, run, run_begin, run_open
// provides: shared_run
// needs: params_open

@group(0) @binding(0) var<uniform> shared_run: Run;

var<private> run: Run;

const REPLICA_ROWS = 6u;
const REPLICA_NAMES = 0u;    // seed (2), lookahead (2)
const REPLICA_CELL = 1u;     // length of cells (2), and its reciprocal (2)
const REPLICA_POINT = 2u;    // number, point. Thread: events in a row of one LP at one time, and that LP
const REPLICA_DONE = 3u;     // windows done (2), events executed (2)
const REPLICA_STATUS = 4u;   // time of the first pending event (2), how it stopped (STOP_), windows that began at that time
const REPLICA_SAVED = 5u;    // team: parity of the next window (near: pdes/replicas/team_local_pool.wgsl). Thread: events held, events held back, time at which the present window ends (2)

const REPLICA_WORDS = 8u;
const REPLICA_PUT = 4u;

// How a replica stopped.
const STOP_NOT = 0u;
const STOP_FAILED = 1u;
const STOP_TIME = 2u;
const STOP_EVENTS = 3u;
const STOP_EMPTY = 4u;

// Words for all replicas, of this dispatch: how many go on after it; the events that it executed, modulo 2^32; of near teams, in how many windows, and whether one needs a dispatch
// of pdes/replicas/team_local.wgsl to go on (pdes/replicas/team_local_horizon.wgsl).
const RUNNING = 0u;
const EXECUTED = 1u;
const WINDOWS = 2u;
const HALTED = 3u;

// Where a row of a replica's lies in `lps`.
fn replica_row(place: u32, row: u32) -> u32 {
    return 2u * shared_run.rows + place * REPLICA_ROWS + row;
}

// To be called before anything of the replica in a place.
fn replica_open(place: u32) {
    let names = lps[replica_row(place, REPLICA_NAMES)];
    let cell = lps[replica_row(place, REPLICA_CELL)];
    let point = lps[replica_row(place, REPLICA_POINT)];
    let saved = lps[replica_row(place, REPLICA_SAVED)];
    run = shared_run;
    run.seed = names.xy;
    run.lookahead = names.zw;
    run.cell = cell.xy;
    run.reciprocal = cell.zw;
    run.replica = point.x;
    run.first_lp = 0u - place * shared_run.total;
    run.failures = shared_run.failures + place * REPLICA_WORDS;
    run.part.parity = saved.x & 1u;
    params_open(point.y);
}

// To be called before anything else.
fn run_begin() {
    run = shared_run;
}

// To be called before anything of the LP in a row.
fn run_open(row: u32) {
    replica_open(row / shared_run.total);
}

// Whether the replica that is open has failed in an earlier dispatch.
fn replica_failed() -> bool {
    return atomicLoad(&words[run.failures + FAILURE]) != NO_FAILURE
        || atomicLoad(&words[run.failures + FAILURE + 1u]) != NO_FAILURE;
}

// Whether a replica is at its end when the first pending event is at `now` and so many events were executed.
fn replica_stop(now: vec2<u32>, events: vec2<u32>) -> u32 {
    let counted = select(STOP_EVENTS, STOP_NOT, time_less(events, shared_run.event_limit));
    return select(select(STOP_TIME, counted, time_less(now, shared_run.until)), STOP_EMPTY, all(now == TIME_NEVER));
}

// Keeps how far a replica has come in this dispatch, in which it executed so many events.
fn replica_leave(place: u32, done: vec4<u32>, status: vec4<u32>, saved: vec4<u32>, executed: u32) {
    lps[replica_row(place, REPLICA_DONE)] = done;
    lps[replica_row(place, REPLICA_STATUS)] = status;
    lps[replica_row(place, REPLICA_SAVED)] = saved;
    atomicAdd(&words[EXECUTED], executed);
    if status.z == STOP_NOT { atomicAdd(&words[RUNNING], 1u); }
}
