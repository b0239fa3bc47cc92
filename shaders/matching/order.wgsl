// Columns of keys, reordered by lists of region ids.
//
// numbered  number_ids: region ids before they are sorted, numbered[i] = i
// ids       params.listed region ids, all different
// columns   params.columns columns of params.regions keys, by id
// ordered   gather: the listed keys of each column in the order of the list, so that neighbours in
//           the order are neighbouring words; then a column of the ids
//
// One invocation per listed region.
//
// bounds: as in matching/common.wgsl. `ids` is numbered 0 .. n and permuted by a stable sort of n
// pairs. Buffers may be longer than needed, with old words behind (`PooledBuffer`): no kernel uses
// their lengths, and every word that is read was written before.

// import: matching/common.wgsl

struct ListParams {
    regions: u32,
    listed: u32,
    columns: u32,
}

@group(0) @binding(0) var<uniform> params: ListParams;
@group(0) @binding(1) var<storage, read_write> numbered: array<u32>;
@group(0) @binding(2) var<storage, read> ids: array<u32>;
@group(0) @binding(3) var<storage, read> columns: array<u32>;
@group(0) @binding(4) var<storage, read_write> ordered: array<u32>;

@compute @workgroup_size(GROUP_SIZE)
fn number_ids(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
              @builtin(local_invocation_index) lane: u32) {
    let i = group_number(group, groups) * GROUP_SIZE + lane;
    if i < params.listed {
        numbered[i] = i;
    }
}

@compute @workgroup_size(GROUP_SIZE)
fn gather(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
          @builtin(local_invocation_index) lane: u32) {
    let i = group_number(group, groups) * GROUP_SIZE + lane;
    if i < params.listed {
        let id = ids[i];
        for (var c = 0u; c < params.columns; c++) {
            ordered[c * params.listed + i] = columns[c * params.regions + id];
        }
        ordered[params.columns * params.listed + i] = id;
    }
}
