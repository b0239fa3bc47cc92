// Start and end of slices of local teams, for either kind of windows
// (pdes/replicas/team_local.wgsl, pdes/replicas/team_local_horizon.wgsl), so that slices of either
// may follow each other.
//
// Functions: local_open, local_enter, local_fetch, local_store; far_ready, far_step, far_time.
//
// import: pdes/model.wgsl
// import: pdes/results/fingerprint.wgsl
// import: pdes/replicas/team_local_pool.wgsl
// needs: REPLICA_DONE, REPLICA_SAVED, REPLICA_STATUS, STOP_EMPTY, STOP_FAILED, STOP_NOT, State
// needs: WINDOWS, replica_failed, replica_leave, replica_open, replica_row, replica_status
// needs: shared_run

// By team, and by parity of the search: the high and the low word of the smallest time, if it is
// far.
var<workgroup> local_high: array<atomic<u32>, 2u * TEAMS>;
var<workgroup> local_low: array<atomic<u32>, 2u * TEAMS>;
// By team: events executed in this slice.
var<workgroup> local_executed: array<atomic<u32>, TEAMS>;
// Whether any team has a run that continues.
var<workgroup> local_entered: atomic<u32>;

// A far time is found in two steps with a barrier between them: its high word, then its low word.
const FAR_NOT = 0u;
const FAR_HIGH = 1u;
const FAR_LOW = 2u;

// Resets the words of a search.
fn far_ready(team: u32, search: u32) {
    atomicStore(&local_high[2u * team + search], 0xffffffffu);
    atomicStore(&local_low[2u * team + search], 0xffffffffu);
}

// A step, for an invocation whose LP's first event is at `first`. It also resets the words of the
// next search, which no invocation has read since the last one.
fn far_step(step: u32, team: u32, search: u32, member: u32, first: vec2<u32>) {
    let words = 2u * team + search;
    if step == FAR_HIGH {
        atomicMin(&local_high[words], first.y);
        if member == 0u { far_ready(team, 1u - search); }
    } else if first.y == atomicLoad(&local_high[words]) {
        atomicMin(&local_low[words], first.x);
    }
}

fn far_time(team: u32, search: u32) -> vec2<u32> {
    return vec2<u32>(atomicLoad(&local_low[2u * team + search]), atomicLoad(&local_high[2u * team + search]));
}

// An invocation's work: LP `member` of the run at a place, which is that of a team of its
// workgroup.
struct LocalSlice {
    team: u32,
    member: u32,
    place: u32,
    row: u32,
    // Windows done (2) and events executed (2), and REPLICA_STATUS.
    done: vec4<u32>,
    status: vec4<u32>,
    // Whether the run continues, and whether it has such an LP.
    entered: bool,
    serves: bool,
    // Whether there is a run that does not continue.
    stopped: bool,
}

// What an LP stores between slices besides its state and events.
struct LocalLp {
    // Number of executed events.
    number: vec2<u32>,
    // Their fingerprint.
    digest: vec2<u32>,
    // Windows in a row in which it was stalled.
    stalls: u32,
}

// Call it in all invocations, before local_enter. Resets a team's words; the caller also resets its
// own window words before local_enter.
fn local_open(group: u32, lane: u32) -> LocalSlice {
    var here: LocalSlice;
    here.team = lane / LISTS;
    // Not a remainder: SwiftShader's is wrong for LISTS = 1 (it is not 0).
    here.member = lane - here.team * LISTS;
    here.place = group * TEAMS + here.team;
    here.status = vec4<u32>(TIME_NEVER, STOP_EMPTY, 0u);
    if here.place < shared_run.groups {
        replica_open(here.place);
        here.done = lps[replica_row(here.place, REPLICA_DONE)];
        here.status = replica_status(here.place);
        if here.status.z == STOP_NOT && replica_failed() { here.status.z = STOP_FAILED; }
        here.stopped = here.status.z != STOP_NOT;
    }
    here.entered = here.status.z == STOP_NOT;
    here.serves = here.entered & (here.member < shared_run.total);
    here.row = here.place * shared_run.total + min(here.member, shared_run.total - 1u);
    if lane == 0u { atomicStore(&local_entered, 0u); }
    if here.member == 0u {
        atomicStore(&local_executed[here.team], 0u);
        far_ready(here.team, 0u);
    }
    return here;
}

// Call it in all invocations; it is a barrier. Returns whether any team of the workgroup has a run
// that continues.
fn local_enter(here: LocalSlice) -> bool {
    workgroupBarrier();
    // All members have read it.
    if here.stopped && here.member == 0u { lps[replica_row(here.place, REPLICA_STATUS)].z = here.status.z; }
    if here.entered { atomicStore(&local_entered, 1u); }
    return workgroupUniformLoad(&local_entered) != 0u;
}

// Call it before another barrier and the first window.
fn local_fetch(here: LocalSlice) -> LocalLp {
    var lp: LocalLp;
    lp_row = here.row;
    own_first = NONE;
    own_spare = NONE;
    if here.entered { pool_fetch(here.team, here.place, here.member, lps[replica_row(here.place, REPLICA_SAVED)]); }
    if here.serves {
        let counts = lps[shared_run.rows + here.row];
        lp.number = counts.xy;
        lp.digest = counts.zw;
        let kept = lps[here.row];
        own_first = kept.z;
        lp.stalls = kept.w;
        if own_first != NONE { own_event = queue_events[here.place * POOL + own_first]; }
    }
    return lp;
}

// Call it in all invocations of a team with a run, after a barrier that follows the sum of executed
// events. `windows` is the number of this slice's windows, `now` the time of the first event,
// `rounds` the number of windows that began then.
fn local_store(here: LocalSlice, lp: LocalLp, state: State, windows: u32, now: vec2<u32>, stop: u32, rounds: u32) {
    let saved = pool_keep(here.place, here.member);
    if here.serves {
        lps[here.row] = vec4<u32>(0u, 0u, own_first, lp.stalls);
        lps[shared_run.rows + here.row] = vec4<u32>(lp.number, lp.digest);
        states_set(here.row, state);
    }
    if here.member == 0u {
        let executed = atomicLoad(&local_executed[here.team]);
        let done = vec4<u32>(wide_add(here.done.xy, vec2<u32>(windows, 0u)), wide_add(here.done.zw, vec2<u32>(executed, 0u)));
        atomicAdd(&words[WINDOWS], windows);
        replica_leave(here.place, done, vec4<u32>(now, stop, rounds), saved, executed);
    }
}
