// All invocations of a workgroup serve one replication: the cooperative mapping. Dispatch: job_work.jobs workgroups.
//
// The invocations are the lanes 0 to GROUP_SIZE - 1 of a team. The model brings a second file with
//
//   fn team_step(state: ptr<function, State>) -> bool        a step, called by every lane with the same state
//   fn team_combine(first: vec4<u32>, second: vec4<u32>) -> vec4<u32>      an associative operator for team_scan
//   const TEAM_NEUTRAL: vec4<u32>                             its neutral element
//
// A team_step may stand for many steps of the first file: job_work.steps and job_work.max_steps count team_steps here.
//
// After a team_step every lane must hold the same state and return the same answer, and the stream must stand where it would
// after the same draws on one invocation (stream_seek). fail must be called by every lane or none. start and finish are those
// of the model's first file, run by every lane.
//
// The two files replication/team_workgroup.wgsl and replication/team_subgroups.wgsl hold the entry point `team` and the
// scan; both import this one.
//
// For the model: the functions team_size, team_agree, team_sum and team_scan, and the variable team_lane, which it may read. It has
// no others of the engine than these and those of its first file, and no barriers or workgroup variables of its own: what a
// replication knows must be in its State.
//
// import: gpu/reduce.wgsl
// import: gpu/wide.wgsl
// import: replication/job.wgsl
// provides: GROUP_SIZE, Reduced, merge
// needs: State, team_step
//
// bounds: as in job.wgsl; workgroup memory is indexed by lane.

override GROUP_SIZE: u32 = 64u;

// This invocation's number in the team.
var<private> team_lane: u32;

var<workgroup> team_word: u32;

// How many lanes the team has.
fn team_size() -> u32 {
    return GROUP_SIZE;
}

// What lane 0 says, in uniform control flow for every lane.
fn team_agree(value: u32) -> u32 {
    if team_lane == 0u {
        team_word = value;
    }
    return workgroupUniformLoad(&team_word);
}

// What reduce_group merges: 64-bit counts.
alias Reduced = vec2<u32>;

fn merge(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    return wide_add(a, b);
}

// The sum of a 64-bit count over all lanes.
fn team_sum(count: vec2<u32>) -> vec2<u32> {
    return reduce_group(team_lane, count);
}

// A slice of the job in a slot, on all lanes.
fn team_slice(slot: u32) {
    let status = team_agree(job_outcomes[slot].x);
    if status > JOB_RUNNING {
        return;
    }
    job_open(slot);
    var state: State;
    let before = job_load(slot, status, &state);
    let opened = stream_position();
    let budget = team_agree(min(job_work.steps, job_work.max_steps - before));
    var more = true;
    var taken = 0u;
    for (; taken < budget; taken++) {
        if team_agree(u32(more && !job_failed)) == 0u {
            break;
        }
        more = team_step(&state);
        stream_main();
    }
    // Every lane has read what is written now: the last team_agree came after.
    if team_lane == 0u {
        job_store(slot, &state, before + taken, opened, more);
    }
}
