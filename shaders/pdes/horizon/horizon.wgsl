// Synchronise by the event horizon (Steinman's breathing time buckets). No event for another LP can
// come before the earliest time that any LP sends to another one. So all events before that time
// may execute, without a lookahead, and none is ever undone.
//
// A window is two dispatches, as a pair of YAWNS (pdes/window/yawns.wgsl). The first, of parity 0,
// drains the mailboxes and finds the horizon (pdes/horizon/horizon_look.wgsl). The second, of
// parity 1, executes and is linked with this file. Between calls memory is as YAWNS leaves it, so
// that runs can change from one to the other.
//
// The epoch of the first event may always execute (without a lookahead, a round), as in YAWNS. That
// is the window if the horizon is no later, or if the run might reach its number of events:
// event-limited runs end with an epoch.
//
// import: pdes/engine.wgsl
// import: pdes/window/epochs.wgsl
// import: pdes/window/partials.wgsl
// import: pdes/queues/queue_windows.wgsl
// provides: leave, message_count, synchronise
// needs: bounds_open, run

// How far from the first event the next window's reach is.
var<private> horizon_span: vec2<u32>;

// The first dispatch has drained the mailboxes.
fn message_count(row: u32) -> u32 {
    return 0u;
}

// Call it in all invocations of the workgroup.
fn synchronise(lane: u32) -> Horizon {
    let read = left_read(lane);
    let done = lps[control_row(1u, CONTROL_DONE)];
    let status = lps[control_row(1u, CONTROL_STATUS)];
    let span = lps[control_row(1u, CONTROL_REACH)].xy;
    let failure = atomicLoad(&words[FAILURE + 1u]);
    let last = left_by_all(lane, read);
    // No LP sends anything to others earlier than this.
    let earliest = time_min(last.xy, run.earliest);
    var found: Horizon;
    found.now = status.xy;
    found.events = done.zw;
    found.windows = done.xy;
    found.failure = failure;
    found.stopped = (status.z != 0u) | (failure != NO_FAILURE);
    found.rounds = status.w + u32(!found.stopped);
    found.serve = !found.stopped;
    found.until = epoch_end(found.now);
    var promised = TIME_ZERO;
    var horizon = earliest;
    if any(run.event_limit != TIME_NEVER) {
        // Event-limited runs end windows with epochs, because a budget does so too and both must
        // leave the same.
        horizon = wide_subtract(horizon, epoch_split(horizon).rest);
        if !time_less(wide_add(found.events, vec2<u32>(last.z, 0u)), run.event_limit) { horizon = TIME_ZERO; }
    }
    if time_less(found.until, horizon) {
        found.until = horizon;
        promised = earliest;
    }
    found.until = time_min(found.until, run.until);
    horizon_span = next_span(span, found.now, earliest);
    if found.stopped {
        found.until = TIME_ZERO;
        horizon_span = span;
    }
    bounds_open(found, promised);
    return found;
}

// The span of the next window, if this one's was `span`.
fn next_span(span: vec2<u32>, now: vec2<u32>, horizon: vec2<u32>) -> vec2<u32> {
    let twice = time_add(span, span);
    if !time_less(horizon, time_add(now, span)) { return select(twice, run.epoch_length, wide_less(twice, run.epoch_length)); }
    // Windows vary, so the span shrinks slowly: by an eighth.
    let shorter = wide_subtract(span, vec2<u32>((span.x >> 3u) | (span.y << 29u), span.y >> 3u));
    let length = time_since(horizon, now);
    let enough = time_add(length, length);
    return select(shorter, enough, wide_less(shorter, enough));
}

// Writes what the next window reads, from one invocation of workgroup `group`; `left` is the
// reduction of its LPs.
fn leave(group: u32, found: Horizon, left: Reduced) {
    var carried = IDLE;
    if group == 0u { carried = vec4<u32>(found.now, 0u, 0u); }
    if found.serve { carried = left; }
    lps[2u * run.rows + group] = carried;
    if group != 0u { return; }
    let windows = wide_add(found.windows, vec2<u32>(u32(found.serve), 0u));
    lps[control_row(0u, CONTROL_DONE)] = vec4<u32>(windows, found.events);
    lps[control_row(0u, CONTROL_STATUS)] = vec4<u32>(found.now, u32(found.stopped), found.rounds);
    lps[control_row(0u, CONTROL_REACH)] = vec4<u32>(horizon_span, 0u, 0u);
    lps[control_row(0u, CONTROL_WENT)] = lps[control_row(1u, CONTROL_WENT)];
    // A minimum, not a store: invocations of this dispatch may be recording failures there.
    atomicMin(&words[FAILURE], found.failure);
}
