// Networks without what `network_special.wgsl` is for: sources at one rate; stations with lines of any order but that of preemption, with loss, patience, balking, polling; delays, routers, sinks; ways that
// take time. The same interpreter, from which compilers leave out the rest: it takes half as long to compile then, and an event three quarters of the time (llvmpipe).
//
// import: facility/network.wgsl

const SPECIAL = false;
const SIMPLE = false;

@group(1) @binding(0) var<uniform> params: Params;
@group(1) @binding(1) var<storage, read> data: array<vec4<u32>>;
