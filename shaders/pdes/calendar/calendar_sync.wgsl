// Synchronise: YAWNS on a calendar (pdes/calendar/calendar.wgsl). The next window is the first
// epoch with a pending event: a bit for each bucket, and the earliest time in lists.
//
// pdes/window/yawns.wgsl describes the functions of a file that synchronises and windows at the end
// of a run. Here no messages are in transit, so none are settled.
//
// Parts of a run (pdes/parts/outbox.wgsl) execute the same epoch, which the host finds: that of
// run.earliest. A part that has no event there executes nothing.
//
// The set of executed events is exact. Whether the last epoch of a run holds an event before the
// run's end is unknown until it is tried: such a window may execute nothing, and is then not
// counted.
//
// import: pdes/engine.wgsl
// import: pdes/window/epochs.wgsl
// import: pdes/calendar/calendar.wgsl
// import: pdes/window/partials.wgsl
// provides: Horizon, IDLE, Reduced, arrival_before_bound, clock_broken, did_something
// provides: horizon_enough, horizon_of, leave, merge, synchronise
// needs: run
//
// bounds: for the sort, the only trusted kernel that links it: partial results are below
// run.part.partials_count, which the host sets for `lps`. Divisors are constants above 0.

// Earliest time in the lists (2 words), events executed, a bit for each bucket with pending events.
alias Reduced = vec4<u32>;

const IDLE = vec4<u32>(0xffffffffu, 0xffffffffu, 0u, 0u);

fn merge(a: Reduced, b: Reduced) -> Reduced {
    return vec4<u32>(time_min(a.xy, b.xy), a.z + b.z, a.w | b.w);
}

fn did_something(left: Reduced) -> bool {
    return (left.z != 0u) | (left.w != 0u) | any(left.xy != TIME_NEVER);
}

struct Horizon {
    now: vec2<u32>,     // the start of the epoch
    events: vec2<u32>,
    windows: vec2<u32>,
    failure: u32,
    stopped: bool,
    serve: bool,
    until: vec2<u32>,
    bucket: u32,
    // Whether the list that is not open is distributed.
    drain: bool,
    base: vec2<u32>,
    turn: u32,
    list: u32,
    marks: u32,
    far: vec2<u32>,
    tried: vec2<u32>,
    // Not counted: a calendar has a lookahead.
    rounds: u32,
}

fn horizon_of(row: u32, horizon: Horizon) -> Horizon {
    return horizon;
}

const NO_EPOCH = 0xffffffffu;

// Epochs from the start of the span to the first marked bucket; at least one must be marked.
fn epochs_ahead(marks: u32, turn: u32) -> u32 {
    if turn == 0u { return countTrailingZeros(marks); }
    return countTrailingZeros((marks >> turn) | (marks << (CALENDAR_BUCKETS - turn)));
}

