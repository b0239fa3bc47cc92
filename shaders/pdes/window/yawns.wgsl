// Synchronise: how far a window may go, by YAWNS (Baudis et al., section IV.A). With t the smallest pending timestamp and L the
// lookahead, no event can appear any more before t + L. A window ends with the cell of length L that t lies in, so that windows are the same
// wherever pending events are held.
//
// Every workgroup finds t itself, from the partial reductions that the last window left (pdes/window/partials.wgsl; beyond some workgroups
// `gather` merges them first), and leaves one for the next. What workgroups learn of each other is what the window
// before left behind: they never wait for each other.
//
// A window that finds the run at its end (time, number of events, nothing pending, failure) executes nothing and carries the
// halves over, so any number of further windows is harmless, and a later run goes on from there. Runs begin at parity 0. So
// if it is one of parity 1 that first finds the end, it *settles* what the last window sent: takes the mails into the queues.
// A pause (run.pause) is as an end to windows, and always of parity 0; the host sees that no end is reached.
//
// What a file that synchronises brings:
//
//   alias Reduced = vec4<u32>    what an LP, and then a workgroup, leaves for the next window: earliest pending time (2), events, and a
//                                another word; IDLE, merge
//   did_something(Reduced)       whether an LP that leaves this had something to do
//   struct Horizon               at least `serve`, `now` (no event before it is pending), `until`, and `rounds`: the windows that began at `now`,
//                                with this one
//   synchronise(lane) -> Horizon
//   message_count(row)           what a queue has to take in before its LP executes
//   horizon_of(row, Horizon)     the window of a row, where they are not all the same
//   bound_word(row)           the word that tells it, to be asked for with others; bound_of_word(word, Horizon) is the same window then
//   arrival_bound_read(row), arrival_before_bound(time)    asks how early others may send to a row in this window; then, some time later, whether that time is
//                                too early (the lookahead is checked anyway)
//   horizon_enough(executed)     whether an LP that has executed so many events should leave the rest of them for the next window
//   clock_store(row, first)       takes in how far a row has come that executed something in this window, and whose first event that is left is at this time; returns its mark, at
//                                least 1
//   clock_stalled(row, first, stands)    what a row like that leaves of STALLED, which its budgets say of one time
//   clock_broken(time)           whether the row whose queue is open has come further than an event at this time may find it
//   leave(group, Horizon, Reduced)    the partial reductions where src/pdes/device/cut.rs (Cut::partials) expects them, and the half of
//                                control that the next window reads, of which Memory::progress reads CONTROL_DONE and CONTROL_STATUS
//
// (The sequential engine, src/pdes/sequential/engine.rs, has windows of cells, and runs that end by a number of events go by those whatever synchronises.)
//
// Such a file writes control, partials, failures and its own rows of `lps`; not states, queues or
// mailboxes, but that pdes/horizon/horizon_look.wgsl takes in mails. Start and gather are linked
// with this file: between calls, control and partials are as it leaves them.
//
// Where there is no lookahead, a cell is one tick, and a window a *round* at one time: what LPs send each other for that time is executed in the
// next one.
//
// An LP that has more events before the horizon than a window's budget is not done with them; then the next window begins where this
// one began, or little later, and its horizon is as safe.
//
// import: pdes/engine.wgsl
// import: pdes/window/epochs.wgsl
// import: pdes/window/partials.wgsl
// import: pdes/queues/queue_windows.wgsl
// import: pdes/window/epoch_for_all.wgsl
// provides: leave, synchronise
// needs: run

// To be called by all invocations of the workgroup.
fn synchronise(lane: u32) -> Horizon {
    // All that is read is asked for before anything waits.
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
    // The second window of a pair does not go on where the first one stopped, even if it was told another end since.
    let second = run.part.parity == 1u;
    let ended = second & (status.z != 0u);
    found.stopped = !sound | ended | all(found.now == TIME_NEVER) | !time_less(found.now, run.until)
        | !time_less(found.events, run.event_limit) | (!second & !time_less(found.events, run.pause));
    let settle = sound & second & !ended;
    found.rounds = select(0u, status.w, all(status.xy == found.now)) + u32(!found.stopped);
    found.serve = !found.stopped | settle;
    found.until = time_min(epoch_end(found.now), run.until);
    if found.stopped { found.until = TIME_ZERO; }
    return found;
}

// What the next window needs to know, from one invocation of workgroup `group`; `left` is what its LPs left.
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
    // Not a store: invocations of this dispatch may be recording failures there.
    atomicMin(&words[FAILURE + next], found.failure);
}
