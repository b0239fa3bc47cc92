// Networks for `network_plain.wgsl` with one class, exponential or fixed times, and lines that only
// the first customer leaves: first come, first served, no patience, no balking.
//
// import: facility/network.wgsl

const SPECIAL = false;
const SIMPLE = true;

@group(1) @binding(0) var<uniform> params: Params;
@group(1) @binding(1) var<storage, read> data: array<vec4<u32>>;
