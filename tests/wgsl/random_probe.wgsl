// A kernel per function of the modules `time` and `random`. One invocation serves one case: it
// reads the case's words from `input` and writes the result's words to `output`, at the strides
// given with each kernel.
//
// import: time/ticks.wgsl
// import: random/philox.wgsl
// import: random/stream.wgsl
// import: random/distributions.wgsl
// import: random/exponential_table.wgsl
// needs: mul_wide (random/mul_wide.wgsl or random/mul_wide_int64.wgsl)

// The number of cases: buffers may be longer than requested.
@group(0) @binding(2) var<uniform> cases: vec4<u32>;
@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read_write> output: array<u32>;

// Draws per case by the kernels of streams and distributions: enough to reach a third block from
// any position.
const DRAWS = 10u;
const SEED = vec2<u32>(0x01234567u, 0x89abcdefu);

// in: a, b; out: product (2).
@compute @workgroup_size(64)
fn probe_mul_wide(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x * 2u;
    if id.x >= cases.x { return; }
    let product = mul_wide(input[i], input[i + 1u]);
    output[i] = product.x;
    output[i + 1u] = product.y;
}

// in: counter (4), key (2); out: block (4).
@compute @workgroup_size(64)
fn probe_philox(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x * 6u;
    if id.x >= cases.x { return; }
    let counter = vec4<u32>(input[i], input[i + 1u], input[i + 2u], input[i + 3u]);
    let block = philox4x32(counter, vec2<u32>(input[i + 4u], input[i + 5u]));
    for (var k = 0u; k < 4u; k++) {
        output[id.x * 4u + k] = block[k];
    }
}

// in: seed (2), owner, index (2), first draw; out: DRAWS draws, position after them. With a first
// draw of 0, stream_seek is not called.
@compute @workgroup_size(64)
fn probe_stream(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x * 6u;
    if id.x >= cases.x { return; }
    stream_open(vec2<u32>(input[i], input[i + 1u]), input[i + 2u], vec2<u32>(input[i + 3u], input[i + 4u]));
    if input[i + 5u] != 0u {
        stream_seek(input[i + 5u]);
    }
    let o = id.x * (DRAWS + 1u);
    for (var k = 0u; k < DRAWS; k++) {
        output[o + k] = draw();
    }
    output[o + DRAWS] = stream_position();
}

// in: first draw of the stream, purpose, number, first draw there, whether the stream is
// complemented; out: DRAWS draws there, two of the next number, the stream's position afterwards,
// its next word. Stream (SEED, owner = case, index = 1); substream as in pdes/model.wgsl.
@compute @workgroup_size(64)
fn probe_purpose(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x * 5u;
    if id.x >= cases.x { return; }
    stream_open(SEED, id.x, vec2<u32>(1u, 0u));
    if input[i + 4u] != 0u { stream_complement(); }
    stream_seek(input[i]);
    stream_enter(SUBSTREAM, vec3<u32>(stream_home.x, input[i + 2u], input[i + 1u]));
    stream_seek(input[i + 3u]);
    let o = id.x * (DRAWS + 4u);
    for (var k = 0u; k < DRAWS; k++) {
        output[o + k] = draw();
    }
    stream_enter(SUBSTREAM, vec3<u32>(stream_home.x, input[i + 2u] + 1u, input[i + 1u]));
    output[o + DRAWS] = draw();
    output[o + DRAWS + 1u] = draw();
    stream_main();
    output[o + DRAWS + 2u] = stream_position();
    output[o + DRAWS + 3u] = draw();
}

// in: first draw; out: a block (4), position, the next word, the block (4) with draw 0. The stream
// is the complement of (SEED, owner = case, index = 0).
@compute @workgroup_size(64)
fn probe_block(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= arrayLength(&input) { return; }
    stream_open(SEED, id.x, vec2<u32>(0u, 0u));
    stream_complement();
    stream_seek(input[id.x]);
    let o = id.x * 10u;
    let block = draw_block();
    let first = stream_block(0u);
    for (var k = 0u; k < 4u; k++) {
        output[o + k] = block[k];
        output[o + 6u + k] = first[k];
    }
    output[o + 4u] = stream_position();
    output[o + 5u] = draw();
}

// in: word, mean; out: ticks.
@compute @workgroup_size(64)
fn probe_exponential_short(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x * 2u;
    if i + 2u > arrayLength(&input) { return; }
    output[id.x] = exponential_short(input[i], input[i + 1u]);
}

// in: word, mean; out: ticks.
@compute @workgroup_size(64)
fn probe_exponential_tabled(
    @builtin(global_invocation_id) id: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    tables_open(lane, 64u);
    let i = id.x * 2u;
    if id.x >= cases.x { return; }
    output[id.x] = exponential_tabled(input[i], input[i + 1u]);
}

