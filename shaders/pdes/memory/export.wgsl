// Exports pending events: for growth, for a change of queue design, and for the host.
// pdes/memory/import.wgsl imports them.
//
// count_held      for each row of `transfer`: the number of its events, 0, the time of the earliest
// export_events   the rows of `transfer` write their events to `exported`, each from its place on
//
// import: pdes/engine.wgsl
// import: pdes/memory/transfer.wgsl
// needs: Item, event_time, held_more, held_next, held_open, run, run_begin

@group(0) @binding(33) var<storage, read_write> held: array<vec4<u32>>;
@group(0) @binding(34) var<storage, read_write> exported: array<Item>;

@compute @workgroup_size(GROUP_SIZE)
fn count_held(@builtin(global_invocation_id) id: vec3<u32>) {
    run_begin();
    if id.x >= transfer.rows { return; }
    let row = transfer.first + id.x;
    var count = 0u;
    var first = TIME_NEVER;
    held_open(row);
    // Bound: the events of the row.
    while held_more() {
        first = time_min(first, event_time(held_next()));
        count += 1u;
    }
    held[row] = vec4<u32>(count, 0u, first);
    if loops_cut(run.rows) { fail(row, LOOPS_CUT); }
}

// held[row].y is the start of the row's events in `exported`.
@compute @workgroup_size(GROUP_SIZE)
fn export_events(@builtin(global_invocation_id) id: vec3<u32>) {
    run_begin();
    if id.x >= transfer.rows { return; }
    let row = transfer.first + id.x;
    var place = held[row].y;
    held_open(row);
    while held_more() {
        exported[place] = held_next();
        place += 1u;
    }
    if loops_cut(run.rows) { fail(row, LOOPS_CUT); }
}
