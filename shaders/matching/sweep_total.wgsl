// Adds up the sums of ranks (sweep_count.wgsl) and takes the number of pairs away.
//
// ranks  params.end sums of 64 bits
// total  params.window is n m; total[0] = the sum - n m
//
// One workgroup.

// import: matching/params.wgsl
// import: matching/sum_wide.wgsl

@group(0) @binding(3) var<storage, read> ranks: array<vec2<u32>>;
@group(0) @binding(4) var<storage, read_write> total: array<vec2<u32>>;

@compute @workgroup_size(SIZE)
fn total_ranks(@builtin(local_invocation_index) lane: u32) {
    var sum = vec2(0u);
    for (var i = lane; i < params.end; i += SIZE) {
        sum = add(sum, ranks[i]);
    }
    sum = sum_wide(lane, sum);
    if lane == 0u {
        total[0] = subtract(sum, params.window);
    }
}
