// For models that use no table of variates: nothing to fill (random/exponential_table.wgsl).
//
// provides: tables_open
//
// bounds: nothing is read.

fn tables_open(lane: u32, lanes: u32) {}
