// Networks of all that there is: rates and servers that change, breakdowns, preemption, shared servers, blocking, shortest lines, forks, distributions that are told, customers who are followed.
//
// import: facility/network.wgsl

const SPECIAL = true;
const SIMPLE = false;

@group(1) @binding(0) var<uniform> params: Params;
@group(1) @binding(1) var<storage, read> data: array<vec4<u32>>;
