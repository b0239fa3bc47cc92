// Grid-based matching: Algorithm 3 of Marzolla and D'Angelo (2020). First the bounding box of all regions that are not
// empty (find_bounds), then, when the host has laid a grid over it, which cells each region meets (find_cells).
//
// columns  2 DIMS columns of params.regions keys (import.wgsl)
// bounds   for dimension d the smallest lower bound at 2d and the greatest upper bound at 2d + 1
// edges    for each dimension the params.cells - 1 keys between its cells, ascending
// cells    [2i] the cell of region i's lower corner, its home; [2i + 1] the last one, that of its upper corner
// lengths  how many cells region i meets; 0 for an empty one
//
// One invocation per region.

// import: gpu/reduce.wgsl
// import: gpu/search.wgsl
// import: matching/grid.wgsl

// As in grid.rs.
struct CellParams {
    regions: u32,
    // Cells per dimension.
    cells: u32,
}

@group(0) @binding(0) var<uniform> params: CellParams;
@group(0) @binding(1) var<storage, read> columns: array<u32>;
@group(0) @binding(2) var<storage, read_write> bounds: array<atomic<u32>, 8>;
@group(0) @binding(3) var<storage, read> edges: array<u32>;
@group(0) @binding(4) var<storage, read_write> cells: array<u32>;
@group(0) @binding(5) var<storage, read_write> lengths: array<u32>;

// A bounding box.
struct Reduced {
    lo: vec4<u32>,
    hi: vec4<u32>,
}

fn merge(a: Reduced, b: Reduced) -> Reduced {
    return Reduced(min(a.lo, b.lo), max(a.hi, b.hi));
}

@compute @workgroup_size(GROUP_SIZE)
fn find_bounds(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
               @builtin(local_invocation_index) lane: u32) {
    let i = group_number(group, groups) * GROUP_SIZE + lane;
    var box = Reduced(vec4(~0u), vec4(0u));
    if i < params.regions {
        // The bounds of an empty region change neither.
        for (var d = 0u; d < DIMS; d++) {
            box.lo[d] = columns[2u * d * params.regions + i];
            box.hi[d] = columns[(2u * d + 1u) * params.regions + i];
        }
    }
    box = reduce_group(lane, box);
    if lane < DIMS {
        atomicMin(&bounds[2u * lane], box.lo[lane]);
        atomicMax(&bounds[2u * lane + 1u], box.hi[lane]);
    }
}

struct Sought {
    dimension: u32,
    key: u32,
}

fn goes_before(edge: u32, sought: Sought) -> bool {
    return edges[sought.dimension * (params.cells - 1u) + edge] <= sought.key;
}

// The number of the cell that holds a key: how many edges lie at or below it.
fn cell_of(key: u32, d: u32) -> u32 {
    return search(0u, params.cells - 1u, Sought(d, key));
}

@compute @workgroup_size(GROUP_SIZE)
fn find_cells(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
              @builtin(local_invocation_index) lane: u32) {
    let i = group_number(group, groups) * GROUP_SIZE + lane;
    if i < params.regions {
        var home = 0u;
        var last = 0u;
        var count = 1u;
        for (var d = 0u; d < DIMS; d++) {
            let lo = columns[2u * d * params.regions + i];
            let hi = columns[(2u * d + 1u) * params.regions + i];
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
