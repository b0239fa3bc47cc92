// The start of a run (one invocation per LP): initial states and first events.
//
// start_lps    every LP's `init`. What it schedules is put unordered into the destination's queue, because no mailbox could hold
//              a whole population, and counted as its mails. There is no lookahead to keep before the first window. Where the
//              queues take several bindings, `init` runs once for each of them, each time on zeroed LP memory, and keeps what goes there.
// settle_lps   every LP's queue is put in order, and the reduction for the first window is prepared.
//
// import: pdes/model.wgsl
//
// needs: a queue, Reduced, IDLE, merge, reduce_group (pdes/yawns.wgsl)

fn schedule(lp: u32, time: vec2<u32>, payload: Payload) {
    let row = deliver_to(lp_row, lp, time);
    if row == NO_ROW { return; }
    let queue = row - run.part.queue_first;
    if queue >= run.part.queue_rows { return; }
    let index = atomicAdd(&words[mail_count(0u, row)], 1u);
    if index >= run.queue_capacity {
        fail_room(row, QUEUE_FULL, QUEUE_NEEDED, index + 1u);
        return;
    }
    queue_events[queue_place(queue, index)] = event_item(time, payload);
}

@compute @workgroup_size(GROUP_SIZE)
fn start_lps(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    for (var tile = 0u; tile < TILES; tile += 1u) {
        let row = row_of(group_number(id), tile, lane);
        if row >= run.rows { break; }
        lp_row = row;
        stream_open(run.seed, name_of(row), vec2<u32>(0u, 0u));
        var state: State;
        init(name_of(row), &state);
        states[row] = state;
        if loops_cut(run.rows) { fail(row, LOOPS_CUT); }
    }
}

@compute @workgroup_size(GROUP_SIZE)
fn settle_lps(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let group = group_number(id);
    var mine = IDLE;
    for (var tile = 0u; tile < TILES; tile += 1u) {
        let row = row_of(group, tile, lane);
        if row >= run.rows { break; }
        let count = mail_count(0u, row);
        queue_open(row - run.part.queue_first, vec2<u32>(0u, 0u));
        queue_take(min(atomicLoad(&words[count]), run.queue_capacity));
        atomicStore(&words[count], 0u);
        var first = TIME_NEVER;
        if queue_size() > 0u { first = event_time(queue_first()); }
        lps[row] = vec4<u32>(first, queue_close());
        lps[run.rows + row] = vec4<u32>(0u);
        mine = merge(mine, vec4<u32>(first, 0u, 0u));
    }
    let all_lps = reduce_group(lane, mine);
    if lane == 0u && group < run.groups {
        lps[2u * run.rows + group] = all_lps;
    }
    let served = row_of(group, 0u, lane);
    if served < run.rows && loops_cut(run.rows) { fail(served, LOOPS_CUT); }
}
