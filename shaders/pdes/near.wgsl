// Replicas by near teams: as pdes/team.wgsl, but with an invocation for every LP, which keeps its state in registers while a slice lasts, and with all pending events
// in workgroup memory (pdes/near_pool.wgsl). So windows need no barrier but that of the workgroup, and nothing outside of it. For small runs.
//
// import: pdes/model.wgsl
// import: pdes/lp_memory.wgsl
// import: pdes/fingerprint.wgsl
// import: pdes/near_pool.wgsl
// import: pdes/scheduled_lp.wgsl
//
// needs: run (pdes/run_of_replica.wgsl)

// The time of the first pending event as a word, of which the smallest counts, in one step for all invocations: barriers are what windows mostly cost.
// 1 + ticks since the last window began, or one of these. Time that is far is then found exactly, in more steps.
const KEY_FAILED = 0u;
const KEY_FAR = 0xfffffffeu;
const KEY_NEVER = 0xffffffffu;

fn near_key(time: vec2<u32>, now: vec2<u32>) -> u32 {
    let since = wide_subtract(time, now);
    let far = (since.y != 0u) | (since.x >= KEY_FAR - 1u);
    return select(select(since.x + 1u, KEY_FAR, far), KEY_NEVER, all(time == TIME_NEVER));
}

// By team, and by the number of the window modulo three: one is read while the next is written and the one after is made ready.
var<workgroup> near_keys: array<atomic<u32>, 3u * TEAMS>;
// By the number of the window: whether any team has another one.
var<workgroup> near_going: array<atomic<u32>, 3>;
// By team, and of every other search: the high and the low word of the smallest time, where it is far.
var<workgroup> near_high: array<atomic<u32>, 2u * TEAMS>;
var<workgroup> near_low: array<atomic<u32>, 2u * TEAMS>;
// By team: events executed in this slice.
var<workgroup> near_executed: array<atomic<u32>, TEAMS>;

// Time that is far is found in two steps, before each of which invocations wait for each other: its high word, and then the low one.
const FAR_NOT = 0u;
const FAR_HIGH = 1u;
const FAR_LOW = 2u;

// Makes the words of a search ready.
fn far_ready(team: u32, search: u32) {
    atomicStore(&near_high[2u * team + search], 0xffffffffu);
    atomicStore(&near_low[2u * team + search], 0xffffffffu);
}

// One of these steps, for an invocation that serves an LP whose first event is at a time. The words of the next search are made ready meanwhile: nobody has read them since the last one.
fn far_step(step: u32, team: u32, search: u32, member: u32, first: vec2<u32>) {
    let words = 2u * team + search;
    if step == FAR_HIGH {
        atomicMin(&near_high[words], first.y);
        if member == 0u { far_ready(team, 1u - search); }
    } else if first.y == atomicLoad(&near_high[words]) {
        atomicMin(&near_low[words], first.x);
    }
}

fn far_time(team: u32, search: u32) -> vec2<u32> {
    return vec2<u32>(atomicLoad(&near_low[2u * team + search]), atomicLoad(&near_high[2u * team + search]));
}

var<private> own_lp: u32;           // the LP of this invocation
var<private> own_until: vec2<u32>;  // when this window ends
var<private> own_sent: vec2<u32>;   // the earliest time that was sent in this window

// What an LP schedules for itself after this window is sent like what it schedules for others, because an invocation that does something else than its neighbours makes all of them wait.
fn schedule(lp: u32, time: vec2<u32>, payload: Payload) {
    let to = scheduled_lp(own_lp, lp, time);
    let slot = pool_take();
    if slot == NONE {
        // (Not of an event that may not be.)
        if lp_wrong == 0u { fail_room(lp_row, QUEUE_FULL, QUEUE_NEEDED, POOL + 1u); }
        return;
    }
    let event = event_item(time, payload);
    pool_events[pool_first + slot] = event;
    if (to == own_lp) & time_less(time, own_until) {
        own_insert(slot, event);
    } else {
        pool_send(to, slot);
        own_sent = time_min(own_sent, time);
    }
}

