// One replication per workgroup, which plays the warp, with one active invocation: the paper's section 3 for adapters without
// subgroups. GROUP_SIZE is the number of invocations that the hardware runs in lockstep, or a guess at it. Replications never
// diverge from each other. Dispatch: job_work.jobs workgroups.
// replication/warp_subgroups.wgsl is the same on subgroups; there, GROUP_SIZE and PER_GROUP mean more.
//
// import: replication/job.wgsl
// needs: tables_open
//
// bounds: as in job.wgsl.

override GROUP_SIZE: u32 = 32u;
// Replications per workgroup: 1.
override PER_GROUP: u32 = 1u;

@compute @workgroup_size(GROUP_SIZE)
fn warp(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
    tables_open(lane, GROUP_SIZE);
    let slot = (group.y * groups.x + group.x) * PER_GROUP;
    if lane == 0u && slot < job_work.jobs {
        job_slice(slot);
    }
}