// in: n; out: DRAWS variates, position after them. The stream is (SEED, owner = case, index = 0).
@compute @workgroup_size(64)
fn probe_below(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= cases.x { return; }
    stream_open(SEED, id.x, vec2<u32>(0u, 0u));
    let o = id.x * (DRAWS + 1u);
    for (var k = 0u; k < DRAWS; k++) {
        output[o + k] = draw_below(input[id.x]);
    }
    output[o + DRAWS] = stream_position();
}

// in: word; out: variate in units of 2^-59 (2).
@compute @workgroup_size(64)
fn probe_exponential_unit(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= cases.x { return; }
    let e = exponential_unit(input[id.x]);
    output[id.x * 2u] = e.x;
    output[id.x * 2u + 1u] = e.y;
}

// in: mean (2); out: DRAWS variates (2 each). The stream is (SEED, owner = case, index = 0).
@compute @workgroup_size(64)
fn probe_exponential(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x * 2u;
    if id.x >= cases.x { return; }
    stream_open(SEED, id.x, vec2<u32>(0u, 0u));
    for (var k = 0u; k < DRAWS; k++) {
        let ticks = draw_exponential(vec2<u32>(input[i], input[i + 1u]));
        output[(id.x * DRAWS + k) * 2u] = ticks.x;
        output[(id.x * DRAWS + k) * 2u + 1u] = ticks.y;
    }
}

// in: a (2), b (2); out: time_add (2), time_min (2), time_less (0 or 1).
@compute @workgroup_size(64)
fn probe_time(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x * 4u;
    if id.x >= cases.x { return; }
    let a = vec2<u32>(input[i], input[i + 1u]);
    let b = vec2<u32>(input[i + 2u], input[i + 3u]);
    let sum = time_add(a, b);
    let least = time_min(a, b);
    let o = id.x * 5u;
    output[o] = sum.x;
    output[o + 1u] = sum.y;
    output[o + 2u] = least.x;
    output[o + 3u] = least.y;
    output[o + 4u] = u32(time_less(a, b));
}

// in: p; out: DRAWS variates (0 or 1), position after them. This and all kernels below use the
// stream (SEED, owner = case, index = 0).
@compute @workgroup_size(64)
fn probe_bernoulli(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= cases.x { return; }
    stream_open(SEED, id.x, vec2<u32>(0u, 0u));
    let o = id.x * (DRAWS + 1u);
    for (var k = 0u; k < DRAWS; k++) {
        output[o + k] = u32(draw_bernoulli(input[id.x]));
    }
    output[o + DRAWS] = stream_position();
}

// in: low (2), high (2); out: DRAWS variates (2 each), position after them.
@compute @workgroup_size(64)
fn probe_uniform(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= cases.x { return; }
    let i = id.x * 4u;
    stream_open(SEED, id.x, vec2<u32>(0u, 0u));
    let o = id.x * (2u * DRAWS + 1u);
    for (var k = 0u; k < DRAWS; k++) {
        let ticks = draw_uniform(vec2<u32>(input[i], input[i + 1u]), vec2<u32>(input[i + 2u], input[i + 3u]));
        output[o + 2u * k] = ticks.x;
        output[o + 2u * k + 1u] = ticks.y;
    }
    output[o + 2u * DRAWS] = stream_position();
}

// in: p, first mean (2), second mean (2); out: DRAWS variates (2 each), position after them.
@compute @workgroup_size(64)
fn probe_hyperexponential(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= cases.x { return; }
    let i = id.x * 5u;
    stream_open(SEED, id.x, vec2<u32>(0u, 0u));
    let o = id.x * (2u * DRAWS + 1u);
    for (var k = 0u; k < DRAWS; k++) {
        let first = vec2<u32>(input[i + 1u], input[i + 2u]);
        let ticks = draw_hyperexponential(input[i], first, vec2<u32>(input[i + 3u], input[i + 4u]));
        output[o + 2u * k] = ticks.x;
        output[o + 2u * k + 1u] = ticks.y;
    }
    output[o + 2u * DRAWS] = stream_position();
}

// in: stages, mean (2); out: DRAWS variates (2 each), position after them.
@compute @workgroup_size(64)
fn probe_erlang(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= cases.x { return; }
    let i = id.x * 3u;
    stream_open(SEED, id.x, vec2<u32>(0u, 0u));
    let o = id.x * (2u * DRAWS + 1u);
    for (var k = 0u; k < DRAWS; k++) {
        let ticks = draw_erlang(input[i], vec2<u32>(input[i + 1u], input[i + 2u]));
        output[o + 2u * k] = ticks.x;
        output[o + 2u * k + 1u] = ticks.y;
    }
    output[o + 2u * DRAWS] = stream_position();
}

// in: scale (2); out: DRAWS variates, position after them.
@compute @workgroup_size(64)
fn probe_geometric(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= cases.x { return; }
    stream_open(SEED, id.x, vec2<u32>(0u, 0u));
    let o = id.x * (DRAWS + 1u);
    for (var k = 0u; k < DRAWS; k++) {
        output[o + k] = draw_geometric(vec2<u32>(input[id.x * 2u], input[id.x * 2u + 1u]));
    }
    output[o + DRAWS] = stream_position();
}

