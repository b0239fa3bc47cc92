// A run alone: what its kernels are told.
//
// Functions: run_begin, run_open.
//
// import: pdes/engine.wgsl
// provides: run, run_begin, run_open
//
// bounds: no array and no loop.

@group(0) @binding(0) var<uniform> run: Run;

// To be called before anything else.
fn run_begin() {}

// To be called before anything of the LP in a row.
fn run_open(row: u32) {}
