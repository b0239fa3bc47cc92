// Reduction of one vec4 (time, count) per thread over a workgroup, without optional features.
//
// needs: merge, IDLE (pdes/engine.wgsl)

override GROUP: u32 = 64u;   // threads of a workgroup: a power of two

var<workgroup> reduce_rows: array<vec4<u32>, GROUP>;

// The merged value, the same in all threads. Must be called by all threads of the workgroup.
fn reduce_group(lane: u32, mine: vec4<u32>) -> vec4<u32> {
    reduce_rows[lane] = mine;
    workgroupBarrier();
    for (var half = GROUP / 2u; half > 0u; half /= 2u) {
        if lane < half {
            reduce_rows[lane] = merge(reduce_rows[lane], reduce_rows[lane + half]);
        }
        workgroupBarrier();
    }
    return workgroupUniformLoad(&reduce_rows[0]);
}
