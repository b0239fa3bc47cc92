// Synchronise: the event horizon (Steinman's breathing time buckets). The earliest time that any LP sends to another one bounds what can still
// appear: no event for another LP can come before it, so all that is pending before it may be executed, and none is ever undone. No lookahead
// is needed for that.
//
// A window is two dispatches, and so is what YAWNS (pdes/window/yawns.wgsl) calls a pair: the first, of parity 0, takes in the mails and finds
// the horizon (pdes/horizon/horizon_look.wgsl); the second, of parity 1 and linked with this file, executes. Between calls all is as YAWNS
// leaves it, so that runs change from one to the other.
//
// Whatever the horizon, the cell of the first event may be executed: what YAWNS would do, or without a lookahead a round. That is done
// where the horizon is no later, and where the run might come to its number of events: such a run ends with a cell.
//
// import: pdes/engine.wgsl
// import: pdes/window/epochs.wgsl
// import: pdes/window/partials.wgsl
// import: pdes/queues/queue_windows.wgsl
// provides: leave, message_count, synchronise
// needs: bounds_open, run

// How far from the first event the next window's reach is.
var<private> horizon_span: vec2<u32>;

// The first dispatch took them in.
fn message_count(row: u32) -> u32 {
    return 0u;
}

// To be called by all invocations of the workgroup.
fn synchronise(lane: u32) -> Horizon {
    let read = left_read(lane);
    let done = lps[control_row(1u, CONTROL_DONE)];
    let status = lps[control_row(1u, CONTROL_STATUS)];
    let span = lps[control_row(1u, CONTROL_REACH)].xy;
    let failure = atomicLoad(&words[FAILURE + 1u]);
    let last = left_by_all(lane, read);
    // What all LPs send to others is no earlier.
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
        // A budget ends cells, too, and what it leaves must be the same.
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

// The span of the next window, where this one's was `span`.
fn next_span(span: vec2<u32>, now: vec2<u32>, horizon: vec2<u32>) -> vec2<u32> {
    let twice = time_add(span, span);
    if !time_less(horizon, time_add(now, span)) { return select(twice, run.cell, wide_less(twice, run.cell)); }
    // Windows differ: it becomes shorter by and by.
    let shorter = wide_subtract(span, vec2<u32>((span.x >> 3u) | (span.y << 29u), span.y >> 3u));
    let length = time_since(horizon, now);
    let enough = time_add(length, length);
    return select(shorter, enough, wide_less(shorter, enough));
}

// What the next window needs to know, from one invocation of workgroup `group`; `left` is what its LPs left.
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
    // Not a store: invocations of this dispatch may be recording failures there.
    atomicMin(&words[FAILURE], found.failure);
}
