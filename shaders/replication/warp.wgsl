// One replication per workgroup, which acts as the warp, with one active invocation: the paper's
// section 3 for adapters without subgroups. GROUP_SIZE is the (estimated) lockstep width of the
// hardware, so replications never diverge from each other. Dispatch: job_work.jobs workgroups.
// replication/warp_subgroups.wgsl is the version for subgroups, with other meanings of GROUP_SIZE
// and PER_GROUP.
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
