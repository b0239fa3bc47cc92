// Where the horizon of a window is the same for all rows, nothing is asked of a row.
//
// Functions: horizon_asked, horizon_told, horizon_of, promise_ask, horizon_enough, clock_keep, clock_stands, clock_broken.
//
// provides: clock_broken, clock_keep, clock_stands, horizon_asked, horizon_enough, horizon_of
// provides: horizon_told, promise_ask
// needs: Horizon

fn horizon_of(row: u32, horizon: Horizon) -> Horizon {
    return horizon;
}

fn horizon_asked(row: u32) -> u32 {
    return 0u;
}

fn horizon_told(asked: u32, horizon: Horizon) -> Horizon {
    return horizon;
}

fn promise_ask(row: u32) {}

fn horizon_enough(executed: u32) -> bool {
    return false;
}

// No window goes beyond what others promised in it or the lookahead allows, so what is sent is checked when it is. (But for what was sent in windows of neighbours before.)
fn clock_keep(row: u32, first: vec2<u32>) -> u32 {
    return 1u;
}

fn clock_stands(row: u32, first: vec2<u32>, stands: u32) -> u32 {
    return stands;
}

fn clock_broken(time: vec2<u32>) -> bool {
    return false;
}
