// One horizon for all rows: pdes/horizon.wgsl. pdes/neighbours.wgsl has the same functions for a horizon of each.
//
// Functions: bounds_open, horizon_of, promised_to, clock_keep.

// Nothing is sent for a time before.
var<private> horizon_promised: vec2<u32>;

fn bounds_open(horizon: Horizon, promised: vec2<u32>) {
    horizon_promised = promised;
}

fn horizon_of(row: u32, horizon: Horizon) -> Horizon {
    return horizon;
}

fn promised_to(row: u32) -> vec2<u32> {
    return horizon_promised;
}

// No window goes beyond the horizon of the one before, so what is sent is checked when it is.
fn clock_keep(row: u32, time: vec2<u32>) -> u32 {
    return 1u;
}
