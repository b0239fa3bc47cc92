// One replication per subgroup, with one active invocation: warp-level parallelism, the paper's
// section 3. Replications never diverge from each other. A workgroup has PER_GROUP replications;
// the first invocations of its subgroups take them one by one, so any number of subgroups works.
// The host chooses PER_GROUP to have a subgroup for each. Dispatch: job_work.jobs / PER_GROUP
// workgroups, rounded up.
//
// import: replication/job.wgsl
// requires: subgroups
// needs: tables_open
//
// bounds: as in job.wgsl.

override GROUP_SIZE: u32 = 128u;
override PER_GROUP: u32 = 4u;

var<workgroup> warp_next: atomic<u32>;

@compute @workgroup_size(GROUP_SIZE)
fn warp(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32, @builtin(subgroup_invocation_id) sublane: u32) {
    tables_open(lane, GROUP_SIZE);
    if lane == 0u {
        atomicStore(&warp_next, 0u);
    }
    workgroupBarrier();
    let first = (group.y * groups.x + group.x) * PER_GROUP;
    if sublane == 0u {
        for (var round = 0u; round < PER_GROUP; round++) {
            let taken = atomicAdd(&warp_next, 1u);
            if taken >= PER_GROUP || first + taken >= job_work.jobs {
                break;
            }
            job_slice(first + taken);
        }
        // Some jobs may not have been taken.
        if loops_cut(job_work.jobs) {
            atomicAdd(&job_running[1], 1u);
        }
    }
}
