// The 64-bit sum over a workgroup.

// import: matching/workgroup.wgsl

var<workgroup> wide_sums: array<vec2<u32>, SIZE>;

// Thread 0 has it. Uniform control flow only; 8 rounds.
fn sum_wide(lane: u32, value: vec2<u32>) -> vec2<u32> {
    wide_sums[lane] = value;
    workgroupBarrier();
    for (var step = SIZE / 2u; step > 0u; step /= 2u) {
        if lane < step {
            wide_sums[lane] = add(wide_sums[lane], wide_sums[lane + step]);
        }
        workgroupBarrier();
    }
    return wide_sums[0];
}
