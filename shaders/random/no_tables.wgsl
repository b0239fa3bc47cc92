// For models without a table of variates (random/exponential_table.wgsl): `tables_open` does
// nothing.
//
// provides: tables_open
//
// bounds: no buffer is read.

fn tables_open(lane: u32, lanes: u32) {}
