// One replication per invocation ("thread-level parallelism" in the paper). Neighbours run in
// lockstep, so this suits many similar replications. Dispatch: job_work.jobs / GROUP_SIZE
// workgroups, rounded up.
//
// import: replication/job.wgsl
// needs: tables_open
//
// bounds: as in job.wgsl.

override GROUP_SIZE: u32 = 64u;

@compute @workgroup_size(GROUP_SIZE)
fn thread(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
          @builtin(local_invocation_index) lane: u32) {
    tables_open(lane, GROUP_SIZE);
    let slot = (group.y * groups.x + group.x) * GROUP_SIZE + lane;
    if slot < job_work.jobs {
        job_slice(slot);
    }
}
