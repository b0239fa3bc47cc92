// Speculative execution of an LP: its pending events in order, on a copy of its state. Of what they
// schedule, only the earliest time for another LP is kept. Nothing is stored, and nothing fails: an
// event that would fail ends speculation before it, so that the window finds the failure.
//
// The result is a time before which the LP sends nothing, unless something arrives, and the number
// of events that it executes before that time. Speculation may stop at any event; then its time is
// the result. It stops at the caller's time, because nothing later matters to the horizon.
//
// One invocation serves one LP. The queue is open; scanning it (queue_scan_*) does not change it.
//
// Functions: speculate, speculation_reset, schedule (the model's).
//
// import: pdes/model.wgsl
// import: pdes/memory/lp_memory_speculative.wgsl
// provides: dry_ends, schedule, speculate, speculation_reset
// needs: Item, Payload, State, event_before, event_item, event_time, handle, item_event
// needs: queue_scan_more, queue_scan_next, queue_scan_open, queue_size, run

// Events of an LP that are executed speculatively at most.
override DRY_EVENTS: u32 = 16u;
// Events scheduled for the LP itself that can be pending at once.
const DRY_OWN = 8u;

// The present event, or one that it scheduled, cannot be followed.
var<private> dry_ends: bool;
// The earliest time that was scheduled for another LP.
var<private> speculate_earliest: vec2<u32>;
// Events scheduled for the LP itself and not executed yet, the earliest last.
var<private> dry_own: array<Item, DRY_OWN>;
var<private> dry_own_count: u32;

struct Speculation {
    earliest: vec2<u32>,
    events: u32,
    // Whether it stopped at `reach`.
    reached: bool,
}

// Executes speculatively the events before `reach` of a row with this state that has executed this
// number of events.
fn speculate(row: u32, executed: vec2<u32>, begun: State, reach: vec2<u32>) -> Speculation {
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
    // The first held event that was not executed, if any.
    var some = queue_scan_more();
    if some {
        held = queue_scan_next();
        scanned = 1u;
    }
    var before = TIME_ZERO;
    var events = 0u;
    // No more than a window executes: event-limited runs must not end within an LP's events before
    // the horizon.
    let most = min(DRY_EVENTS, run.budget);
    // Bound: DRY_EVENTS.
    while true {
        // The scan has ended early. Held events that it did not reach are not before the last one
        // that it did; they may be before everything else.
        if !some && scanned < queue_size() { return Speculation(time_min(speculate_earliest, before), events, false); }
        let own = dry_own_count > 0u && (!some || event_before(dry_own[dry_own_count - 1u], held));
        if !own && !some { break; }
        var event = held;
        if own { event = dry_own[dry_own_count - 1u]; }
        let time = event_time(event);
        if !time_less(time, speculate_earliest) { break; }
        let reached = !time_less(time, reach);
        if reached || events == most { return Speculation(time, events, reached); }
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
        // The result is the time of this event; nothing that it has sent counts.
        if dry_ends { return Speculation(time, events - 1u, false); }
    }
    return Speculation(speculate_earliest, events, false);
}

// Discards the speculative writes to LP memory.
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

// Stores an event for the LP itself.
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
