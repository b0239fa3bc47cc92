// Region ids before they are sorted: ids[i] = i. One thread per region.

// import: matching/params.wgsl
// import: matching/workgroup.wgsl

@group(0) @binding(1) var<storage, read_write> ids: array<u32>;

@compute @workgroup_size(SIZE)
fn iota(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
    let i = number(group, groups) * SIZE + lane;
    if i < params.end {
        ids[i] = i;
    }
}
