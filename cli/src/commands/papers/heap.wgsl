// Creates the items that the next cycle inserts, after the lookahead and an exponential delay, for
// a uniformly random LP (Baudis et al., section IV.B). One invocation serves one item.
//
// `renew` creates one for each deleted item, from the smallest time. For PHOLD, `mark` finds the
// smallest item of each LP; `serve` executes it if it is below t + lookahead, with an item from its
// own time, and inserts the others again; `clear` forgets the marks.
//
// deletes  the items deleted in this cycle, in order: time, LP, number of the item
// inserts  the items that the next cycle inserts
// drawn    for each number: the items created with it
// firsts   for each LP: the place of its smallest deleted item, or NONE
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

const NONE = 0xffffffffu;

@group(0) @binding(4) var<storage, read_write> firsts: array<atomic<u32>>;

@compute @workgroup_size(64)
fn mark(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x < params.count { atomicMin(&firsts[deletes[id.x].z], id.x); }
}

@compute @workgroup_size(64)
fn serve(@builtin(global_invocation_id) id: vec3<u32>) {
    let place = id.x;
    if place >= params.count { return; }
    let item = deletes[place];
    let horizon = time_add(deletes[0].xy, params.lookahead);
    if atomicLoad(&firsts[item.z]) != place || !time_less(item.xy, horizon) {
        inserts[place] = item;
        return;
    }
    stream_open(params.seed, item.w, vec2<u32>(drawn[item.w], 0u));
    drawn[item.w] += 1u;
    let delay = time_add(params.lookahead, draw_exponential(params.mean));
    let lp = draw_below(params.lps);
    inserts[place] = vec4<u32>(time_add(item.xy, delay), lp, item.w);
}

@compute @workgroup_size(64)
fn clear(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x < params.count { atomicStore(&firsts[deletes[id.x].z], NONE); }
}
