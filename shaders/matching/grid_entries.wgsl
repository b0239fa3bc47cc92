// One entry per region and cell that it meets, to be sorted by cell.
//
// cells   homes and last cells (grid_cells.wgsl)
// places  where the entries of each region begin (64 bits, the high word 0); params.extra of them and then the total
// keys    the cell of each entry
// ids     its region
//
// One thread per entry: a region that meets many cells has as many threads.

// import: matching/params.wgsl
// import: matching/workgroup.wgsl
// import: matching/grid.wgsl

@group(0) @binding(1) var<storage, read> cells: array<u32>;
@group(0) @binding(2) var<storage, read> places: array<vec2<u32>>;
@group(0) @binding(3) var<storage, read_write> keys: array<u32>;
@group(0) @binding(4) var<storage, read_write> ids: array<u32>;

@compute @workgroup_size(SIZE)
fn list_entries(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
                @builtin(local_invocation_index) lane: u32) {
    let e = number(group, groups) * SIZE + lane;
    if e >= params.end {
        return;
    }
    // The last region whose entries begin at or before this one. At most 32 rounds.
    var region = 0u;
    var last = params.extra - 1u;
    while region < last {
        let middle = last - (last - region) / 2u;
        if places[middle].x <= e {
            region = middle;
        } else {
            last = middle - 1u;
        }
    }
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
