// One window of simulation: the horizon is found, and every LP executes its events before it in
// order, up to a budget (the rest runs in the next window). What they schedule goes to the LP's own
// queue, or to mailboxes of others that the next window drains. Read this file first.
// src/pdes/device/recipes.rs chooses its parts:
//
//   synchronise  how far the window may go          window/yawns.wgsl (which describes its
//                functions), calendar/calendar_sync.wgsl or horizon/horizon.wgsl
//   execute      an LP's events, states, streams    window/execute.wgsl
//   pending      pending events until then          queues/queues.wgsl or
//                calendar/calendar_window.wgsl
//   deliver      `schedule`                         window/deliver_mail.wgsl or
//                calendar/calendar_window.wgsl
//
// import: pdes/window/execute.wgsl
// import: pdes/window/pack.wgsl
// needs: Horizon, IDLE, Seen, did_something, horizon_of, leave, merge, pending_look, pending_see
// needs: pending_waits, reduce_group, run, synchronise

// One row for each invocation.
@compute @workgroup_size(GROUP_SIZE)
fn window(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let group = group_number(id);
    let row = row_of(group, 0u, lane);
    var seen: Seen;
    if row < run.rows {
        seen = pending_see(row);
        pending_look(row);
    }
    let horizon = synchronise(lane);
    var mine = IDLE;
    if horizon.serve && row < run.rows {
        mine = execute(row, horizon_of(row, horizon), seen);
    }
    let left = reduce_group(lane, mine);
    if lane == 0u && group < run.groups {
        leave(group, horizon, left);
    }
    // The cut loop may belong to any LP with work.
    if did_something(mine) && loops_cut(run.rows) { fail(row, LOOPS_CUT); }
}

// The horizon, stored while rows are served: otherwise it takes registers of each invocation.
var<workgroup> window_found: Horizon;

// The same with TILES rows for each invocation; rows that have work are served.
@compute @workgroup_size(GROUP_SIZE)
fn window_tiles(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let group = group_number(id);
    let horizon = synchronise(lane);
    if lane == 0u { window_found = horizon; }
    var mine = IDLE;
    var served = NO_ROW;
    var chosen = 0u;
    if horizon.serve {
        for (var tile = 0u; tile < TILES; tile += 4u) {
            let found = pending_waits(rows_of_four(group, tile, lane), horizon);
            chosen |= found.rows << tile;
            mine = merge(mine, found.idle);
        }
    }
    let total = pack(group, lane, chosen);
    for (var step = 0u; step < pack_steps(total); step += 1u) {
        let row = pack_row(step, total, group, lane, chosen);
        if row == NO_ROW { continue; }
        let done = execute(row, horizon_of(row, horizon), pending_see(row));
        if did_something(done) { served = min(served, row); }
        mine = merge(mine, done);
    }
    let left = reduce_group(lane, mine);
    if lane == 0u && group < run.groups {
        leave(group, window_found, left);
    }
    if served != NO_ROW && loops_cut(run.rows) { fail(served, LOOPS_CUT); }
}
