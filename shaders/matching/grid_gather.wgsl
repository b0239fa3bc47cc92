// Puts regions into the order of their sorted entries.
//
// keys     the cells of the entries, sorted
// ids      their regions
// cells    homes and last cells of the regions (grid_cells.wgsl)
// columns  2 DIMS columns of params.subscriptions keys, by region
// ordered  the same columns, one row per entry; then columns of region ids, of homes and of the entries' cells
//
// One thread per entry.

// import: matching/params.wgsl
// import: matching/workgroup.wgsl
// import: matching/dims.wgsl

@group(0) @binding(1) var<storage, read> keys: array<u32>;
@group(0) @binding(2) var<storage, read> ids: array<u32>;
@group(0) @binding(3) var<storage, read> cells: array<u32>;
@group(0) @binding(4) var<storage, read> columns: array<u32>;
@group(0) @binding(5) var<storage, read_write> ordered: array<u32>;

@compute @workgroup_size(SIZE)
fn gather_entries(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
                  @builtin(local_invocation_index) lane: u32) {
    let e = number(group, groups) * SIZE + lane;
    if e < params.end {
        let id = ids[e];
        for (var c = 0u; c < 2u * DIMS; c++) {
            ordered[c * params.end + e] = columns[c * params.subscriptions + id];
        }
        ordered[2u * DIMS * params.end + e] = id;
        ordered[(2u * DIMS + 1u) * params.end + e] = cells[2u * id];
        ordered[(2u * DIMS + 2u) * params.end + e] = keys[e];
    }
}
