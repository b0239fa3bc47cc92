// Gives moved regions their bounds.
//
// ids      ids of the moved regions: params.end of them, all different
// moved    params.extra columns of params.end keys
// columns  params.extra columns of params.subscriptions keys, by id
// flags    by id, whether a region is being moved: becomes params.room
//
// One thread per moved region.

// import: matching/params.wgsl
// import: matching/workgroup.wgsl

@group(0) @binding(1) var<storage, read> ids: array<u32>;
@group(0) @binding(2) var<storage, read> moved: array<u32>;
@group(0) @binding(3) var<storage, read_write> columns: array<u32>;
@group(0) @binding(4) var<storage, read_write> flags: array<u32>;

@compute @workgroup_size(SIZE)
fn scatter(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
           @builtin(local_invocation_index) lane: u32) {
    let i = number(group, groups) * SIZE + lane;
    if i < params.end {
        let id = ids[i];
        for (var c = 0u; c < params.extra; c++) {
            columns[c * params.subscriptions + id] = moved[c * params.end + i];
        }
        flags[id] = params.room;
    }
}
