// A workshop with eight kinds of job, each with its own distribution of duration: a small model
// with many branches and loops of random length, in which lockstep replications wait for each
// other. It shows when one replication per subgroup is faster.
//
// A step is one job: its kind is drawn, then its time.
//
// import: random/distributions.wgsl

struct Params {
    // At least 1.
    jobs: u32,
    // Mean time of an operation in ticks, 1 to 2^20.
    operation: u32,
}

struct State {
    // Time of all jobs so far, in ticks.
    busy: vec2<u32>,
    longest: u32,
    over: u32,
    next: u32,
    // Explicit, because the size of the struct is a multiple of 8.
    unused: u32,
}

struct Output {
    // Time of all jobs, in ticks.
    busy_ticks: vec2<u32>,
    // The longest job, in ticks.
    longest_ticks: u32,
    // Jobs that took more than four operations.
    long_jobs: u32,
}

fn start(state: ptr<function, State>) {
    *state = State();
}

fn step(state: ptr<function, State>) -> bool {
    let unit = params.operation;
    var time = 0u;
    switch draw() >> 29u {
        // Constant.
        case 0u: { time = unit; }
        // Uniform.
        case 1u: { time = draw_below(2u * unit); }
        // Exponential.
        case 2u: { time = exponential_short(draw(), unit); }
        // Erlang: twelve operations, one after the other.
        case 3u: {
            for (var operation = 0u; operation < 12u; operation++) {
                time += exponential_short(draw(), unit);
            }
        }
        // Triangular.
        case 4u: { time = draw_below(unit) + draw_below(unit); }
        // Repeated with probability 7/8, at most 40 times.
        case 5u: {
            for (var again = 0u; again < 40u; again++) {
                time += draw_below(unit);
                if draw() < 0x20000000u {
                    break;
                }
            }
        }
        // Hyperexponential: occasionally a long one.
        case 6u: {
            let long = draw() < 0x10000000u;
            time = exponential_short(draw(), select(unit / 2u, 8u * unit, long));
        }
        // The longest of a random number of parallel operations.
        default: {
            let operations = 1u + draw_below(16u);
            for (var operation = 0u; operation < operations; operation++) {
                time = max(time, exponential_short(draw(), unit));
            }
        }
    }
    (*state).busy = add_word((*state).busy, time);
    (*state).longest = max((*state).longest, time);
    (*state).over += u32(time > 4u * unit);
    (*state).next += 1u;
    return (*state).next < params.jobs;
}

fn finish(state: ptr<function, State>) -> Output {
    return Output((*state).busy, (*state).longest, (*state).over);
}
