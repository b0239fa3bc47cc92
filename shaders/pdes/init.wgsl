// The start of a run (one thread per LP): initial states and first events.
//
// init     every LP's `init`. What it schedules is put unordered into the destination's queue; `mail_counts`
//          counts the events of each. There is no lookahead to keep before the first window.
// settle   every LP's queue is put in order, and the reduction for the first window is prepared.
//
// import: pdes/model.wgsl
// import: pdes/reduce.wgsl

fn schedule(lp: u32, time: vec2<u32>, payload: vec2<u32>) {
    if lp >= run.lps {
        fail(0u, init_lp, DESTINATION);
        return;
    }
    if all(time == TIME_NEVER) {
        fail(0u, init_lp, TIME_OVERFLOW);
        return;
    }
    let index = atomicAdd(&mail_counts[lp], 1u);
    if index >= run.queue_capacity {
        fail(0u, lp, QUEUE_FULL);
        return;
    }
    queue_events[queue_place(lp, index)] = vec4<u32>(time, payload);
}

var<private> init_lp: u32;

@compute @workgroup_size(GROUP)
fn init_lps(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let lp = group_number(id) * GROUP + lane;
    if lp >= run.lps { return; }
    init_lp = lp;
    stream_open(run.seed, lp, vec2<u32>(0u, 0u));
    var state: State;
    init(lp, &state);
    states[lp] = state;
    if loops_cut(run.lps) { fail(0u, lp, LOOPS_CUT); }
}

@compute @workgroup_size(GROUP)
fn settle_lps(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let group = group_number(id);
    let lp = group * GROUP + lane;
    var mine = IDLE;
    if lp < run.lps {
        queue_open(lp, vec2<u32>(0u, 0u));
        queue_adopt(min(atomicLoad(&mail_counts[lp]), run.queue_capacity));
        atomicStore(&mail_counts[lp], 0u);
        if queue_size() > 0u {
            mine = vec4<u32>(queue_first().xy, 0u, 0u);
        }
        lps[lp] = vec4<u32>(mine.xy, queue_close());
        lps[run.lps + lp] = vec4<u32>(0u);
    }
    let all_lps = reduce_group(lane, mine);
    if lane == 0u && group < run.groups {
        partials[group] = all_lps;
    }
    if loops_cut(run.lps) { fail(0u, min(lp, run.lps - 1u), LOOPS_CUT); }
}
