// One horizon for all rows: pdes/horizon.wgsl. pdes/neighbours.wgsl has the same functions for a horizon of each.
//
// Functions: bounds_open, bounds_left, promise_broken; those of pdes/same_for_all.wgsl.
//
// import: pdes/same_for_all.wgsl

// Nothing is sent for a time before.
var<private> horizon_promised: vec2<u32>;

fn bounds_open(horizon: Horizon, promised: vec2<u32>) -> bool {
    horizon_promised = promised;
    return false;
}

fn bounds_left() -> u32 {
    return 0u;
}

fn promise_broken(time: vec2<u32>) -> bool {
    return time_less(time, horizon_promised);
}
