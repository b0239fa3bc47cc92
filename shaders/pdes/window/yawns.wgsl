// Synchronise by YAWNS (Baudis et al., section IV.A). With t the smallest pending timestamp and L
// the lookahead, no new event can appear before t + L. A window ends with the epoch of t, so that
// windows are the same for all queues; without a lookahead it is a round at one tick. Every
// workgroup finds t from the partials of the last window. If a budget leaves events, the next
// window begins at about the same time, and is as safe.
//
// A window at the end of the run (time, events, failure, nothing pending) executes nothing and
// copies the halves, so more windows are harmless and a later run resumes there. Runs begin at
// parity 0; if a window of parity 1 finds the end, it settles: it drains the mailboxes. run.pause
// acts as an end for windows of parity 0.
//
// A file that synchronises provides Reduced, IDLE, merge, did_something, Horizon (at least serve,
// now, until, rounds), synchronise, leave, message_count and the functions of same_for_all.wgsl. It
// writes control, partials, failures and its own rows of `lps`, not states or queues. Start and
// gather are linked with this file: between calls, memory is as this file leaves it.
//
// import: pdes/engine.wgsl
// import: pdes/window/epochs.wgsl
// import: pdes/window/partials.wgsl
// import: pdes/queues/queue_windows.wgsl
// import: pdes/window/epoch_for_all.wgsl
// provides: leave, synchronise
// needs: run

// Call it in all invocations of the workgroup.
fn synchronise(lane: u32) -> Horizon {
    // All reads are issued before anything waits.
    let read = left_read(lane);
    let done = lps[control_row(run.part.parity, CONTROL_DONE)];
    let status = lps[control_row(run.part.parity, CONTROL_STATUS)];
    let failure = atomicLoad(&words[FAILURE + run.part.parity]);
    let last = left_by_all(lane, read);
    var found: Horizon;
    found.now = time_min(last.xy, run.earliest);
    found.windows = done.xy;
    found.events = wide_add(done.zw, vec2<u32>(last.z, 0u));
    found.failure = failure;
    let sound = failure == NO_FAILURE;
    // The second window of a pair does not continue if the first one stopped, even if the end was
    // changed since.
    let second = run.part.parity == 1u;
    let ended = second & (status.z != 0u);
    found.stopped = !sound | ended | all(found.now == TIME_NEVER) | !time_less(found.now, run.until)
        | !time_less(found.events, run.event_limit) | (!second & !time_less(found.events, run.pause));
    let settle = sound & second & !ended;
    found.rounds = select(0u, status.w, all(status.xy == found.now)) + u32(!found.stopped);
    found.serve = !found.stopped | settle;
    // A bound of one event an LP is Sync::OneEvent: its windows reach a lookahead beyond t.
    let end = select(epoch_end(found.now), time_add(found.now, run.epoch_length), run.budget == 1u);
    found.until = time_min(end, run.until);
    if found.stopped { found.until = TIME_ZERO; }
    return found;
}

// Writes what the next window reads, from one invocation of workgroup `group`; `left` is the
// reduction of its LPs. Cut::partials (src/pdes/device/cut.rs) fixes the place of partials;
// Memory::progress reads CONTROL_DONE and CONTROL_STATUS.
fn leave(group: u32, found: Horizon, left: Reduced) {
    let next = 1u - run.part.parity;
    let partials = 2u * run.rows;
    if found.serve {
        lps[partials + next * run.groups + group] = left;
    } else {
        let carried = lps[partials + run.part.parity * run.groups + group].xy;
        lps[partials + next * run.groups + group] = vec4<u32>(carried, 0u, 0u);
    }
    if group != 0u { return; }
    let windows = wide_add(found.windows, vec2<u32>(u32(!found.stopped), 0u));
    lps[control_row(next, CONTROL_DONE)] = vec4<u32>(windows, found.events);
    lps[control_row(next, CONTROL_STATUS)] = vec4<u32>(found.now, u32(found.stopped), found.rounds);
    // A minimum, not a store: invocations of this dispatch may be recording failures there.
    atomicMin(&words[FAILURE + next], found.failure);
}
