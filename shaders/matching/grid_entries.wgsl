// Entries of a grid, one per region and cell that it meets. They are listed, sorted by cell elsewhere, and then get what
// their regions are.
//
// cells    homes and last cells of the regions (grid_cells.wgsl)
// places   where the entries of each region begin (64 bits, the high word 0), and then their number; the first begin at 0
// keys, ids                list_entries: the cell of each entry, and its region
// sorted_keys, sorted_ids  gather_entries: the same in the order of the cells
// columns  2 DIMS columns of params.regions keys, by region
// ordered  the same columns, one row per entry; then columns of region ids, of homes and of the entries' cells
//
// One invocation per entry: a region that meets many cells has as many invocations.

// import: gpu/search.wgsl
// import: matching/grid.wgsl

// As in grid.rs.
struct EntryParams {
    entries: u32,
    regions: u32,
}

@group(0) @binding(0) var<uniform> params: EntryParams;
@group(0) @binding(1) var<storage, read> cells: array<u32>;
@group(0) @binding(2) var<storage, read> places: array<vec2<u32>>;
@group(0) @binding(3) var<storage, read_write> keys: array<u32>;
@group(0) @binding(4) var<storage, read_write> ids: array<u32>;
@group(0) @binding(5) var<storage, read> sorted_keys: array<u32>;
@group(0) @binding(6) var<storage, read> sorted_ids: array<u32>;
@group(0) @binding(7) var<storage, read> columns: array<u32>;
@group(0) @binding(8) var<storage, read_write> ordered: array<u32>;

// An entry.
alias Sought = u32;

fn goes_before(region: u32, entry: Sought) -> bool {
    return places[region].x <= entry;
}

@compute @workgroup_size(GROUP_SIZE)
fn list_entries(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
                @builtin(local_invocation_index) lane: u32) {
    let e = group_number(group, groups) * GROUP_SIZE + lane;
    if e >= params.entries {
        return;
    }
    // The last region whose entries begin at or before this one.
    let region = search(1u, params.regions, e) - 1u;
    var left = e - places[region].x;
    var key = 0u;
    for (var d = 0u; d < DIMS; d++) {
        let from_cell = cell_in(cells[2u * region], d);
        let width = cell_in(cells[2u * region + 1u], d) - from_cell + 1u;
        key |= (from_cell + left % width) << (d * cell_bits());
        left /= width;
    }
    keys[e] = key;
    ids[e] = region;
}

@compute @workgroup_size(GROUP_SIZE)
fn gather_entries(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
                  @builtin(local_invocation_index) lane: u32) {
    let e = group_number(group, groups) * GROUP_SIZE + lane;
    if e < params.entries {
        let id = sorted_ids[e];
        for (var c = 0u; c < 2u * DIMS; c++) {
            ordered[c * params.entries + e] = columns[c * params.regions + id];
        }
        ordered[2u * DIMS * params.entries + e] = id;
        ordered[(2u * DIMS + 1u) * params.entries + e] = cells[2u * id];
        ordered[(2u * DIMS + 2u) * params.entries + e] = sorted_keys[e];
    }
}