// in: low (2), mode (2), high (2); out: DRAWS variates (2 each), position after them.
@compute @workgroup_size(64)
fn probe_triangular(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= cases.x { return; }
    let i = id.x * 6u;
    stream_open(SEED, id.x, vec2<u32>(0u, 0u));
    let o = id.x * (2u * DRAWS + 1u);
    for (var k = 0u; k < DRAWS; k++) {
        let low = vec2<u32>(input[i], input[i + 1u]);
        let mode = vec2<u32>(input[i + 2u], input[i + 3u]);
        let ticks = draw_triangular(low, mode, vec2<u32>(input[i + 4u], input[i + 5u]));
        output[o + 2u * k] = ticks.x;
        output[o + 2u * k + 1u] = ticks.y;
    }
    output[o + 2u * DRAWS] = stream_position();
}

// in: mean (2); out: DRAWS variates, position after them.
@compute @workgroup_size(64)
fn probe_poisson(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= cases.x { return; }
    stream_open(SEED, id.x, vec2<u32>(0u, 0u));
    let o = id.x * (DRAWS + 1u);
    for (var k = 0u; k < DRAWS; k++) {
        output[o + k] = draw_poisson(vec2<u32>(input[id.x * 2u], input[id.x * 2u + 1u]));
    }
    output[o + DRAWS] = stream_position();
}

// in: threshold, other number; the cases are the slots of one table. out: DRAWS numbers of the
// table, position after them.
@compute @workgroup_size(64)
fn probe_alias(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= cases.x { return; }
    stream_open(SEED, id.x, vec2<u32>(0u, 0u));
    let o = id.x * (DRAWS + 1u);
    for (var k = 0u; k < DRAWS; k++) {
        let slot = alias_slot(cases.x);
        output[o + k] = alias_pick(slot, input[slot * 2u], input[slot * 2u + 1u]);
    }
    output[o + DRAWS] = stream_position();
}

// in: word; out: variate in units of 2^-28.
@compute @workgroup_size(64)
fn probe_normal_unit(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= cases.x { return; }
    output[id.x] = bitcast<u32>(normal_unit(input[id.x]));
}

// in: low, high; out: DRAWS words between them, position after them.
@compute @workgroup_size(64)
fn probe_word(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= cases.x { return; }
    stream_open(SEED, id.x, vec2<u32>(0u, 0u));
    let o = id.x * (DRAWS + 1u);
    for (var k = 0u; k < DRAWS; k++) {
        output[o + k] = draw_word(input[2u * id.x], input[2u * id.x + 1u]);
    }
    output[o + DRAWS] = stream_position();
}

// in: mean (2), deviation (2); out: DRAWS variates (2 each), position after them.
@compute @workgroup_size(64)
fn probe_normal(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= cases.x { return; }
    let i = id.x * 4u;
    stream_open(SEED, id.x, vec2<u32>(0u, 0u));
    let o = id.x * (2u * DRAWS + 1u);
    for (var k = 0u; k < DRAWS; k++) {
        let ticks = draw_normal(vec2<u32>(input[i], input[i + 1u]), vec2<u32>(input[i + 2u], input[i + 3u]));
        output[o + 2u * k] = ticks.x;
        output[o + 2u * k + 1u] = ticks.y;
    }
    output[o + 2u * DRAWS] = stream_position();
}

// in: median (2), spread; out: DRAWS variates (2 each), position after them.
@compute @workgroup_size(64)
fn probe_lognormal(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= cases.x { return; }
    let i = id.x * 3u;
    stream_open(SEED, id.x, vec2<u32>(0u, 0u));
    let o = id.x * (2u * DRAWS + 1u);
    for (var k = 0u; k < DRAWS; k++) {
        let ticks = draw_lognormal(vec2<u32>(input[i], input[i + 1u]), input[i + 2u]);
        output[o + 2u * k] = ticks.x;
        output[o + 2u * k + 1u] = ticks.y;
    }
    output[o + 2u * DRAWS] = stream_position();
}

// in: scale (2), power; out: DRAWS variates (2 each), position after them.
@compute @workgroup_size(64)
fn probe_weibull(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= cases.x { return; }
    let i = id.x * 3u;
    stream_open(SEED, id.x, vec2<u32>(0u, 0u));
    let o = id.x * (2u * DRAWS + 1u);
    for (var k = 0u; k < DRAWS; k++) {
        let ticks = draw_weibull(vec2<u32>(input[i], input[i + 1u]), input[i + 2u]);
        output[o + 2u * k] = ticks.x;
        output[o + 2u * k + 1u] = ticks.y;
    }
    output[o + 2u * DRAWS] = stream_position();
}

// in: e (2); out: logarithm in units of 2^-25.
@compute @workgroup_size(64)
fn probe_log2_unit(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= cases.x { return; }
    output[id.x] = bitcast<u32>(log2_unit(vec2<u32>(input[id.x * 2u], input[id.x * 2u + 1u])));
}
