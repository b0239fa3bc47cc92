// One replication on one invocation, a slice of its steps at a time.
//
// Passerat-Palmbach, Caux, Siregar, Mazel, Hill, "Warp-Level Parallelism: Enabling Multiple Replications in Parallel on GPU",
// ESM 2011. What is the same in every mapping lives here; the mappings are replication/thread.wgsl (one replication per
// invocation), replication/warp*.wgsl (one per subgroup, the paper's section 3) and replication/team*.wgsl (all
// invocations of a workgroup serve one).
//
// A job is one replication of one parameter point; its slot is its number within the batch. Jobs are counted point by point.
//
// job_work       uniform           what this batch and this slice are
// job_points     Params by point   the parameter points
// job_saved      by slot           what a replication needs to go on in the next slice
// job_outcomes   by slot           (JOB_*, code): where the replication stands. Zero before the first slice
// job_results    Output by slot    written once, when the replication is done
// job_running    2 words           counted by each slice from zero: replications that are not done yet, and slices that the driver
//                                  cut and that have to be run again with fewer steps
//
// A model that draws by a table has a seventh, which random/exponential_table.wgsl describes.
//
// The model's file declares Params, State, Output, start, step and finish (see `replication::Model`). It uses `params` and
// `fail`, and draws from the stream of its replication.
//
// import: gpu/loops.wgsl
// import: random/distributions.wgsl
// needs: Output, Params, State, finish, start, step
//
// All invocations of a workgroup call tables_open first.
//
// bounds: for all files of the folder, where `Engine::trusted` has its caller vouch for the model.
// The slot is compared with the jobs of the batch, for which the buffers have room. Lanes are below
// GROUP_SIZE. Loops count to a value that does not change. The divisor, the replications per point,
// is above 0.

struct JobWork {
    // Read by no kernel, and always zero, for the sake of Mesa's lavapipe: see `struct Run` in shaders/pdes/engine.wgsl.
    unread: vec2<u32>,
    seed: vec2<u32>,
    // Number of the first replication, and replications per point.
    first_replication: u32,
    replications: u32,
    // First job of the batch, and how many it has.
    first: u32,
    jobs: u32,
    // Steps of this slice, and of a whole replication at the most.
    steps: u32,
    max_steps: u32,
    // 1 where all points draw the same numbers; 1 where replications come in antithetic pairs.
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
// It made more draws in a step than its stream had left, or asked a substream for more than it has.
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

// Ends the replication without a result. The code says why; the first one counts.
fn fail(code: u32) {
    job_code = select(code, job_code, job_failed);
    job_failed = true;
}

// The following draws are for a purpose, 0 to 32767, and the number is the model's: its third repair, say. Each (purpose, number) is a substream of
// the replication with 2^18 draws of its own. The next step begins with the replication's stream, and so does what follows stream_main().
// The replication's number takes the word that has the purpose in an LP's substreams
// (pdes/model.wgsl), so the purpose lies in the first word, above the number of the block.
fn stream_purpose(purpose: u32, number: u32) {
    stream_enter(SUBSTREAM | ((purpose & 0x7fffu) << 16u), vec3<u32>(stream_home.xy, number));
    stream_lost = stream_lost || purpose > 0x7fffu;
}

// Finds the parameters and the stream of the job in a slot.
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

// Starts the job, or loads where it stood. Returns the steps that it has made.
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

// Writes down where the job stands after a slice. `opened` is the stream's position before it, `steps` those made in all, `more`
// what the last of them returned.
//
// A stream that began again from its first draw ends the replication, whatever came after that in the same slice: so how a
// replication ends does not depend on where slices end. (No slice makes 2^32 draws.)
fn job_store(slot: u32, state: ptr<function, State>, steps: u32, opened: u32, more: bool) {
    if loops_cut(job_work.jobs) {
        // Nothing of this slice can be trusted. What was saved before it stands.
        atomicAdd(&job_running[1], 1u);
        return;
    }
    // Of replications that are done too: they tell how far they came.
    job_saved[slot].position = stream_position();
    job_saved[slot].steps = steps;
    let exhausted = stream_lost || stream_position() < opened;
    if !job_failed & !exhausted & !more {
        let output = finish(state);
        // `finish` may fail too.
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

// A slice of the job in a slot, on one invocation.
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
    job_store(slot, &state, before + taken, opened, more);
}
