// The start of replicas by teams, after `init`: a workgroup orders the queues of a run and finds
// its first event.
//
// import: pdes/engine.wgsl
// import: gpu/reduce.wgsl
// provides: IDLE, Reduced, merge
// needs: REPLICA_STATUS, STOP_NOT, initial_order, replica_open, replica_row, shared_run

alias Reduced = vec4<u32>;

const IDLE = vec4<u32>(0xffffffffu, 0xffffffffu, 0u, 0u);

fn merge(a: Reduced, b: Reduced) -> Reduced {
    return vec4<u32>(time_min(a.xy, b.xy), 0u, 0u);
}

@compute @workgroup_size(GROUP_SIZE)
fn settle_team(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let place = id.x;
    replica_open(place);
    var mine = IDLE;
    for (var lp = lane; lp < shared_run.total; lp += GROUP_SIZE) {
        let row = place * shared_run.total + lp;
        mine = merge(mine, initial_order(row));
        lps[shared_run.rows + row] = vec4<u32>(0u);
    }
    if loops_cut(shared_run.rows) { fail(place * shared_run.total + min(lane, shared_run.total - 1u), LOOPS_CUT); }
    let left = reduce_group(lane, mine);
    if lane == 0u { lps[replica_row(place, REPLICA_STATUS)] = vec4<u32>(left.xy, STOP_NOT, 0u); }
}
