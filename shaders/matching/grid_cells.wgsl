// Grid-based matching, third step: the cells that each region meets. Algorithm 3 of Marzolla and
// D'Angelo (2020).
//
// subscriptions, updates  boxes in columns (import.wgsl)
// laid     the grid (grid_lay.wgsl)
// cells    for region i, subscriptions first: [2i] the cell of its lower corner, its home; [2i + 1]
//          the last cell, that of its upper corner
// lengths  the number of cells that region i meets; 0 for an empty one
//
// One invocation per region.
//
// bounds: as in matching/common.wgsl. `find_cells` packs cells without a mask: grid_place.wgsl
// keeps them below `cells`.

// import: matching/grid_params.wgsl
// import: matching/grid_place.wgsl

@group(0) @binding(3) var<storage, read> laid: array<Grid, 2>;
@group(0) @binding(4) var<storage, read_write> cells: array<u32>;
@group(0) @binding(5) var<storage, read_write> lengths: array<u32>;

@compute @workgroup_size(GROUP_SIZE)
fn find_cells(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
              @builtin(local_invocation_index) lane: u32) {
    let i = group_number(group, groups) * GROUP_SIZE + lane;
    if i < params.subscriptions + params.updates {
        let met = spans(laid[0], region_of(i));
        let joins = laid[1].base.x;
        var home = 0u;
        var last = 0u;
        var count = select(1u, 0u, met.none);
        for (var d = 0u; d < DIMS; d++) {
            let from_cell = met.lo[d] >> joins;
            let to_cell = met.hi[d] >> joins;
            home |= from_cell << (d * cell_bits());
            last |= to_cell << (d * cell_bits());
            count *= to_cell - from_cell + 1u;
        }
        cells[2u * i] = home;
        cells[2u * i + 1u] = last;
        lengths[i] = count;
    }
}
