// Replicas by near teams: as pdes/team.wgsl, but with an invocation for every LP, which keeps its state in registers while a slice lasts, and with all pending events
// in workgroup memory (pdes/near_pool.wgsl). So windows need no barrier but that of the workgroup, and nothing outside of it. For small runs.
//
// import: pdes/model.wgsl
// import: pdes/lp_memory.wgsl
// import: pdes/fingerprint.wgsl
// import: pdes/cells.wgsl
// import: pdes/near_pool.wgsl
// import: gpu/reduce.wgsl
//
// needs: run (pdes/run_of_replica.wgsl)

// Earliest time that is pending (2), events executed, FAILED where an LP failed.
alias Reduced = vec4<u32>;

const FAILED = 1u;

fn merge(a: Reduced, b: Reduced) -> Reduced {
    return vec4<u32>(time_min(a.xy, b.xy), a.z + b.z, a.w | b.w);
}

var<private> own_sent: vec2<u32>;   // the earliest time that was scheduled for another LP in this window

fn schedule(lp: u32, time: vec2<u32>, payload: Payload) {
    let row = deliver_to(lp_row, lp, time);
    if row == NO_ROW { return; }
    let own = row == lp_row;
    if own && time_less(time, lp_now) {
        fail(lp_row, PAST);
        return;
    }
    if !own && time_less(time, time_add(lp_now, run.lookahead)) {
        fail(lp_row, LOOKAHEAD);
        return;
    }
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

var<workgroup> near_done: vec4<u32>;
var<workgroup> near_status: vec4<u32>;

@compute @workgroup_size(GROUP_SIZE)
fn near(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let place = id.x;
    replica_open(place);
    if lane == 0u {
        near_done = lps[replica_row(place, REPLICA_DONE)];
        var status = lps[replica_row(place, REPLICA_STATUS)];
        if status.z == STOP_NOT && replica_failed() { status.z = STOP_FAILED; }
        near_status = status;
    }
    let done = workgroupUniformLoad(&near_done);
    let status = workgroupUniformLoad(&near_status);
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
    workgroupBarrier();
    let begun = digest_begin(DIGEST_EXECUTED, lane);
    var windows = done.xy;
    var events = done.zw;
    var now = status.xy;
    var rounds = status.w;
    var stop = STOP_NOT;
    var executed_here = 0u;
    var left = vec4<u32>(now, 0u, 0u);
    // Bound: run.part.slice.
    for (var step = 0u; step < given.part.slice; step += 1u + left.z / GROUP_SIZE) {
        if stop == STOP_NOT { stop = replica_stop(left.xy, events); }
        if stop != STOP_NOT { break; }
        rounds = select(0u, rounds, all(left.xy == now)) + 1u;
        now = left.xy;
        let until = time_min(cell_end(now), given.until);
        pool_window();
        workgroupBarrier();
        var mine = vec4<u32>(TIME_NEVER, 0u, 0u);
        if serves {
            own_collect(lane);
            own_sent = TIME_NEVER;
            var executed = 0u;
            var begin = TIME_NEVER;
            if own_first != NONE { begin = event_time(own_event); }
            if rounds > ROUNDS && all(run.lookahead == TIME_ZERO) && time_less(begin, until) { fail(row, CYCLE); }
            // Bound: run.budget.
            while executed < run.budget && own_first != NONE && time_less(event_time(own_event), until) {
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
            var first = TIME_NEVER;
            if own_first != NONE { first = event_time(own_event); }
            if executed == run.budget && all(first == begin) {
                stands += 1u;
                if stands * run.budget > PATIENCE { fail(row, STUCK); }
            } else if executed > 0u {
                stands = 0u;
            }
            if loops_cut(given.rows) { fail(row, LOOPS_CUT); }
            mine = vec4<u32>(time_min(first, own_sent), executed, select(0u, FAILED, failed));
        }
        run.part.parity = 1u - run.part.parity;
        left = reduce_group(lane, mine);
        windows = wide_add(windows, vec2<u32>(1u, 0u));
        events = wide_add(events, vec2<u32>(left.z, 0u));
        executed_here += left.z;
        if (left.w & FAILED) != 0u { stop = STOP_FAILED; }
    }
    if stop == STOP_NOT { stop = replica_stop(left.xy, events); }
    workgroupBarrier();
    let saved = pool_keep(place, lane);
    if serves {
        var first = TIME_NEVER;
        if own_first != NONE { first = event_time(own_event); }
        lps[row] = vec4<u32>(first, own_first, stands);
        lps[given.rows + row] = vec4<u32>(number, digest);
        states[row] = state;
    }
    if lane == 0u {
        let began = select(0u, rounds, all(left.xy == now));
        replica_leave(place, vec4<u32>(windows, events), vec4<u32>(left.xy, stop, began), saved, executed_here);
    }
}
