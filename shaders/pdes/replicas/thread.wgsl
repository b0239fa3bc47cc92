// Replicas by threads: an invocation serves a run event by event, as the sequential engine
// (src/pdes/sequential/engine.rs) does. All pending events are in one queue
// (pdes/replicas/thread_queue.wgsl), without windows or mailboxes.
// With a lookahead, the queue's order suffices, and a "window" is the run up to its end. Without
// one, windows are the rounds of a time: events sent for the present time are held back until the
// round is over, and so are an LP's events of that time beyond its budget. Mostly a round is one
// event that sends one for the next round, which executes at once and never enters the queue.
//
//   lps   as usual, without partials. Without a lookahead, a row begins with the last round that
//         its LP recorded (2), its events in that round (at most budget + 1) and rounds in a row
//         above the budget. The LP of a round's first event records nothing while that is the only
//         event and no LP was put off in the round before
//
// A dispatch ends when a replica has stopped, or after run.part.slice steps: events executed or put
// off.
//
// import: pdes/model.wgsl
// import: pdes/memory/lp_memory.wgsl
// import: pdes/results/fingerprint.wgsl
// import: pdes/replicas/scheduled_lp.wgsl
// import: pdes/replicas/thread_queue.wgsl
// provides: keys_found, schedule
// needs: Item, Payload, REPLICA_DONE, REPLICA_POINT, REPLICA_SAVED, REPLICA_STATUS, STOP_FAILED
// needs: STOP_NOT, State, WITH_ROUNDS, event_item, event_time, handle, item_event, keys_fetch
// needs: keys_get, keys_keep, keys_set, replica_failed, replica_leave, replica_open, replica_row
// needs: replica_stop, run, shared_run

// The first event that the present one scheduled; it replaces the present one in the queue.
var<private> next_any: bool;
var<private> next_lp: u32;
var<private> next_event: Item;
// Whether a slot is free for another event, because the present event was never in the queue and
// has no slot for the first one.
var<private> next_spare: bool;
// The first event scheduled for another LP at the present time; it counts as held back.
var<private> soon_any: bool;
var<private> soon_lp: u32;
var<private> soon_event: Item;

fn schedule(lp: u32, time: vec2<u32>, payload: Payload) {
    let from_lp = lp_row - first_row;
    let to = scheduled_lp(from_lp, lp, time);
    let event = event_item(time, payload);
    let later = WITH_ROUNDS & (to != from_lp) & all(time == lp_now);
    if !next_any & !later {
        next_any = true;
        next_lp = to;
        next_event = event;
        return;
    }
    // An event that fits into the queue on its own fits here, too, so that the end of a slice makes
    // no difference.
    let spare = next_spare & !later;
    next_spare = next_spare & later;
    let needed = keys_needed(later | soon_any) + u32(soon_any) + u32(next_spare);
    if !spare & (needed > run.queue_capacity) {
        // Only if the event itself is valid.
        if lp_wrong == 0u { fail_room(lp_row, QUEUE_FULL, QUEUE_NEEDED, needed); }
        return;
    }
    if !later {
        keys_push(to, event);
    } else if soon_any {
        keys_hold(to, event);
    } else {
        soon_any = true;
        soon_lp = to;
        soon_event = event;
    }
}

// The row of the round's first event while it is unrecorded, or NO_ROW.
var<private> noted: u32;

fn round_note(windows: vec2<u32>) {
    if noted != NO_ROW { lps[noted] = vec4<u32>(windows, 1u, 0u); }
    noted = NO_ROW;
}

// Whether an LP may execute another event in the present round, which it records. An LP that may
// not in too many rounds in a row does not advance in time.
fn round_allows(row: u32, windows: vec2<u32>) -> bool {
    round_note(windows);
    let kept = lps[row];
    if any(kept.xy != windows) {
        let stalled = all(wide_add(kept.xy, vec2<u32>(1u, 0u)) == windows) & (kept.z > run.budget);
        lps[row] = vec4<u32>(windows, 1u, select(0u, kept.w, stalled));
        return true;
    }
    if kept.z < run.budget {
        lps[row] = vec4<u32>(windows, kept.z + 1u, kept.w);
        return true;
    }
    if kept.z == run.budget {
        lps[row] = vec4<u32>(windows, run.budget + 1u, kept.w + 1u);
        if (kept.w + 1u) * run.budget > PATIENCE { fail(row, STUCK); }
    }
    return false;
}

