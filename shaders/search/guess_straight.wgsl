// The heuristic of vertices with coordinates: a lower bound of the cost of the straight line to the
// goal.
//
//   data   factor and shift of the costs; the bits by which the norm's numbers are cut; then (x, y)
//          of each vertex, all below 2^20 << bits
//
// Distances are in a norm with sixteen sides, in units of 1 / (1024 >> bits): a norm satisfies the
// triangle inequality, also after rounding down. The reference implementation is `Straight` in
// src/search/guided.rs, which documents the factor.
//
// import: random/mul_wide.wgsl
// provides: estimate
//
// bounds: `data` was made for the graph, and vertices are as in graph.wgsl.

@group(1) @binding(0) var<storage, read> data: array<u32>;

fn estimate(vertex: u32, goal: u32) -> u32 {
    let here = vec2<i32>(i32(data[3u + 2u * vertex]), i32(data[4u + 2u * vertex]));
    let there = vec2<i32>(i32(data[3u + 2u * goal]), i32(data[4u + 2u * goal]));
    let apart = vec2<u32>(abs(here - there));
    let far = max(apart.x, apart.y);
    let near = min(apart.x, apart.y);
    // The cosines and sines of 0, 22.5 and 45 degrees.
    let parts = vec4<u32>(1024u, 946u, 391u, 724u) >> vec4<u32>(data[2]);
    let length = max(max(parts.x * far, parts.y * far + parts.z * near), parts.w * (far + near));
    let product = mul_wide(length, data[0]);
    // The factor keeps the quotient below 2^32; the shift is from 1 to 63.
    let shift = data[1];
    if shift >= 32u { return product.y >> (shift - 32u); }
    return (product.y << (32u - shift)) | (product.x >> shift);
}
