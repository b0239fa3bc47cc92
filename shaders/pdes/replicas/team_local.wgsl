// Replicas by local teams, for small runs: as pdes/replicas/team.wgsl, but with an invocation for
// every LP, its state and first event in registers during a slice, and its other pending events in
// workgroup memory if they fit (pdes/replicas/team_local_pool.wgsl). So a window needs only a
// workgroup barrier, and one of buffers if they do not.
//
// import: pdes/model.wgsl
// import: pdes/memory/lp_memory.wgsl
// import: pdes/results/fingerprint.wgsl
// import: pdes/replicas/team_local_pool.wgsl
// import: pdes/replicas/team_local_slice.wgsl
// import: pdes/replicas/scheduled_lp.wgsl
// provides: schedule
// needs: Payload, STOP_FAILED, STOP_NOT, State, event_item, event_time, handle, item_event
// needs: replica_stop, replica_window, run, shared_run, slot_put, slots_barrier

// The time of the first pending event as a word, so that one atomic minimum finds it: barriers are
// most of a window's cost. 1 + ticks since the last window began, or one of these constants. A far
// time is then found exactly, in further steps.
const KEY_FAILED = 0u;
const KEY_FAR = 0xfffffffeu;
const KEY_NEVER = 0xffffffffu;

fn local_key(time: vec2<u32>, now: vec2<u32>) -> u32 {
    let since = wide_subtract(time, now);
    let far = (since.y != 0u) | (since.x >= KEY_FAR - 1u);
    return select(select(since.x + 1u, KEY_FAR, far), KEY_NEVER, all(time == TIME_NEVER));
}

// By team, and by window number modulo three: one is read, the next is written, and the one after
// is reset.
var<workgroup> local_keys: array<atomic<u32>, 3u * TEAMS>;
// By window number modulo three: whether any team continues.
var<workgroup> local_going: array<atomic<u32>, 3>;

// The LP of this invocation.
var<private> own_lp: u32;
// When this window ends.
var<private> own_until: vec2<u32>;
// The earliest time sent in this window.
var<private> own_sent: vec2<u32>;

// Events for the LP itself after this window are sent like those for others: otherwise invocations
// diverge, and all wait.
fn schedule(lp: u32, time: vec2<u32>, payload: Payload) {
    let to = scheduled_lp(own_lp, lp, time);
    let slot = pool_take();
    if slot == NONE {
        // Only if the event itself is valid.
        if lp_wrong == 0u { fail_room(lp_row, QUEUE_FULL, QUEUE_NEEDED, POOL + 1u); }
        return;
    }
    let event = event_item(time, payload);
    slot_put(slot, event);
    if (to == own_lp) & time_less(time, own_until) {
        own_insert(slot, event);
    } else {
        pool_send(to, slot);
        own_sent = time_min(own_sent, time);
    }
}

