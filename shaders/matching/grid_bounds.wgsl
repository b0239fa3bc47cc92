// The bounding box of all regions that are not empty.
//
// columns  2 DIMS columns of params.end keys (import.wgsl)
// bounds   for dimension d the smallest lower bound at 2d and the greatest upper bound at 2d + 1
//
// One thread per region; params.extra is the number of columns.

// import: matching/params.wgsl
// import: matching/workgroup.wgsl

@group(0) @binding(1) var<storage, read> columns: array<u32>;
@group(0) @binding(2) var<storage, read_write> bounds: array<atomic<u32>, 8>;

var<workgroup> smallest: atomic<u32>;
var<workgroup> greatest: atomic<u32>;

@compute @workgroup_size(SIZE)
fn find_bounds(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
               @builtin(local_invocation_index) lane: u32) {
    let i = number(group, groups) * SIZE + lane;
    for (var c = 0u; c < params.extra; c += 2u) {
        if lane == 0u {
            atomicStore(&smallest, ~0u);
            atomicStore(&greatest, 0u);
        }
        workgroupBarrier();
        // The bounds of an empty region change neither.
        if i < params.end {
            atomicMin(&smallest, columns[c * params.end + i]);
            atomicMax(&greatest, columns[(c + 1u) * params.end + i]);
        }
        workgroupBarrier();
        if lane == 0u {
            atomicMin(&bounds[c], atomicLoad(&smallest));
            atomicMax(&bounds[c + 1u], atomicLoad(&greatest));
        }
    }
}
