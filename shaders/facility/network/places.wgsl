// Places of times in histograms that count up to limits, too.
//
// import: facility/network/bins.wgsl
// import: time/ticks.wgsl
// needs: law_row
//
// bounds: the loop counts to a value that does not change, and reads as many rows of limits.

// The place of a time in a histogram. `limits` has the first row of the times up to which shares
// are counted, and their number: in ascending order, each with its bin. Times in the bin of a limit
// that are not above it have a place behind the bins, so that the count up to a limit is exact.
fn place_of(value: vec2<u32>, shift: u32, limits: vec2<u32>) -> u32 {
    let bin = bin_of(value, shift);
    for (var i = 0u; i < limits.y; i += 1u) {
        let limit = law_row(limits.x + i);
        if !time_less(limit.xy, value) { return select(bin, BINS + i, limit.z == bin); }
    }
    return bin;
}