@compute @workgroup_size(GROUP_SIZE)
fn near(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let team = lane / LISTS;
    // Not a remainder: where LISTS is 1, SwiftShader's is not 0.
    let member = lane - team * LISTS;
    let place = id.x * TEAMS + team;
    var done = vec4<u32>(0u);
    var status = vec4<u32>(TIME_NEVER, STOP_EMPTY, 0u);
    var failed_before = false;
    if place < given.groups {
        replica_open(place);
        done = lps[replica_row(place, REPLICA_DONE)];
        status = lps[replica_row(place, REPLICA_STATUS)];
        failed_before = status.z == STOP_NOT && replica_failed();
        if failed_before { status.z = STOP_FAILED; }
    }
    let entered = status.z == STOP_NOT;
    if lane == 0u { atomicStore(&near_going[0], 0u); }
    if member == 0u {
        atomicStore(&near_keys[3u * team], KEY_NEVER);
        atomicStore(&near_executed[team], 0u);
        far_ready(team, 0u);
    }
    workgroupBarrier();
    // All members have read it.
    if failed_before && member == 0u { lps[replica_row(place, REPLICA_STATUS)].z = STOP_FAILED; }
    if entered { atomicStore(&near_going[0], 1u); }
    if workgroupUniformLoad(&near_going[0]) == 0u { return; }
    let serves = entered & (member < given.total);
    let row = place * given.total + min(member, given.total - 1u);
    lp_row = row;
    own_lp = member;
    own_first = NONE;
    own_spare = NONE;
    var number = vec2<u32>(0u);
    var digest = vec2<u32>(0u);
    var stands = 0u;
    var state: State;
    if entered { pool_fetch(team, place, member, lps[replica_row(place, REPLICA_SAVED)]); }
    if serves {
        let counts = lps[given.rows + row];
        number = counts.xy;
        digest = counts.zw;
        let kept = lps[row];
        own_first = kept.z;
        stands = kept.w;
        if own_first != NONE { own_event = queue_events[place * POOL + own_first]; }
        state = states_get(row);
    }
    workgroupBarrier();
    let begun = digest_begin(DIGEST_EXECUTED, member);
    var windows = 0u;
    var now = status.xy;
    var began = status.xy;
    var rounds = status.w;
    var stop = status.z;
    var executed_here = 0u;
    var first = TIME_NEVER;
    var far = FAR_NOT;
    var search = 0u;
    var turn = 0u;
    var half = 0u;
    // Bound: run.part.slice.
    for (var step = 0u; step < given.part.slice; step += 1u) {
        let next_turn = select(turn + 1u, 0u, turn == 2u);
        // Small teams spare themselves the branch: all of one write the same, or for the list of slots one or the other, of which either will do.
        if (member == 0u) | (LISTS <= 32u) {
            atomicStore(&near_going[next_turn], 0u);
            atomicStore(&near_keys[3u * team + next_turn], KEY_NEVER);
            // (A team that has no run would do it for the first one.)
            if (TEAMS == 1u) | entered { pool_choose(1u - half); }
        }
        // (Later times than the end's are in no window, and how it stopped is found after the last one.)
        let runs = (stop == STOP_NOT) & (far == FAR_NOT) & time_less(now, given.until);
        if runs {
            rounds = select(0u, rounds, all(began == now)) + 1u;
            began = now;
            // No cells: no run ends by a number of events.
            own_until = time_min(time_add(now, run.cell), given.until);
            pool_window(half);
            if serves {
                own_collect(member);
                own_sent = TIME_NEVER;
                var executed = 0u;
                let begin = own_time();
                // (Such rounds are as good as never, so that all but one of these conditions cost nothing.)
                if rounds > ROUNDS {
                    if all(run.lookahead == TIME_ZERO) & time_less(begin, own_until) { fail(row, CYCLE); }
                }
                // Bound: run.budget. An LP that fails does nothing more.
                while (executed < run.budget) & (own_first != NONE) & time_less(event_time(own_event), own_until) & !failed {
                    let event = own_event;
                    own_remove();
                    executed += 1u;
                    number = wide_add(number, vec2<u32>(1u, 0u));
                    digest = wide_add(digest, digest_event(begun, event));
                    lp_now = event_time(event);
                    stream_open(run.seed, member, number);
                    handle(member, item_event(event), &state);
                    tell_wrong();
                    if own_spare != NONE { pool_give(own_spare); }
                }
                first = own_time();
                if executed == run.budget {
                    stands = select(0u, stands + 1u, all(first == begin));
                    if stands * run.budget > PATIENCE { fail(row, STUCK); }
                } else {
                    stands = select(stands, 0u, executed > 0u);
                }
                executed_here += executed;
                first = time_min(first, own_sent);
                let key = select(near_key(first, now), KEY_FAILED, failed);
                // There is another step: a window, or one to find a time that is far, or that which finds the end.
                if key != KEY_NEVER {
                    atomicMin(&near_keys[3u * team + turn], key);
                    atomicStore(&near_going[turn], 1u);
                }
            }
            run.part.parity = 1u - run.part.parity;
            windows += 1u;
            half = 1u - half;
        } else if far != FAR_NOT {
            atomicStore(&near_going[turn], 1u);
            if serves { far_step(far, team, search, member, first); }
        }
        let going = workgroupUniformLoad(&near_going[turn]);
        if runs {
            let next = atomicLoad(&near_keys[3u * team + turn]);
            stop = select(stop, STOP_FAILED, next == KEY_FAILED);
            far = select(FAR_NOT, FAR_HIGH, next == KEY_FAR);
            // Where a window was begun and something is pending that is not far, so many ticks further on.
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
    // A time that is far, where the slice ended before it was found.
    for (var step = FAR_HIGH; step <= FAR_LOW; step += 1u) {
        if (far != FAR_NOT) & serves { far_step(step, team, search, member, first); }
        workgroupBarrier();
    }
    if far != FAR_NOT { now = far_time(team, search); }
    if stop == STOP_NOT { stop = replica_stop(now, vec2<u32>(0u)); }
    if loops_cut(given.rows) && entered {
        fail(row, LOOPS_CUT);
        stop = STOP_FAILED;
    }
    atomicAdd(&near_executed[team], executed_here);
    workgroupBarrier();
    if !entered { return; }
    let saved = pool_keep(place, member);
    if serves {
        lps[row] = vec4<u32>(0u, 0u, own_first, stands);
        lps[given.rows + row] = vec4<u32>(number, digest);
        states_set(row, state);
    }
    if member == 0u {
        let executed = atomicLoad(&near_executed[team]);
        let events = wide_add(done.zw, vec2<u32>(executed, 0u));
        let again = select(0u, rounds, all(began == now));
        replica_leave(place, vec4<u32>(wide_add(done.xy, vec2<u32>(windows, 0u)), events), vec4<u32>(now, stop, again), saved, executed);
    }
}
