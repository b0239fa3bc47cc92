// The last step of reduce: one workgroup combines the partial results.
//
// partials  one Acc per workgroup of the upsweep, `task.options` of them
// output    the result, at output[task.destination]
// import: primitives/count.wgsl

@group(0) @binding(3) var<storage, read> partials: array<Acc>;
@group(0) @binding(4) var<storage, read_write> output: array<Acc>;

@compute @workgroup_size(GROUP_SIZE)
fn finish(at: Place) {
    let lane = lane_of(at);
    var sum = IDENTITY;
    for (var i = lane; i < task.options; i += GROUP_SIZE) {
        sum = combine(sum, partials[i]);
    }
    let total = block_scan(at, sum).all;
    if lane == 0u {
        output[task.destination] = finished(total);
    }
}
