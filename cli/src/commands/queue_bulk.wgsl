// Creates the new items of a cycle "according to PHOLD" (Baudis et al., section IV.B): one for each
// deleted item, after the lookahead and an exponential delay from the smallest time, for a
// uniformly random LP.
//
// deletes  the items deleted in this cycle, in order
// inserts  the items that the next cycle inserts
// drawn    for each place: the number of items created there
//
// One invocation serves one item.
//
// import: random/distributions.wgsl
// import: random/mul_wide.wgsl
// import: time/ticks.wgsl

struct Params {
    seed: vec2<u32>,
    mean: vec2<u32>,        // of the delay, in ticks
    lookahead: vec2<u32>,   // in ticks
    lps: u32,
    count: u32,             // items of a cycle
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> deletes: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read_write> inserts: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read_write> drawn: array<u32>;

@compute @workgroup_size(64)
fn renew(@builtin(global_invocation_id) id: vec3<u32>) {
    let place = id.x;
    if place >= params.count { return; }
    stream_open(params.seed, place, vec2<u32>(drawn[place], 0u));
    drawn[place] += 1u;
    let delay = time_add(params.lookahead, draw_exponential(params.mean));
    let lp = draw_below(params.lps);
    inserts[place] = vec4<u32>(time_add(deletes[0].xy, delay), lp, place);
}
