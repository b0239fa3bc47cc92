// One horizon for all rows: pdes/horizon.wgsl. pdes/neighbours.wgsl has the same functions for a horizon of each.
//
// Functions: bounds_open, horizon_asked, horizon_told, horizon_of, promise_ask, promise_broken, clock_keep.

// Nothing is sent for a time before.
var<private> horizon_promised: vec2<u32>;

fn bounds_open(horizon: Horizon, promised: vec2<u32>) {
    horizon_promised = promised;
}

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

fn promise_broken(time: vec2<u32>) -> bool {
    return time_less(time, horizon_promised);
}

// No window goes beyond the horizon of the one before, so what is sent is checked when it is.
fn clock_keep(row: u32, time: vec2<u32>) -> u32 {
    return 1u;
}
