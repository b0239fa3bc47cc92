// Replicas by local teams with event-horizon windows (Steinman's breathing time buckets). Read
// pdes/replicas/team_local.wgsl first. For models with a lookahead whose YAWNS windows are nearly
// empty, because an empty window takes as long as a full one.
//
// In a window each LP executes its first event on a copy of its state, and its sends wait. It sends
// nothing to others before its bound: the earliest send of this event, or the lookahead after its
// next event. The earliest bound is the horizon (local_keys, up to the first barrier). No event
// arrives before it, so events before it were right: their states and sends are stored. The others
// are discarded and executed again.
// `base` is a time that no pending event is before. Words are times after `base`, rounded down, so
// an order that they show is true; they become exact as `base` advances.
// An event cannot be followed if it breaks a rule, schedules more than AHEAD_SENDS events, writes
// more LP memory than speculation can store, or is one of very many at one time. If it is certainly
// next, the slice ends with HALTED, and one of team_local.wgsl follows. So only missing room fails
// here.
//
// import: pdes/model.wgsl
// import: pdes/memory/lp_memory_speculative.wgsl
// import: pdes/results/fingerprint.wgsl
// import: pdes/replicas/team_local_pool.wgsl
// import: pdes/replicas/team_local_slice.wgsl
// import: pdes/replicas/scheduled_lp.wgsl
// provides: dry_ends, schedule
// needs: HALTED, Item, Payload, STOP_FAILED, STOP_NOT, State, event_item, event_time, handle
// needs: item_event, replica_stop, run, shared_run, slot_next, slot_put, slots_barrier

// A length of time as a word: its 26 highest binary places, and the number of places below them. An
// earlier time never has a greater word.
const KEY_FAILED = 0u;
const KEY_HALTED = 1u;
const KEY_FIRST = 2u;
const KEY_LAST = 0xfffffffeu;
const KEY_NEVER = 0xffffffffu;
const KEY_BITS = 26u;

fn ahead_key(since: vec2<u32>) -> u32 {
    let bits = select(64u - countLeadingZeros(since.y), 32u - countLeadingZeros(since.x), since.y == 0u);
    let below = max(bits, KEY_BITS) - KEY_BITS;
    // In two steps, because a word cannot be shifted by 32.
    let low = (since.x >> below) | ((since.y << 1u) << (31u - below));
    let places = select(low, since.y >> (below & 31u), below >= 32u);
    return KEY_FIRST + (below << KEY_BITS) + places;
}

// The shortest time with this word.
fn key_time(key: u32) -> vec2<u32> {
    let below = (key - KEY_FIRST) >> KEY_BITS;
    let places = (key - KEY_FIRST) & ((1u << KEY_BITS) - 1u);
    if below >= 32u { return vec2<u32>(0u, places << (below & 31u)); }
    return vec2<u32>(places << below, (places >> 1u) >> (31u - below));
}

// By team, and by the parity of the window: one is in use while the next is reset.
var<workgroup> local_keys: array<atomic<u32>, 2u * TEAMS>;
// By the parity of groups of AT_ONCE windows: whether any team continues.
var<workgroup> local_going: array<atomic<u32>, 2>;

// Windows between two checks whether any team continues.
const AT_ONCE = 4u;

// Events that one event may schedule.
const AHEAD_SENDS = 8u;

struct AheadSend {
    to: u32,
    event: Item,
}

// Events that the present event has scheduled. The first is separate: in most models it is the only
// one.
var<private> ahead_first: AheadSend;
var<private> ahead_others: array<AheadSend, AHEAD_SENDS - 1u>;
var<private> ahead_count: u32;
// Nothing is sent to others before this time.
var<private> ahead_promise: vec2<u32>;
// More LP memory was written than speculation can store.
var<private> dry_ends: bool;

// The LP of this invocation.
var<private> own_lp: u32;
// The earliest time sent in this window.
var<private> own_sent: vec2<u32>;

fn schedule(lp: u32, time: vec2<u32>, payload: Payload) {
    let to = scheduled_lp(own_lp, lp, time);
    let send = AheadSend(to, event_item(time, payload));
    if ahead_count == 0u {
        ahead_first = send;
    } else {
        ahead_others[min(ahead_count - 1u, AHEAD_SENDS - 2u)] = send;
    }
    ahead_count += 1u;
    // An event for the LP itself may send after the lookahead.
    ahead_promise = time_min(ahead_promise, select(time, time_add(time, run.lookahead), to == own_lp));
}

// Puts an event into the destination's inbox for the next window.
fn ahead_send(send: AheadSend) {
    let slot = pool_take();
    if slot == NONE {
        fail_room(lp_row, QUEUE_FULL, QUEUE_NEEDED, POOL + 1u);
        return;
    }
    slot_put(slot, send.event);
    pool_send(send.to, slot);
    own_sent = time_min(own_sent, event_time(send.event));
}

