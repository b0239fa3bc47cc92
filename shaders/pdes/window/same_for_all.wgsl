// Where the horizon of a window is the same for all rows, nothing is asked of a row.
//
// Functions: bound_word, bound_of_word, horizon_of, arrival_bound_read, horizon_enough, clock_store, clock_stalled, clock_broken.
//
// provides: arrival_bound_read, bound_of_word, bound_word, clock_broken, clock_stalled, clock_store
// provides: horizon_enough, horizon_of
// needs: Horizon

fn horizon_of(row: u32, horizon: Horizon) -> Horizon {
    return horizon;
}

fn bound_word(row: u32) -> u32 {
    return 0u;
}

fn bound_of_word(asked: u32, horizon: Horizon) -> Horizon {
    return horizon;
}

fn arrival_bound_read(row: u32) {}

fn horizon_enough(executed: u32) -> bool {
    return false;
}

// No window goes beyond what others promised in it or the lookahead allows, so what is sent is checked when it is. (But for what was sent in windows of neighbours before.)
fn clock_store(row: u32, first: vec2<u32>) -> u32 {
    return 1u;
}

fn clock_stalled(row: u32, first: vec2<u32>, stands: u32) -> u32 {
    return stands;
}

fn clock_broken(time: vec2<u32>) -> bool {
    return false;
}
