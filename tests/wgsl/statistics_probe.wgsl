// A kernel per file of `shaders/statistics/`. One invocation serves one case: it reads the case's
// words from `input` and writes the result's words to `output`, at the strides given with each
// kernel.
//
// import: statistics/histogram.wgsl
// import: statistics/tally.wgsl
// import: statistics/time_average.wgsl
// needs: mul_wide (random/mul_wide.wgsl or random/mul_wide_int64.wgsl)

// The number of cases: buffers may be longer than requested.
@group(0) @binding(2) var<uniform> cases: vec4<u32>;
@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read_write> output: array<u32>;

fn two(i: u32) -> vec2<u32> {
    return vec2<u32>(input[i], input[i + 1u]);
}

fn four(i: u32) -> vec4<u32> {
    return vec4<u32>(two(i), two(i + 2u));
}

fn put_two(i: u32, value: vec2<u32>) {
    output[i] = value.x;
    output[i + 1u] = value.y;
}

fn put_four(i: u32, value: vec4<u32>) {
    put_two(i, value.xy);
    put_two(i + 2u, value.zw);
}

fn put_tally(i: u32, tally: Tally) {
    put_four(i, tally.sum);
    put_four(i + 4u, tally.squares);
    put_two(i + 8u, tally.minimum);
    put_two(i + 10u, tally.maximum);
    put_two(i + 12u, tally.count);
    put_two(i + 14u, tally.since);
}

fn put_average(i: u32, average: TimeAverage) {
    put_four(i, average.area);
    put_two(i + 4u, average.since);
    put_two(i + 6u, average.changed);
    output[i + 8u] = average.level;
    output[i + 9u] = average.minimum;
    output[i + 10u] = average.maximum;
    output[i + 11u] = average.unused;
}

// in: a tally (16), time (2), value (2); out: tally_add (16), tally_since of the time (16).
@compute @workgroup_size(64)
fn probe_tally(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= cases.x { return; }
    let i = id.x * 20u;
    let tally = Tally(four(i), four(i + 4u), two(i + 8u), two(i + 10u), two(i + 12u), two(i + 14u));
    put_tally(id.x * 32u, tally_add(tally, two(i + 16u), two(i + 18u)));
    put_tally(id.x * 32u + 16u, tally_since(two(i + 16u)));
}

// in: an average (12), time (2), level, change; out: time_average_set (12), time_average_add (12),
// time_average_at (12), time_average_since of the time and level (12).
@compute @workgroup_size(64)
fn probe_time_average(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= cases.x { return; }
    let i = id.x * 16u;
    let average = TimeAverage(
        four(i), two(i + 4u), two(i + 6u), input[i + 8u], input[i + 9u], input[i + 10u], input[i + 11u],
    );
    let time = two(i + 12u);
    let o = id.x * 48u;
    put_average(o, time_average_set(average, time, input[i + 14u]));
    put_average(o + 12u, time_average_add(average, time, bitcast<i32>(input[i + 15u])));
    put_average(o + 24u, time_average_at(average, time));
    put_average(o + 36u, time_average_since(time, input[i + 14u]));
}

// in: value (2), low (2), width (2), bins; out: histogram_bin.
@compute @workgroup_size(64)
fn probe_histogram(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= cases.x { return; }
    let i = id.x * 7u;
    output[id.x] = histogram_bin(two(i), two(i + 2u), two(i + 4u), input[i + 6u]);
}
