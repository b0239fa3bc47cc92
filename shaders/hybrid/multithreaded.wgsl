// Multithreaded handlers (Chapuis et al., section 2.3): a call has enough work for workgroups of
// its own. work.groups workgroups serve one call, with barriers and workgroup memory of the
// handler. Buffers: hybrid/work.wgsl.
//
// needs: handle

// import: hybrid/work.wgsl

@compute @workgroup_size(GROUP_SIZE)
fn multithreaded(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let number = group.y * groups.x + group.x;
    if number >= work.calls * work.groups { return; }
    let call = work.first + number / work.groups;
    let answer = handle(calls[call], number % work.groups, lane);
    if lane == 0u { answers[work.first * work.groups + number] = answer; }
    if loops_cut(work.calls) { atomicStore(&cut[0], 1u); }
}
