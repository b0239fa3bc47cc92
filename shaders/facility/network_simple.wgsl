// Of the networks for `network_plain.wgsl` those of one class of customers whose times are exponential or fixed, and of whose lines nobody leaves but the first: no order but that of arrivals, no
// patience, no balking.
//
// import: facility/network.wgsl

const SPECIAL = false;
const SIMPLE = true;

@group(1) @binding(0) var<uniform> params: Params;
@group(1) @binding(1) var<storage, read> data: array<vec4<u32>>;
