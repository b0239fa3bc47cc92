// Puts columns in the order of `ids`, so that kernels read neighbours in the order from neighbouring words.
//
// ids      region ids in the wanted order
// columns  params.extra columns of params.subscriptions keys, by id
// ordered  the first params.end of each column in the wanted order; the ids are one more column
//
// One thread per region.

// import: matching/params.wgsl
// import: matching/workgroup.wgsl

@group(0) @binding(1) var<storage, read> ids: array<u32>;
@group(0) @binding(2) var<storage, read> columns: array<u32>;
@group(0) @binding(3) var<storage, read_write> ordered: array<u32>;

@compute @workgroup_size(SIZE)
fn gather(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
          @builtin(local_invocation_index) lane: u32) {
    let i = number(group, groups) * SIZE + lane;
    if i < params.end {
        let id = ids[i];
        for (var c = 0u; c < params.extra; c++) {
            ordered[c * params.end + i] = columns[c * params.subscriptions + id];
        }
        ordered[params.extra * params.end + i] = id;
    }
}
