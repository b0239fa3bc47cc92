// For models that use no table of variates: nothing to fill (random/exponential_table.wgsl).

fn tables_open(lane: u32, lanes: u32) {}