// The first event, and its LP's data: read as soon as it is known, because of the latency.
// The first LP of the replica.
var<private> first_row: u32;
var<private> first_key: vec4<u32>;
var<private> first_event: Item;
var<private> first_counts: vec4<u32>;
var<private> first_state: State;

fn keys_found(key: vec4<u32>) {
    first_key = key;
    // A free key has arbitrary data, which is not used; reading it costs less than a branch. (See
    // keys_sink.)
    let row = first_row + key.z;
    first_event = store[keys_pool + key.w];
    first_counts = lps[run.rows + row];
    first_state = states_get(row);
}

// Executes the first event; its sends are in next_any, next_lp and next_event, and in soon_any,
// soon_lp and soon_event.
fn execute_first() {
    let key = first_key;
    let row = first_row + key.z;
    var state = first_state;
    let number = wide_add(first_counts.xy, vec2<u32>(1u, 0u));
    let digest = wide_add(first_counts.zw, digest_event(digest_begin(DIGEST_EXECUTED, key.z), first_event));
    lp_row = row;
    lp_now = key.xy;
    stream_open(run.seed, key.z, number);
    handle(key.z, item_event(first_event), &state);
    // Before the next event is read, which may be of the same LP.
    states_set(row, state);
    lps[run.rows + row] = vec4<u32>(number, digest);
}

