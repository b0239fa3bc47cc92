// Networks that need nothing of `network_special.wgsl`: sources of one rate; stations of any
// discipline except preemption and sharing, with loss, patience, balking, polling; delays, routers,
// sinks; routes that take time. Compilers drop the rest of the interpreter, which halves
// compilation.
//
// import: facility/network.wgsl

const SPECIAL = false;
const SIMPLE = false;

@group(1) @binding(0) var<uniform> params: Params;
@group(1) @binding(1) var<storage, read> data: array<vec4<u32>>;
