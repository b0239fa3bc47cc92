// Replicas by teams: a workgroup serves a run, and each invocation some of its LPs. A dispatch
// executes windows one after the other, with barriers where a single run (pdes/window/window.wgsl)
// has dispatches (after Kunz et al., doi 10.1109/PADS.2012.30). Windows are YAWNS windows
// (pdes/window/yawns.wgsl).
//
//   lps      as usual, without partials; rows of a replica: pdes/replicas/run_of_replica.wgsl
//   store    the mailboxes of either parity (pdes/replicas/mailboxes_of_replica.wgsl)
//
// For a replica, a dispatch ends when it has stopped, or after run.part.slice steps: a window is
// one step, and one more for every 32 events, which may all be of one LP.
//
// import: pdes/window/execute.wgsl
// import: pdes/window/epochs.wgsl
// import: pdes/window/epoch_for_all.wgsl
// import: pdes/replicas/team_open.wgsl
// import: gpu/reduce.wgsl
// provides: Horizon, IDLE, Reduced, merge
// needs: REPLICA_STATUS, STOP_FAILED, STOP_NOT, pending_see, replica_leave, replica_row
// needs: replica_stop, run, shared_run

// Earliest pending time (2), events executed, whether an LP had work (1) or failed (FAILED).
alias Reduced = vec4<u32>;

const IDLE = vec4<u32>(0xffffffffu, 0xffffffffu, 0u, 0u);
const FAILED = 2u;

fn merge(a: Reduced, b: Reduced) -> Reduced {
    return vec4<u32>(time_min(a.xy, b.xy), a.z + b.z, a.w | b.w);
}

struct Horizon {
    until: vec2<u32>,
    rounds: u32,
}

@compute @workgroup_size(GROUP_SIZE)
fn team(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let place = id.x;
    team_open(place, lane);
    let done = workgroupUniformLoad(&team_done);
    let status = workgroupUniformLoad(&team_status);
    var windows = done.xy;
    var events = done.zw;
    var now = status.xy;
    var rounds = status.w;
    var stop = status.z;
    var executed = 0u;
    var left = vec4<u32>(now, 0u, 0u);
    let first = place * shared_run.total;
    // Bound: run.part.slice.
    for (var step = 0u; step < shared_run.part.slice; step += 1u + left.z / 32u) {
        if stop == STOP_NOT { stop = replica_stop(left.xy, events); }
        if stop != STOP_NOT { break; }
        rounds = select(0u, rounds, all(left.xy == now)) + 1u;
        now = left.xy;
        // An event-limited run ends with an epoch; other windows are a lookahead long.
        var end = time_add(now, run.epoch_length);
        if any(shared_run.event_limit != TIME_NEVER) { end = epoch_end(now); }
        let horizon = Horizon(time_min(end, shared_run.until), rounds);
        var mine = IDLE;
        // Bound: the rows of a replica for each invocation.
        for (var lp = lane; lp < shared_run.total; lp += GROUP_SIZE) {
            mine = merge(mine, execute(first + lp, horizon, pending_see(first + lp)));
        }
        if failed { mine.w |= FAILED; }
        run.part.parity = 1u - run.part.parity;
        storageBarrier();
        left = reduce_group(lane, mine);
        windows = wide_add(windows, vec2<u32>(1u, 0u));
        events = wide_add(events, vec2<u32>(left.z, 0u));
        executed += left.z;
        if (left.w & FAILED) != 0u { stop = STOP_FAILED; }
    }
    if stop == STOP_NOT { stop = replica_stop(left.xy, events); }
    if loops_cut(shared_run.rows) { fail(first + min(lane, shared_run.total - 1u), LOOPS_CUT); }
    if lane == 0u && status.z == STOP_NOT {
        let saved = vec4<u32>(run.part.parity, 0u, 0u, 0u);
        let began = select(0u, rounds, all(left.xy == now));
        replica_leave(place, vec4<u32>(windows, events), vec4<u32>(left.xy, stop, began), saved, executed);
    } else if lane == 0u {
        lps[replica_row(place, REPLICA_STATUS)].z = status.z;
    }
}