@compute @workgroup_size(GROUP_SIZE)
fn thread(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    // Runs for each workgroup: as few as serve all runs, at most GROUP_SIZE.
    let together = (shared_run.groups + groups.x - 1u) / groups.x;
    let place = id.x * together + lane;
    if lane >= together || place >= shared_run.groups { return; }
    let status = lps[replica_row(place, REPLICA_STATUS)];
    if status.z != STOP_NOT { return; }
    replica_open(place);
    let point = lps[replica_row(place, REPLICA_POINT)];
    let done = lps[replica_row(place, REPLICA_DONE)];
    let saved = lps[replica_row(place, REPLICA_SAVED)];
    keys_open(place, saved.x, saved.y);
    keys_fetch(lane);
    first_row = place * shared_run.total;
    var until = saved.zw;
    var windows = done.xy;
    var events = done.zw;
    var rounds = status.w;
    // The LP and the time of the last event, and the number of such events in a row.
    var last = vec3<u32>(status.xy, point.w);
    var same = point.z;
    var executed = 0u;
    var stop = STOP_NOT;
    failed = replica_failed();
    let rounds_matter = WITH_ROUNDS & all(run.lookahead == TIME_ZERO);
    // Rounds to begin until it is sure that no LP was put off in the round before. (That is unknown
    // of the last slice.)
    var put_off = 2u;
    noted = NO_ROW;
    // The key to sink from the root: at first the root's own, or a free one without events. Kept
    // for the next iteration, so that the kernel contains the sinking once.
    var sinks = keys_get(0u);
    // Bound: run.part.slice.
    for (var step = 0u; true; step += 1u) {
        var again = false;
        // One branch for both.
        if (WITH_ROUNDS & (keys_held > 0u)) | (step >= shared_run.part.slice) {
            if step >= shared_run.part.slice { break; }
            // If nothing is left of this round, the events held back are the next one.
            again = !time_less(keys_earliest(sinks).xy, until);
            if again { sinks = keys_release(sinks); }
        }
        keys_sink(sinks);
        // Whether this is the first event of a round, and no LP needs a record.
        var alone = false;
        if !time_less(first_key.xy, until) | again {
            // A window is over.
            let key = first_key;
            stop = select(replica_stop(key.xy, events), STOP_FAILED, failed);
            if stop != STOP_NOT { break; }
            windows = wide_add(windows, vec2<u32>(1u, 0u));
            rounds = select(0u, rounds, again) + 1u;
            until = shared_run.until;
            if rounds_matter { until = time_min(time_add(key.xy, run.epoch_length), until); }
            put_off = max(put_off, 1u) - 1u;
            alone = put_off == 0u;
            if rounds > ROUNDS { fail(first_row + key.z, CYCLE); }
        }
        if rounds_matter {
            let key = first_key;
            let row = first_row + key.z;
            if alone {
                noted = row;
            } else if !round_allows(row, windows) {
                put_off = 2u;
                // The margin that sinking reads.
                let needed = keys_length + keys_held + 3u;
                if needed > run.queue_capacity {
                    fail_room(row, QUEUE_FULL, QUEUE_NEEDED, needed);
                    until = TIME_ZERO;
                    sinks = key;
                } else {
                    sinks = keys_postpone(key);
                }
                continue;
            }
        }
        // The first event, and then its send for the next round, as long as that is the only event.
        next_any = false;
        var from_root = true;
        var empty = false;
        // Bound: run.part.slice.
        while true {
            soon_any = false;
            next_spare = !from_root;
            execute_first();
            if from_root {
                sinks = keys_next(first_key.w, next_any, next_lp, next_event);
            } else if empty & (keys_length > 0u) {
                sinks = keys_get(0u);
            }
            let at_one_time = select(0u, same, all(first_key.xyz == last)) + 1u;
            // One branch for all rare cases.
            if failed | (lp_wrong != 0u) | (at_one_time > PATIENCE) {
                record_failure();
                if at_one_time > PATIENCE { fail(first_row + first_key.z, STUCK); }
                // The replica is rerun to report its failure (src/pdes/run/replicas/driver.rs).
                until = TIME_ZERO;
            }
            executed += 1u;
            events = wide_add(events, vec2<u32>(1u, 0u));
            same = at_one_time;
            last = first_key.xyz;
            if !WITH_ROUNDS | !soon_any { break; }
            if failed | (keys_held > 0u) | (step + 1u >= shared_run.part.slice) | time_less(keys_earliest(sinks).xy, until) {
                keys_hold(soon_lp, soon_event);
                break;
            }
            // The next round. It ends with the present tick (an epoch is a tick long), and no run
            // ends within a tick (threads have no event limits).
            step += 1u;
            windows = wide_add(windows, vec2<u32>(1u, 0u));
            rounds += 1u;
            put_off = max(put_off, 1u) - 1u;
            let row = first_row + soon_lp;
            if rounds > ROUNDS { fail(row, CYCLE); }
            // No LP was put off: its event would be held back.
            noted = row;
            // It has no key that another could replace.
            next_any = true;
            from_root = false;
            empty = keys_length == 0u;
            first_key = vec4<u32>(event_time(soon_event), soon_lp, 0u);
            first_event = soon_event;
            first_counts = lps[run.rows + row];
            first_state = states_get(row);
        }
    }
    round_note(windows);
    if loops_cut(shared_run.rows) {
        fail(first_row + last.z, LOOPS_CUT);
        stop = STOP_FAILED;
    }
    var first = first_key.xyz;
    if stop == STOP_NOT {
        // It sinks in the next slice.
        keys_set(0u, sinks);
        first = keys_earliest(sinks).xyz;
    }
    keys_keep();
    if any(first != last) { same = 0u; }
    // Without a first event, there is no LP.
    let first_lp = select(first.z, 0u, all(first.xy == TIME_NEVER));
    lps[replica_row(place, REPLICA_POINT)] = vec4<u32>(point.xy, same, first_lp);
    replica_leave(
        place,
        vec4<u32>(windows, events),
        vec4<u32>(first.xy, stop, rounds),
        vec4<u32>(keys_length, keys_held, until),
        executed,
    );
}