@compute @workgroup_size(GROUP_SIZE)
fn local_horizon(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let here = local_open(id.x, lane);
    let team = here.team;
    let member = here.member;
    let row = here.row;
    if lane == 0u {
        atomicStore(&local_going[0], 0u);
        atomicStore(&local_going[1], 0u);
    }
    if member == 0u { atomicStore(&local_keys[2u * team], KEY_NEVER); }
    if !local_enter(here) { return; }
    own_lp = member;
    own_sent = TIME_NEVER;
    var own = local_fetch(here);
    var state: State;
    if here.serves { state = states_get(row); }
    workgroupBarrier();
    let begun = digest_begin(DIGEST_EXECUTED, member);
    var base = here.status.xy;
    var halted = !here.entered;
    var stop = here.status.z;
    var windows = 0u;
    var executed_here = 0u;
    // The time of the last event executed in this slice, and the number of later events at the same
    // time.
    var last = TIME_NEVER;
    var still = 0u;
    var turn = 0u;
    var asked = 1u;
    // Bound: run.part.slice.
    for (var step = 0u; step < shared_run.part.slice; step += AT_ONCE) {
        for (var each = 0u; each < AT_ONCE; each += 1u) {
            // Without a branch in small teams, as in pdes/replicas/team_local.wgsl.
            if (member == 0u) | (LISTS <= 32u) { atomicStore(&local_keys[2u * team + 1u - turn], KEY_NEVER); }
            let runs = here.serves & !halted;
            var next = state;
            var follows = false;
            var tries = false;
            var first = TIME_NEVER;
            var key = KEY_NEVER;
            var after = NONE;
            var behind: Item;
            if runs {
                // No invocation takes or gives slots before the barrier.
                pool_given = u32(atomicLoad(&pool_lean[team]) > 0);
                own_collect(member);
                first = own_time();
                tries = time_less(first, shared_run.until);
            }
            if tries {
                key = ahead_key(wide_subtract(first, base));
                after = slot_next(own_first);
                behind = pool_event(after);
                ahead_count = 0u;
                ahead_promise = select(time_add(event_time(behind), run.lookahead), TIME_NEVER, after == NONE);
                dry_ends = false;
                speculation_memory_open();
                lp_now = first;
                stream_open(run.seed, member, wide_add(own.number, vec2<u32>(1u, 0u)));
                handle(member, item_event(own_event), &next);
                follows = (lp_wrong == 0u) & (ahead_count <= AHEAD_SENDS) & !dry_ends & (still < run.budget);
                lp_wrong = 0u;
                let promise = select(time_add(first, run.lookahead), ahead_promise, follows);
                var bound = select(ahead_key(wide_subtract(promise, base)), KEY_LAST, all(promise == TIME_NEVER));
                // An event before `base` + lookahead is certainly next.
                if !follows & time_less(wide_subtract(first, base), run.lookahead) { bound = KEY_HALTED; }
                atomicMin(&local_keys[2u * team + turn], bound);
            }
            workgroupBarrier();
            let horizon = atomicLoad(&local_keys[2u * team + turn]);
            own_sent = TIME_NEVER;
            if tries & follows & (key < horizon) {
                own.number = wide_add(own.number, vec2<u32>(1u, 0u));
                own.digest = wide_add(own.digest, digest_event(begun, own_event));
                executed_here += 1u;
                state = next;
                still = select(0u, still + 1u, all(first == last));
                own.stalls = select(0u, own.stalls, all(first == last) | all(last == TIME_NEVER));
                last = first;
                speculation_memory_store();
                own_spare = own_first;
                own_first = after;
                own_event = behind;
                if ahead_count > 0u { ahead_send(ahead_first); }
                for (var i = 1u; i < ahead_count; i += 1u) {
                    ahead_send(ahead_others[i - 1u]);
                }
                if own_spare != NONE {
                    pool_give(own_spare);
                    own_spare = NONE;
                }
                if failed { atomicMin(&local_keys[2u * team + 1u - turn], KEY_FAILED); }
            }
            // Nothing is left before the end, or the slice must end.
            if !halted & ((horizon < KEY_FIRST) | (horizon == KEY_NEVER)) {
                halted = true;
                if horizon == KEY_FAILED { stop = STOP_FAILED; }
                if (horizon == KEY_HALTED) & (member == 0u) { atomicMax(&words[HALTED], 1u); }
            }
            if !halted {
                run.part.parity = 1u - run.part.parity;
                windows += 1u;
                // Every pending event is after the horizon, or the next event of an LP, at most the
                // lookahead before it.
                if horizon != KEY_LAST {
                    base = wide_add(base, time_since(key_time(horizon), run.lookahead));
                } else {
                    // No bound is before TIME_NEVER.
                    let reached = time_since(TIME_NEVER, run.lookahead);
                    base = select(base, reached, time_less(base, reached));
                }
            }
            turn = 1u - turn;
            slots_barrier();
            workgroupBarrier();
        }
        if !halted { atomicStore(&local_going[asked], 1u); }
        let going = workgroupUniformLoad(&local_going[asked]);
        asked = 1u - asked;
        if lane == 0u { atomicStore(&local_going[asked], 0u); }
        if going == 0u { break; }
    }
    // A pending event is in its LP's list, or was sent in the last window.
    let pending = time_min(own_time(), own_sent);
    for (var step = FAR_HIGH; step <= FAR_LOW; step += 1u) {
        if here.serves { far_step(step, team, 0u, member, pending); }
        workgroupBarrier();
    }
    let now = far_time(team, 0u);
    if stop == STOP_NOT { stop = replica_stop(now, vec2<u32>(0u)); }
    if loops_cut(shared_run.rows) && here.entered {
        fail(row, LOOPS_CUT);
        stop = STOP_FAILED;
    }
    atomicAdd(&local_executed[team], executed_here);
    workgroupBarrier();
    if here.entered { local_store(here, own, state, windows, now, stop, 0u); }
}