// Call it in all invocations of the workgroup.
fn synchronise(lane: u32) -> Horizon {
    // All reads are issued before anything waits.
    let read = left_read(lane);
    let done = lps[control_row(run.part.parity, CONTROL_DONE)];
    let status = lps[control_row(run.part.parity, CONTROL_STATUS)];
    let epoch = lps[control_row(run.part.parity, CONTROL_EPOCH)];
    let marks = lps[control_row(run.part.parity, CONTROL_MARKS)];
    let failure = atomicLoad(&words[FAILURE + run.part.parity]);
    let last = left_by_all(lane, read);
    var found: Horizon;
    found.base = epoch.xy;
    found.turn = status.w & (PHASE_LIST - 1u);
    found.list = u32((status.w & PHASE_LIST) != 0u);
    found.marks = marks.z | last.w;
    found.far = time_min(epoch.zw, last.xy);
    found.events = wide_add(done.zw, vec2<u32>(last.z, 0u));
    // A window that executed nothing does not count.
    let none = ((status.w & PHASE_SERVED) != 0u) & (last.z == 0u);
    found.windows = wide_subtract(done.xy, vec2<u32>(u32(none), 0u));
    found.failure = failure;
    found.tried = select(marks.xy, TIME_ZERO, last.z != 0u);
    var agreed = NO_EPOCH;
    if any(run.earliest != TIME_NEVER) {
        found.marks |= atomicLoad(&words[ARRIVED_MARKS]);
        let arrived = atomicLoad(&words[ARRIVED_LISTED]);
        if arrived != 0u {
            let since = wide_multiply(vec2<u32>(NO_EPOCH - arrived, 0u), run.epoch_length);
            found.far = time_min(found.far, time_add(found.base, since));
        }
        // Another part may have to repeat an epoch that is empty here.
        found.tried = TIME_ZERO;
        let epochs = epoch_split(time_since(run.earliest, found.base)).epochs;
        if epochs.y == 0u && epochs.x < CALENDAR_BUCKETS { agreed = epochs.x; }
    }

    // The next epoch, counted from the start of the span.
    let half = CALENDAR_BUCKETS / 2u;
    var ahead = NO_EPOCH;
    if found.marks != 0u { ahead = epochs_ahead(found.marks, found.turn); }
    ahead = min(ahead, agreed);
    var listed = NO_EPOCH;
    let first = time_min(found.far, run.earliest);
    let far = epoch_split(time_since(found.far, found.base));
    if any(found.far != TIME_NEVER) && far.epochs.y == 0u && far.epochs.x < CALENDAR_BUCKETS { listed = far.epochs.x; }
    var next = found;
    next.now = TIME_NEVER;
    if min(ahead, listed) != NO_EPOCH {
        next.drain = listed <= ahead;
        ahead = min(ahead, listed);
        next.now = time_add(found.base, wide_multiply(vec2<u32>(ahead, 0u), run.epoch_length));
        next.bucket = (found.turn + ahead) % CALENDAR_BUCKETS;
        if ahead >= half {
            next.base = time_add(found.base, run.epoch);
            next.turn = half - found.turn;
            next.drain = true;
        }
    } else if any(first != TIME_NEVER) {
        // All buckets are empty: continue at the span of the earliest listed event.
        let at = epoch_split(first);
        let place = at.epochs.x % half;
        next.now = wide_subtract(first, at.rest);
        next.base = wide_subtract(next.now, wide_multiply(vec2<u32>(place, 0u), run.epoch_length));
        next.turn = 0u;
        next.bucket = place;
        next.drain = true;
    }
    next.until = time_min(time_add(next.now, run.epoch_length), run.until);

    // The second window of a pair does not continue if the first one stopped, even if the end was
    // changed since.
    let second = run.part.parity == 1u;
    let ended = second & (status.z != 0u);
    let stopped = (found.failure != NO_FAILURE) | ended | all(next.now == TIME_NEVER) | !time_less(next.now, run.until)
        | !time_less(found.events, run.event_limit) | (!second & !time_less(found.events, run.pause))
        | all(next.until == found.tried);
    if stopped {
        found.now = next.now;
        found.stopped = true;
        return found;
    }
    next.serve = true;
    next.tried = next.until;
    next.marks &= ~(1u << next.bucket);
    if next.drain {
        next.list = 1u - found.list;
        next.far = TIME_NEVER;
    }
    return next;
}

// Writes what the next window reads, from one invocation of workgroup `group`; `left` is the
// reduction of its LPs.
fn leave(group: u32, found: Horizon, left: Reduced) {
    let next = 1u - run.part.parity;
    lps[2u * run.rows + next * run.groups + group] = left;
    if group != 0u { return; }
    let windows = wide_add(found.windows, vec2<u32>(u32(found.serve), 0u));
    let phase = found.turn | select(0u, PHASE_LIST, found.list != 0u) | select(0u, PHASE_SERVED, found.serve);
    lps[control_row(next, CONTROL_DONE)] = vec4<u32>(windows, found.events);
    lps[control_row(next, CONTROL_STATUS)] = vec4<u32>(found.now, u32(found.stopped), phase);
    lps[control_row(next, CONTROL_EPOCH)] = vec4<u32>(found.base, found.far);
    lps[control_row(next, CONTROL_MARKS)] = vec4<u32>(found.tried, found.marks, 0u);
    // A minimum, not a store: invocations of this dispatch may be recording failures there.
    atomicMin(&words[FAILURE + next], found.failure);
}

fn horizon_enough(executed: u32) -> bool {
    return false;
}

// As in pdes/window/epoch_for_all.wgsl.
fn arrival_before_bound(time: vec2<u32>) -> bool {
    return false;
}

// Every event is later than what was executed, because of the lookahead.
fn clock_broken(time: vec2<u32>) -> bool {
    return false;
}
