// Histograms of process models, in LP memory: of the observations of a tally, and of the time with
// each value of a level. `process::program::Histogram` says what lies where.
//
// import: facility/network/bins.wgsl
// import: gpu/wide.wgsl
// needs: memory_get, memory_set
//
// bounds: rows are those of the program, and a bin is below BINS or LENGTHS.

// Counts an observation of 64 bits with a sign, below 0 as 0.
fn count_observation(first: u32, value: vec2<u32>, shift: u32) {
    let bin = bin_of(select(value, vec2<u32>(0u), bitcast<i32>(value.y) < 0), shift);
    let at = first + bin / 4u;
    memory_set(at, memory_get(at) + vec4<u32>(vec4<u32>(0u, 1u, 2u, 3u) == vec4<u32>(bin & 3u)));
}

// Adds the time since the last change of a level, which had this value. `age` is the time since the
// warm-up.
fn count_time(first: u32, value: i32, age: vec2<u32>) {
    let time = wide_subtract(age, memory_get(first).xy);
    if all(time == vec2<u32>(0u)) { return; }
    let bin = length_bin(bitcast<u32>(max(value, 0)));
    let at = first + 1u + bin / 2u;
    let times = memory_get(at);
    let low = vec4<u32>(wide_add(times.xy, time), times.zw);
    let high = vec4<u32>(times.xy, wide_add(times.zw, time));
    memory_set(at, select(low, high, (bin & 1u) == 1u));
    memory_set(first, vec4<u32>(age, 0u, 0u));
}
