// Which cells each region meets. Grid-based matching: Algorithm 3 of Marzolla and D'Angelo (2020).
//
// columns  2 DIMS columns of params.end keys (import.wgsl)
// edges    for each dimension the params.extra - 1 keys between its cells, ascending
// cells    [2i] the cell of region i's lower corner, its home; [2i + 1] the last one, that of its upper corner
// lengths  how many cells region i meets; 0 for an empty one
//
// One thread per region.

// import: matching/params.wgsl
// import: matching/workgroup.wgsl
// import: matching/grid.wgsl

@group(0) @binding(1) var<storage, read> columns: array<u32>;
@group(0) @binding(2) var<storage, read> edges: array<u32>;
@group(0) @binding(3) var<storage, read_write> cells: array<u32>;
@group(0) @binding(4) var<storage, read_write> lengths: array<u32>;

// The number of the cell that holds a key: how many edges lie at or below it. At most 32 rounds.
fn cell_of(key: u32, d: u32) -> u32 {
    var first = 0u;
    var end = params.extra - 1u;
    while first < end {
        let middle = first + (end - first) / 2u;
        if edges[d * (params.extra - 1u) + middle] <= key {
            first = middle + 1u;
        } else {
            end = middle;
        }
    }
    return first;
}

@compute @workgroup_size(SIZE)
fn find_cells(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
              @builtin(local_invocation_index) lane: u32) {
    let i = number(group, groups) * SIZE + lane;
    if i < params.end {
        var home = 0u;
        var last = 0u;
        var count = 1u;
        for (var d = 0u; d < DIMS; d++) {
            let lo = columns[2u * d * params.end + i];
            let hi = columns[(2u * d + 1u) * params.end + i];
            // An empty region has its upper bound below its lower one.
            if lo < hi {
                let from_cell = cell_of(lo, d);
                let to_cell = cell_of(hi - 1u, d);
                home |= from_cell << (d * cell_bits());
                last |= to_cell << (d * cell_bits());
                count *= to_cell - from_cell + 1u;
            } else {
                count = 0u;
            }
        }
        cells[2u * i] = home;
        cells[2u * i + 1u] = last;
        lengths[i] = count;
    }
}
