// Networks with all features: rates and servers that change, breakdowns, preemption, shared
// servers, blocking, shortest lines, forks, recorded distributions, traced customers.
//
// import: facility/network.wgsl

const SPECIAL = true;
const SIMPLE = false;

@group(1) @binding(0) var<uniform> params: Params;
@group(1) @binding(1) var<storage, read> data: array<vec4<u32>>;
