// All invocations of a workgroup, the lanes 0 to GROUP_SIZE - 1 of a team, serve one replication.
// Dispatch: job_work.jobs workgroups. The model has a second file with
//
//   fn team_step(state: ptr<function, State>) -> bool     a step, called by all lanes, same state
//   fn team_combine(first: vec4<u32>, second: vec4<u32>) -> vec4<u32>    associative, for team_scan
//   const TEAM_NEUTRAL: vec4<u32>                         its neutral element
//
// A team_step may be many steps of the first file; job_work's limits count team_steps. After it all
// lanes must have the same state and result, and the stream the position that one invocation would
// have (stream_seek). All lanes or none call `fail`. All lanes run the first file's `start` and
// `finish`.
//
// For the model: team_size, team_agree, team_sum, team_scan, the variable team_lane (to read), and
// what its first file may use. No barriers and no workgroup variables: a replication's data is in
// its State. The entry point and the scan are in team_workgroup.wgsl and team_subgroups.wgsl.
//
// import: gpu/loops.wgsl
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

// The number of lanes of the team.
fn team_size() -> u32 {
    return GROUP_SIZE;
}

// Lane 0's value, in uniform control flow of all lanes.
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

// Runs a slice of the job in a slot, on all lanes.
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
    // Lanes may have loops of different lengths.
    let cut = team_sum(vec2<u32>(u32(loops_cut(job_work.jobs)), 0u)).x > 0u;
    // All lanes have read the state written now: that came later.
    if team_lane == 0u {
        job_store(slot, &state, before + taken, opened, more, cut);
    }
}
