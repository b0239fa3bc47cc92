// The horizon of each row: its earliest input, from this window's relaxations
// (pdes/bounds/neighbours_relax.wgsl). If they did not converge, it is no later than the earliest
// bound that the last one changed: pending changes are no earlier, nor is what follows from them. A
// row without senders is exempt, and the horizon of all rows is safe in any case. Event-limited
// runs use one horizon for all rows (pdes/horizon/reach_for_all.wgsl).
//
// Functions: bounds_open, bound_word, bound_of_word, horizon_of, arrival_bound_read,
// arrival_before_bound, clock_store, clock_stalled, clock_broken, horizon_enough.
//
// import: pdes/engine.wgsl
// import: pdes/bounds/bounds.wgsl
// provides: arrival_before_bound, arrival_bound_read, bound_of_word, bound_word, bounds_open
// provides: clock_broken, clock_stalled, clock_store, horizon_enough, horizon_of
// needs: Horizon, Payload, event_item, event_time, lp_now, queue_reserved_slot, queue_size, run

// Events of an LP in a window, plus one for each eight that it holds. Few LPs have more, and their
// subgroup would wait for them. An LP without senders is exempt: all others wait for it.
const BOUNDS_ENOUGH = 2u;

var<private> bounds_half: u32;
// When the window begins.
var<private> bounds_now: vec2<u32>;
var<private> bounds_found: bool;
// No bound that further relaxations would change becomes earlier than this.
var<private> bounds_settled: u32;
// Whether the row that is served has senders.
var<private> bounds_hears: bool;
var<private> bounds_promised: vec2<u32>;
// The earliest input of the row that is sent to.
var<private> bounds_asked: u32;

fn bounds_open(horizon: Horizon, promised: vec2<u32>) {
    bounds_promised = promised;
    bounds_now = horizon.now;
    bounds_found = !horizon.stopped & all(run.event_limit == TIME_NEVER);
    units_open();
    if !bounds_found { return; }
    let last = min(lps[control_row(1u, CONTROL_RELAXED)].x, RELAXATIONS - 1u);
    bounds_half = last % 2u;
    bounds_settled = atomicLoad(&words[CHANGES + last]);
}

// The bound of what may arrive at a row.
fn bounds_input(row: u32) -> u32 {
    let input = lps[bounds_row(bounds_half, row)].y;
    return select(min(input, bounds_settled), BOUND_NEVER, input == BOUND_NEVER);
}

fn bound_word(row: u32) -> u32 {
    return bounds_input(row);
}

fn bound_of_word(asked: u32, horizon: Horizon) -> Horizon {
    if !bounds_found { return horizon; }
    bounds_hears = asked != BOUND_NEVER;
    var own = horizon;
    // The horizon of all rows is safe whatever the neighbours may send: rounded bounds can be
    // earlier.
    own.until = time_min(time_max(units_time(asked), horizon.until), run.until);
    return own;
}

fn horizon_of(row: u32, horizon: Horizon) -> Horizon {
    return bound_of_word(bound_word(row), horizon);
}

fn horizon_enough(executed: u32) -> bool {
    return bounds_found & bounds_hears & (executed >= BOUNDS_ENOUGH + queue_size() / 8u);
}

fn arrival_bound_read(row: u32) {
    bounds_asked = bounds_input(row);
}

fn arrival_before_bound(time: vec2<u32>) -> bool {
    return time_less(time, bounds_promised) | (bounds_found & time_less(time, units_time(bounds_asked)));
}

// Stores in the reserved slot of the open queue the time that the row has reached; nothing earlier
// may execute any more. A broken bound shows when the late event is first in its LP, if not when it
// is sent. Returns the mark: rows without senders need no bounds, so they report 1.
fn clock_store(row: u32, first: vec2<u32>) -> u32 {
    let beyond = u32(any(first != lp_now));
    queue_events[queue_reserved_slot()] = event_item(wide_add(lp_now, vec2<u32>(beyond, 0u)), Payload());
    if bounds_found && bounds_input(row) == BOUND_NEVER { return 1u; }
    return max(bits_of(time_since(lp_now, bounds_now)), 1u);
}

// Also STALLED if the budget ended within a time that the row reached in this window; the count of
// windows at that time starts at 0.
fn clock_stalled(row: u32, first: vec2<u32>, stalls: u32) -> u32 {
    if (stalls != 0u) | any(first != lp_now) { return stalls; }
    atomicStore(&words[COUNTS + row], 0u);
    return STALLED;
}

fn clock_broken(time: vec2<u32>) -> bool {
    return time_less(time, event_time(queue_events[queue_reserved_slot()]));
}
