// Pending events out of one memory and into another: what growth does, what changes a queue design, and how the host reads them.
//
// count_held   by row of run.rows: how many events it holds, nothing, the time of the earliest
// lift         those rows that `lifting` says put what they hold into `exported`, each from its place on
//
// import: pdes/engine.wgsl
// import: pdes/memory/transfer.wgsl
// needs: Item, event_time, held_more, held_next, held_open, run

@group(0) @binding(33) var<storage, read_write> held: array<vec4<u32>>;
@group(0) @binding(34) var<storage, read_write> exported: array<Item>;

@compute @workgroup_size(GROUP_SIZE)
fn count_held(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= transfer.rows { return; }
    let row = transfer.first + id.x;
    var count = 0u;
    var first = TIME_NEVER;
    held_open(row);
    // Bound: what the row holds.
    while held_more() {
        first = time_min(first, event_time(held_next()));
        count += 1u;
    }
    held[row] = vec4<u32>(count, 0u, first);
    if loops_cut(run.rows) { fail(row, LOOPS_CUT); }
}

// held[row].y is where those of the row begin in `exported`.
@compute @workgroup_size(GROUP_SIZE)
fn export_events(@builtin(global_invocation_id) id: vec3<u32>) {
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
