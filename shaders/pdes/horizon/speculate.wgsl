// The dry run of an LP: its pending events in order, on a copy of its state, and of what they schedule only the earliest time of an event for
// another LP. Nothing of it stays, and nothing fails: what would, ends the dry run before that event, so that the window finds it.
//
// What comes out is a time before which the LP sends nothing, unless something arrives, and how many events it executes before that time. A dry run
// may end anywhere: then it is the time of the event at which it ended. It ends with the first event that is not before a time that
// the caller gives, because it is of no use to know more than the horizon needs.
//
// One invocation serves one LP. The scan of a queue (queue_scan_*) leaves it as it is.
//
// Functions: speculate, speculation_reset, schedule (the model's).
//
// import: pdes/model.wgsl
// import: pdes/memory/lp_memory_speculative.wgsl
// provides: dry_ends, schedule, speculate, speculation_reset
// needs: Item, Payload, State, event_before, event_item, event_time, handle, item_event
// needs: queue_scan_more, queue_scan_next, queue_scan_open, queue_size, run
//
// The queue is open.

// Events of an LP that are run dry at the most.
override DRY_EVENTS: u32 = 16u;
// Events that it has scheduled for itself, at a time.
const DRY_OWN = 8u;

// The present event, or what it scheduled, could not be followed.
var<private> dry_ends: bool;
// The earliest time that was scheduled for another LP.
var<private> speculate_earliest: vec2<u32>;
// What it scheduled for itself and has not executed: the earliest is the last.
var<private> dry_own: array<Item, DRY_OWN>;
var<private> dry_own_count: u32;

struct DryRun {
    earliest: vec2<u32>,
    events: u32,
    // Whether it ended with `reach`.
    reached: bool,
}

// Runs the events of a row dry that are before a time: a row that has executed so many, and has this state.
fn speculate(row: u32, executed: vec2<u32>, begun: State, reach: vec2<u32>) -> DryRun {
    let name = name_of(row);
    var number = executed;
    var state = begun;
    lp_row = row;
    dry_ends = false;
    speculate_earliest = TIME_NEVER;
    dry_own_count = 0u;
    speculation_memory_open();
    queue_scan_open();
    var held: Item;
    var scanned = 0u;
    // The first event that is held and not run dry, if any.
    var some = queue_scan_more();
    if some {
        held = queue_scan_next();
        scanned = 1u;
    }
    var before = TIME_ZERO;
    var events = 0u;
    // No more than a window executes: in runs that end by a number of events, none may end within an LP's events before the horizon.
    let most = min(DRY_EVENTS, run.budget);
    // Bound: DRY_EVENTS.
    while true {
        // What is held and could not be told of is not before the last that was; it may be before everything else.
        if !some && scanned < queue_size() { return DryRun(time_min(speculate_earliest, before), events, false); }
        let own = dry_own_count > 0u && (!some || event_before(dry_own[dry_own_count - 1u], held));
        if !own && !some { break; }
        var event = held;
        if own { event = dry_own[dry_own_count - 1u]; }
        let time = event_time(event);
        if !time_less(time, speculate_earliest) { break; }
        let reached = !time_less(time, reach);
        if reached || events == most { return DryRun(time, events, reached); }
        if own {
            dry_own_count -= 1u;
        } else {
            before = time;
            some = queue_scan_more();
            if some {
                held = queue_scan_next();
                scanned += 1u;
            }
        }
        events += 1u;
        number = wide_add(number, vec2<u32>(1u, 0u));
        lp_now = time;
        stream_open(run.seed, name, number);
        handle(name, item_event(event), &state);
        // Before what it has sent, and nothing of it counts.
        if dry_ends { return DryRun(time, events - 1u, false); }
    }
    return DryRun(speculate_earliest, events, false);
}

// What the dry run wrote in LP memory is read no more.
fn speculation_reset() {
    speculation_memory_open();
}

fn schedule(lp: u32, time: vec2<u32>, payload: Payload) {
    let row = row_at(lp);
    if lp - run.lowest >= run.addresses || all(time == TIME_NEVER) {
        dry_ends = true;
    } else if row == lp_row {
        speculation_store(event_item(time, payload));
    } else if time_less(time, time_add(lp_now, run.lookahead)) {
        dry_ends = true;
    } else {
        speculate_earliest = time_min(speculate_earliest, time);
    }
}

// Takes in an event for the LP itself.
fn speculation_store(event: Item) {
    if (dry_own_count == DRY_OWN) | time_less(event_time(event), lp_now) {
        dry_ends = true;
        return;
    }
    var place = dry_own_count;
    // Bound: DRY_OWN.
    while place > 0u && event_before(dry_own[place - 1u], event) {
        dry_own[place] = dry_own[place - 1u];
        place -= 1u;
    }
    dry_own[place] = event;
    dry_own_count += 1u;
}
