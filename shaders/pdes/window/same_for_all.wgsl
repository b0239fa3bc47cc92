// If the horizon of a window is the same for all rows, rows need no bounds of their own.
//
// Functions: bound_word, bound_of_word, horizon_of, arrival_bound_read, horizon_enough,
// clock_store, clock_stalled, clock_broken.
//
// provides: arrival_bound_read, bound_of_word, bound_word, clock_broken, clock_stalled, clock_store
// provides: horizon_enough, horizon_of
// needs: Horizon

// The window of a row.
fn horizon_of(row: u32, horizon: Horizon) -> Horizon {
    return horizon;
}

// A word to read early; bound_of_word computes the row's window from it.
fn bound_word(row: u32) -> u32 {
    return 0u;
}

fn bound_of_word(asked: u32, horizon: Horizon) -> Horizon {
    return horizon;
}

// Reads how early others may send to a row in this window; arrival_before_bound checks a time
// against it.
fn arrival_bound_read(row: u32) {}

// Whether an LP that has executed this number of events leaves the rest to the next window.
fn horizon_enough(executed: u32) -> bool {
    return false;
}

// Stores how far a row has come that executed events and whose first remaining event is at `first`;
// returns its mark, at least 1. Here events are checked when they are sent: no window exceeds its
// lookahead or bound. (Except for events sent in earlier windows with per-LP bounds.)
fn clock_store(row: u32, first: vec2<u32>) -> u32 {
    return 1u;
}

// The flag STALLED of such a row; `stalls` is its value from budgets at one time.
fn clock_stalled(row: u32, first: vec2<u32>, stalls: u32) -> u32 {
    return stalls;
}

// Whether the row with the open queue has advanced beyond an event at this time.
fn clock_broken(time: vec2<u32>) -> bool {
    return false;
}
