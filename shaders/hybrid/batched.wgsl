// Batched handlers (Chapuis et al., "Simian integrated framework for parallel discrete event
// simulation on GPUs", section 2.3): the calls of a window, merged. One invocation serves one call.
// Buffers: hybrid/work.wgsl.
//
// needs: handle

// import: hybrid/work.wgsl

@compute @workgroup_size(GROUP_SIZE)
fn batched(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let number = (group.y * groups.x + group.x) * GROUP_SIZE + lane;
    if number >= work.calls { return; }
    answers[work.first + number] = handle(calls[work.first + number]);
    if loops_cut(work.calls) { atomicStore(&cut[0], 1u); }
}
