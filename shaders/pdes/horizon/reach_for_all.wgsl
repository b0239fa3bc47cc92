// One horizon for all rows: pdes/horizon/horizon.wgsl. pdes/bounds/neighbours.wgsl has the same
// functions for a horizon of each row.
//
// Functions: bounds_open, arrival_before_bound; those of pdes/window/same_for_all.wgsl.
//
// import: pdes/window/same_for_all.wgsl
// provides: arrival_before_bound, bounds_open
// needs: Horizon, time_less

// No event is sent for an earlier time.
var<private> horizon_promised: vec2<u32>;

fn bounds_open(horizon: Horizon, promised: vec2<u32>) {
    horizon_promised = promised;
}

fn arrival_before_bound(time: vec2<u32>) -> bool {
    return time_less(time, horizon_promised);
}
