// Replicas by near teams: as pdes/team.wgsl, but with an invocation for every LP, which keeps its state in registers while a slice lasts, and with all pending events
// in workgroup memory (pdes/near_pool.wgsl). So windows need no barrier but that of the workgroup, and nothing outside of it. For small runs.
//
// import: pdes/model.wgsl
// import: pdes/lp_memory.wgsl
// import: pdes/fingerprint.wgsl
// import: pdes/near_pool.wgsl
// import: pdes/scheduled_row.wgsl
// import: pdes/team_open.wgsl
//
// needs: run (pdes/run_of_replica.wgsl)

// The time of the first pending event as a word, of which the smallest counts, in one step for all invocations: barriers are what windows mostly cost.
// 1 + ticks since the last window began, or one of these. Time that is far is then found exactly, in more steps.
const KEY_FAILED = 0u;
const KEY_FAR = 0xfffffffeu;
const KEY_NEVER = 0xffffffffu;

fn near_key(time: vec2<u32>, now: vec2<u32>) -> u32 {
    if all(time == TIME_NEVER) { return KEY_NEVER; }
    let since = wide_subtract(time, now);
    if (since.y != 0u) | (since.x >= KEY_FAR - 1u) { return KEY_FAR; }
    return since.x + 1u;
}

// The smallest key of the present window, and of the one before, by turns.
var<workgroup> near_keys: array<atomic<u32>, 2>;
// The high and the low word of the smallest time, where it is far.
var<workgroup> near_high: atomic<u32>;
var<workgroup> near_low: atomic<u32>;
// Events executed in this slice.
var<workgroup> near_executed: atomic<u32>;

var<private> own_sent: vec2<u32>;   // the earliest time that was scheduled for another LP in this window

fn schedule(lp: u32, time: vec2<u32>, payload: Payload) {
    let row = scheduled_row(lp, time);
    if row == NO_ROW { return; }
    let own = row == lp_row;
    let slot = pool_take();
    if slot == NONE {
        fail_room(lp_row, QUEUE_FULL, QUEUE_NEEDED, POOL + 1u);
        return;
    }
    let event = event_item(time, payload);
    pool_events[slot] = event;
    if own {
        own_insert(slot, event);
    } else {
        pool_send(lp, slot);
        own_sent = time_min(own_sent, time);
    }
}

