// One replication on one invocation, a slice of its steps at a time. Passerat-Palmbach, Caux,
// Siregar, Mazel, Hill, "Warp-Level Parallelism: Enabling Multiple Replications in Parallel on
// GPU", ESM 2011. Shared by the mappings: replication per invocation (thread.wgsl), per subgroup
// (warp*.wgsl, the paper's section 3), per workgroup (team*.wgsl). A job is a replication of a
// parameter point; its slot is its number in the batch. Jobs are numbered point by point.
//
// job_points     Params by point   the parameter points
// job_saved      by slot           the state of a replication between slices
// job_outcomes   by slot           (JOB_*, code); zero before the first slice
// job_results    Output by slot    written once, when the replication is done
// job_running    2 words           per slice: unfinished replications; cut slices, to be repeated
//
// The model declares Params, State, Output, start, step and finish (see `replication::Model`). It
// uses `params` and `fail`, and draws from its replication's stream.
//
// import: gpu/loops.wgsl
// import: random/distributions.wgsl
// needs: Output, Params, State, finish, start, step
//
// All invocations of a workgroup call tables_open first (random/exponential_table.wgsl).
//
// bounds: for all files of the folder, for models whose safety the caller of `Engine::trusted`
// guarantees. The slot is compared with the jobs of the batch, for which the buffers have room.
// Lanes are below GROUP_SIZE. Loops count to a value that does not change. The divisor, the
// replications per point, is above 0.

struct JobWork {
    // Never read and always zero, because of Mesa's lavapipe: see `struct Run` in
    // shaders/pdes/engine.wgsl.
    unread: vec2<u32>,
    seed: vec2<u32>,
    // Number of the first replication, and replications per point.
    first_replication: u32,
    replications: u32,
    // First job of the batch, and their number.
    first: u32,
    jobs: u32,
    // Steps of this slice, and at most of a replication.
    steps: u32,
    max_steps: u32,
    // 1 if all points draw the same numbers; 1 if replications are antithetic pairs.
    common_numbers: u32,
    antithetic: u32,
}

struct JobSaved {
    steps: u32,
    // Of the stream.
    position: u32,
    unused: vec2<u32>,
    state: State,
}

const JOB_FRESH = 0u;
const JOB_RUNNING = 1u;
const JOB_DONE = 2u;
// The model called `fail`.
const JOB_FAILED = 3u;
// It took max_steps steps and did not finish.
const JOB_ENDLESS = 4u;
// A step drew more than its stream had left, or more than a substream has.
const JOB_EXHAUSTED = 5u;

@group(0) @binding(0) var<uniform> job_work: JobWork;
@group(0) @binding(1) var<storage, read> job_points: array<Params>;
@group(0) @binding(2) var<storage, read_write> job_saved: array<JobSaved>;
@group(0) @binding(3) var<storage, read_write> job_outcomes: array<vec2<u32>>;
@group(0) @binding(4) var<storage, read_write> job_results: array<Output>;
@group(0) @binding(5) var<storage, read_write> job_running: array<atomic<u32>>;

// The parameter point of this replication.
var<private> params: Params;

var<private> job_failed: bool;
var<private> job_code: u32;

// Ends the replication without a result. The first code is reported.
fn fail(code: u32) {
    job_code = select(code, job_code, job_failed);
    job_failed = true;
}

// Enters the substream of (purpose 0 to 32767, the model's number), with 2^18 draws. The next step,
// or stream_main(), returns to the replication's stream. Unlike in an LP (pdes/model.wgsl), the
// purpose is in the first word, because the replication's number has the other.
fn stream_purpose(purpose: u32, number: u32) {
    stream_enter(SUBSTREAM | ((purpose & 0x7fffu) << 16u), vec3<u32>(stream_home.xy, number));
    stream_lost = stream_lost || purpose > 0x7fffu;
}

// Finds the parameters and the stream of a slot's job.
fn job_open(slot: u32) {
    let job = job_work.first + slot;
    let point = job / job_work.replications;
    let replication = job_work.first_replication + job % job_work.replications;
    params = job_points[point];
    let owner = select(point, 0u, job_work.common_numbers != 0u);
    stream_open(job_work.seed, owner, vec2<u32>(replication >> job_work.antithetic, 0u));
    if (replication & job_work.antithetic) != 0u {
        stream_complement();
    }
    job_failed = false;
    job_code = 0u;
}

// Starts or resumes the job. Returns the number of its earlier steps.
fn job_load(slot: u32, status: u32, state: ptr<function, State>) -> u32 {
    if status == JOB_FRESH {
        start(state);
        stream_main();
        return 0u;
    }
    *state = job_saved[slot].state;
    stream_seek(job_saved[slot].position);
    return job_saved[slot].steps;
}

// Stores the job after a slice. `opened` is the stream's earlier position, `steps` all its steps,
// `more` the last one's result. A stream that wrapped ends the replication first of all, so the
// outcome does not depend on slices. (No slice makes 2^32 draws.) `cut` says whether a driver ended
// loops of the job.
fn job_store(slot: u32, state: ptr<function, State>, steps: u32, opened: u32, more: bool, cut: bool) {
    if cut {
        // The slice is unreliable. The saved state from before it remains.
        atomicAdd(&job_running[1], 1u);
        return;
    }
    // Stored for finished replications, too: it shows their progress.
    job_saved[slot].position = stream_position();
    job_saved[slot].steps = steps;
    let exhausted = stream_lost || stream_position() < opened;
    if !job_failed & !exhausted & !more {
        let output = finish(state);
        // `finish` may fail, too.
        if !job_failed {
            job_results[slot] = output;
            job_outcomes[slot] = vec2<u32>(JOB_DONE, 0u);
            return;
        }
    }
    if exhausted {
        job_outcomes[slot] = vec2<u32>(JOB_EXHAUSTED, 0u);
    } else if job_failed {
        job_outcomes[slot] = vec2<u32>(JOB_FAILED, job_code);
    } else if steps >= job_work.max_steps {
        job_outcomes[slot] = vec2<u32>(JOB_ENDLESS, 0u);
    } else {
        job_saved[slot].state = *state;
        job_outcomes[slot] = vec2<u32>(JOB_RUNNING, 0u);
        atomicAdd(&job_running[0], 1u);
    }
}

// Runs a slice of the job in a slot, on one invocation.
fn job_slice(slot: u32) {
    let status = job_outcomes[slot].x;
    if status > JOB_RUNNING {
        return;
    }
    job_open(slot);
    var state: State;
    let before = job_load(slot, status, &state);
    let opened = stream_position();
    let budget = min(job_work.steps, job_work.max_steps - before);
    var more = true;
    var taken = 0u;
    for (; (taken < budget) & more & !job_failed; taken++) {
        more = step(&state);
        stream_main();
    }
    job_store(slot, &state, before + taken, opened, more, loops_cut(job_work.jobs));
}