@compute @workgroup_size(GROUP_SIZE)
fn local_windows(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let here = local_open(id.x, lane);
    let team = here.team;
    let member = here.member;
    let row = here.row;
    if lane == 0u { atomicStore(&local_going[0], 0u); }
    if member == 0u { atomicStore(&local_keys[3u * team], KEY_NEVER); }
    if !local_enter(here) { return; }
    own_lp = member;
    var own = local_fetch(here);
    var state: State;
    if here.serves { state = states_get(row); }
    workgroupBarrier();
    let begun = digest_begin(DIGEST_EXECUTED, member);
    var windows = 0u;
    var now = here.status.xy;
    var began = here.status.xy;
    var rounds = here.status.w;
    var stop = here.status.z;
    var executed_here = 0u;
    var first = TIME_NEVER;
    var far = FAR_NOT;
    var search = 0u;
    var turn = 0u;
    var half = 0u;
    // Bound: run.part.slice.
    for (var step = 0u; step < shared_run.part.slice; step += 1u) {
        let next_turn = select(turn + 1u, 0u, turn == 2u);
        // Small teams need no branch: all members write the same values. Of the list of free slots,
        // either choice is right.
        if (member == 0u) | (LISTS <= 32u) {
            atomicStore(&local_going[next_turn], 0u);
            atomicStore(&local_keys[3u * team + next_turn], KEY_NEVER);
            // A team without a run would do it for the first team.
            if (TEAMS == 1u) | here.entered { pool_choose(1u - half); }
        }
        // No window begins at or after the end; how the run stopped is found after the last window.
        let runs = (stop == STOP_NOT) & (far == FAR_NOT) & time_less(now, shared_run.until);
        if runs {
            rounds = select(0u, rounds, all(began == now)) + 1u;
            began = now;
            own_until = time_min(replica_window(now), shared_run.until);
            pool_window(half);
            if here.serves {
                own_collect(member);
                own_sent = TIME_NEVER;
                var executed = 0u;
                let begin = own_time();
                // This many rounds are rare; the outer condition makes the inner ones free.
                if rounds > ROUNDS {
                    if all(run.lookahead == TIME_ZERO) & time_less(begin, own_until) { fail(row, CYCLE); }
                }
                // Bound: run.budget. An LP that fails stops.
                while (executed < run.budget) & (own_first != NONE) & time_less(event_time(own_event), own_until) & !failed {
                    let event = own_event;
                    own_remove();
                    executed += 1u;
                    own.number = wide_add(own.number, vec2<u32>(1u, 0u));
                    own.digest = wide_add(own.digest, digest_event(begun, event));
                    lp_now = event_time(event);
                    stream_open(run.seed, member, own.number);
                    handle(member, item_event(event), &state);
                    record_failure();
                    if own_spare != NONE { pool_give(own_spare); }
                }
                first = own_time();
                if executed == run.budget {
                    own.stalls = select(0u, own.stalls + 1u, all(first == begin));
                    if own.stalls * run.budget > PATIENCE { fail(row, STUCK); }
                } else {
                    own.stalls = select(own.stalls, 0u, executed > 0u);
                }
                executed_here += executed;
                first = time_min(first, own_sent);
                let key = select(local_key(first, now), KEY_FAILED, failed);
                // There is another step: a window, or one that finds a far time or the end.
                if key != KEY_NEVER {
                    atomicMin(&local_keys[3u * team + turn], key);
                    atomicStore(&local_going[turn], 1u);
                }
            }
            run.part.parity = 1u - run.part.parity;
            windows += 1u;
            half = 1u - half;
        } else if far != FAR_NOT {
            atomicStore(&local_going[turn], 1u);
            if here.serves { far_step(far, team, search, member, first); }
        }
        slots_barrier();
        let going = workgroupUniformLoad(&local_going[turn]);
        if runs {
            let next = atomicLoad(&local_keys[3u * team + turn]);
            stop = select(stop, STOP_FAILED, next == KEY_FAILED);
            far = select(FAR_NOT, FAR_HIGH, next == KEY_FAR);
            // If a window began and the first pending event is not far, advance by these ticks.
            let since = select(next - 1u, 0u, (next == KEY_FAILED) | (next == KEY_FAR));
            now = select(wide_add(now, vec2<u32>(since, 0u)), TIME_NEVER, next == KEY_NEVER);
        } else if far == FAR_LOW {
            now = far_time(team, search);
            search = 1u - search;
            far = FAR_NOT;
        } else if far == FAR_HIGH {
            far = FAR_LOW;
        }
        turn = next_turn;
        if going == 0u { break; }
    }
    // Finds a far time if the slice ended before.
    for (var step = FAR_HIGH; step <= FAR_LOW; step += 1u) {
        if (far != FAR_NOT) & here.serves { far_step(step, team, search, member, first); }
        workgroupBarrier();
    }
    if far != FAR_NOT { now = far_time(team, search); }
    if stop == STOP_NOT { stop = replica_stop(now, vec2<u32>(0u)); }
    if loops_cut(shared_run.rows) && here.entered {
        fail(row, LOOPS_CUT);
        stop = STOP_FAILED;
    }
    atomicAdd(&local_executed[team], executed_here);
    workgroupBarrier();
    if here.entered { local_store(here, own, state, windows, now, stop, select(0u, rounds, all(began == now))); }
}