@compute @workgroup_size(GROUP_SIZE)
fn near(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let place = id.x;
    team_open(place, lane);
    let done = workgroupUniformLoad(&team_done);
    let status = workgroupUniformLoad(&team_status);
    if status.z != STOP_NOT {
        if lane == 0u { lps[replica_row(place, REPLICA_STATUS)].z = status.z; }
        return;
    }
    pool_fetch(place, lane, lps[replica_row(place, REPLICA_SAVED)]);
    let serves = lane < given.total;
    let row = place * given.total + lane;
    lp_row = row;
    own_first = NONE;
    own_spare = NONE;
    var number = vec2<u32>(0u);
    var digest = vec2<u32>(0u);
    var stands = 0u;
    var state: State;
    if serves {
        let counts = lps[given.rows + row];
        number = counts.xy;
        digest = counts.zw;
        let kept = lps[row];
        own_first = kept.z;
        stands = kept.w;
        if own_first != NONE { own_event = queue_events[place * POOL + own_first]; }
        state = states[row];
    }
    if lane == 0u {
        atomicStore(&near_keys[0], KEY_NEVER);
        atomicStore(&near_keys[1], KEY_NEVER);
        atomicStore(&near_high, 0xffffffffu);
        atomicStore(&near_low, 0xffffffffu);
        atomicStore(&near_executed, 0u);
    }
    workgroupBarrier();
    let begun = digest_begin(DIGEST_EXECUTED, lane);
    var windows = done.xy;
    var now = status.xy;
    var began = status.xy;
    var rounds = status.w;
    var stop = STOP_NOT;
    var executed_here = 0u;
    var first = TIME_NEVER;
    // Bound: run.part.slice.
    for (var step = 0u; step < given.part.slice; step += 1u) {
        stop = replica_stop(now, vec2<u32>(0u));
        if stop != STOP_NOT { break; }
        rounds = select(0u, rounds, all(began == now)) + 1u;
        began = now;
        // No cells: no run ends by a number of events.
        let until = time_min(time_add(now, run.cell), given.until);
        let half = step % 2u;
        if lane == 0u { atomicStore(&near_keys[1u - half], KEY_NEVER); }
        pool_window(half);
        if serves {
            own_collect(lane);
            own_sent = TIME_NEVER;
            var executed = 0u;
            var begin = TIME_NEVER;
            if own_first != NONE { begin = event_time(own_event); }
            if (rounds > ROUNDS) & all(run.lookahead == TIME_ZERO) & time_less(begin, until) { fail(row, CYCLE); }
            // Bound: run.budget. An LP that fails does nothing more.
            while (executed < run.budget) & (own_first != NONE) & time_less(event_time(own_event), until) & !failed {
                let event = own_event;
                own_remove();
                executed += 1u;
                number = wide_add(number, vec2<u32>(1u, 0u));
                digest = wide_add(digest, digest_event(begun, event));
                lp_now = event_time(event);
                stream_open(run.seed, lane, number);
                handle(lane, item_event(event), &state);
                if own_spare != NONE { pool_give(own_spare); }
            }
            first = TIME_NEVER;
            if own_first != NONE { first = event_time(own_event); }
            if (executed == run.budget) & all(first == begin) {
                stands += 1u;
                if stands * run.budget > PATIENCE { fail(row, STUCK); }
            } else if executed > 0u {
                stands = 0u;
            }
            executed_here += executed;
            first = time_min(first, own_sent);
            let key = select(near_key(first, now), KEY_FAILED, failed);
            if key != KEY_NEVER { atomicMin(&near_keys[half], key); }
        }
        run.part.parity = 1u - run.part.parity;
        if lane == 0u { pool_choose(1u - half); }
        let next = workgroupUniformLoad(&near_keys[half]);
        windows = wide_add(windows, vec2<u32>(1u, 0u));
        if next == KEY_FAILED {
            stop = STOP_FAILED;
            break;
        }
        if next == KEY_NEVER {
            now = TIME_NEVER;
        } else if next == KEY_FAR {
            atomicMin(&near_high, first.y);
            let high = workgroupUniformLoad(&near_high);
            if first.y == high { atomicMin(&near_low, first.x); }
            now = vec2<u32>(workgroupUniformLoad(&near_low), high);
            // The next use comes after other barriers.
            if lane == 0u {
                atomicStore(&near_high, 0xffffffffu);
                atomicStore(&near_low, 0xffffffffu);
            }
        } else {
            now = wide_add(now, vec2<u32>(next - 1u, 0u));
        }
    }
    if stop == STOP_NOT { stop = replica_stop(now, vec2<u32>(0u)); }
    if loops_cut(given.rows) {
        fail(row, LOOPS_CUT);
        stop = STOP_FAILED;
    }
    atomicAdd(&near_executed, executed_here);
    workgroupBarrier();
    let saved = pool_keep(place, lane);
    if serves {
        first = TIME_NEVER;
        if own_first != NONE { first = event_time(own_event); }
        lps[row] = vec4<u32>(first, own_first, stands);
        lps[given.rows + row] = vec4<u32>(number, digest);
        states[row] = state;
    }
    if lane == 0u {
        let executed = atomicLoad(&near_executed);
        let events = wide_add(done.zw, vec2<u32>(executed, 0u));
        let again = select(0u, rounds, all(began == now));
        replica_leave(place, vec4<u32>(windows, events), vec4<u32>(now, stop, again), saved, executed);
    }
}
