// A horizon for each row: its earliest input, from the relaxations of this window (pdes/bounds/neighbours_relax.wgsl). Where they have not come to an end,
// it is (but where nobody sends to it, or the horizon of all is later) no later than the earliest bound that the last of them changed: what others have still to hear is no earlier, and what they will make of it, too. In runs that end by
// a number of events, the horizon is the same for all (pdes/horizon/reach_for_all.wgsl has the same functions for that).
//
// Functions: bounds_open, bound_word, bound_of_word, horizon_of, arrival_bound_read, arrival_before_bound, clock_store, clock_stalled, clock_broken, horizon_enough.
//
// import: pdes/engine.wgsl
// import: pdes/bounds/bounds.wgsl
// provides: arrival_before_bound, arrival_bound_read, bound_of_word, bound_word, bounds_open
// provides: clock_broken, clock_stalled, clock_store, horizon_enough, horizon_of
// needs: Horizon, Payload, event_item, event_time, lp_now, queue_reserved_slot, queue_size, run

// So many events of an LP are enough for a window, and one more for each eight that it holds. Few LPs have more before their horizons, and all others of a subgroup would wait for them; in this window what comes of what they leave
// is later than their neighbours' horizons anyway. But whoever hears from nobody goes on: all others hear from him. (Windows of a torus of 262,144 stations with a customer each hold 1.7 % fewer events and take 6 % less time, with four customers 6 % fewer
// and 7 % less: H200. With one, 16 % fewer, counted.)
const BOUNDS_ENOUGH = 2u;

var<private> bounds_half: u32;
// When the window begins.
var<private> bounds_now: vec2<u32>;
var<private> bounds_found: bool;
// No bound that relaxations would still change becomes earlier than this.
var<private> bounds_settled: u32;
// Whether anybody sends to the row that is served.
var<private> bounds_hears: bool;
var<private> bounds_promised: vec2<u32>;
// The bound of what may arrive at the row that something is sent to.
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
    // What the horizon of all allows is safe, whatever the neighbours may: rounded bounds can be earlier.
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

// Beside its queue, which is open: the time up to which the row has come. Nothing that is earlier may be executed any more. Windows execute what is before all that may arrive; so if somebody's
// answer, or another promise, was not kept, that shows when what was too late is the first of its LP. It need not have shown when it was sent: bounds of a later window know better, and by then
// the sender knew of what it had not expected. Where a budget ended within a time, what the LP holds for that time may still be executed, and pdes/bounds/answers.wgsl looks for what arrives. Where nobody sends to
// a row, how far it goes needs no bounds.
fn clock_store(row: u32, first: vec2<u32>) -> u32 {
    let beyond = u32(any(first != lp_now));
    queue_events[queue_reserved_slot()] = event_item(wide_add(lp_now, vec2<u32>(beyond, 0u)), Payload());
    if bounds_found && bounds_input(row) == BOUND_NEVER { return 1u; }
    return max(bits_of(time_since(lp_now, bounds_now)), 1u);
}

// Also where the budget ended within a time to which the row came in this window: that is the first of which it counts windows.
fn clock_stalled(row: u32, first: vec2<u32>, stands: u32) -> u32 {
    if (stands != 0u) | any(first != lp_now) { return stands; }
    atomicStore(&words[COUNTS + row], 0u);
    return STALLED;
}

fn clock_broken(time: vec2<u32>) -> bool {
    return time_less(time, event_time(queue_events[queue_reserved_slot()]));
}
