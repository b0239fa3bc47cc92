// A model without parameters: pdes/replicas/params_of_replica.wgsl has the same function.
//
// Functions: params_open.
//
// provides: params_open

fn params_open(point: u32) {}
