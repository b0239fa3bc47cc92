// The parameters of a single run.
//
// Functions: run_begin, run_open.
//
// import: pdes/engine.wgsl
// provides: run, run_begin, run_open
//
// bounds: no array and no loop.

@group(0) @binding(0) var<uniform> run: Run;

// Call it before anything else.
fn run_begin() {}

// Call it before anything of the LP in a row.
fn run_open(row: u32) {}
