// Imports pending events (pdes/memory/export.wgsl exports them): the rows of `transfer` insert
// their events of `exported`. settle_lps follows (pdes/window/settle.wgsl).
//
// import: pdes/engine.wgsl
// import: pdes/memory/transfer.wgsl
// needs: Item, initial_insert, run, run_begin

@group(0) @binding(33) var<storage, read> held: array<vec4<u32>>;
@group(0) @binding(34) var<storage, read> exported: array<Item>;

@compute @workgroup_size(GROUP_SIZE)
fn import_events(@builtin(global_invocation_id) id: vec3<u32>) {
    run_begin();
    if id.x >= transfer.rows { return; }
    let row = transfer.first + id.x;
    let events = held[row];
    for (var i = 0u; i < events.x; i += 1u) {
        initial_insert(row, exported[events.y + i]);
    }
    if loops_cut(run.rows) { fail(row, LOOPS_CUT); }
}
