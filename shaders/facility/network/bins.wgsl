// Distributions of a network: times by bin, and numbers of customers.
//
// import: time/ticks.wgsl
// needs: law_row
//
// bounds: the loop counts to a value that does not change, and reads as many rows of limits.

// Numbers of customers whose time is recorded; the last stands for all larger ones.
const LENGTHS = 32u;

// Bins of a histogram: 16 for each power of two, so that a bin is 1/16 as wide as its least time;
// below 16 units, one for each unit.
const BINS = 464u;
const BIN_ROWS = BINS / 4u;

// The bin of a time whose unit is 2^shift ticks, at most 2^31.
fn bin_of(value: vec2<u32>, shift: u32) -> u32 {
    // Two shifts, because a shift by 32 shifts by 0.
    var units = (value.x >> shift) | ((value.y << (31u - shift)) << 1u);
    if (value.y >> shift) != 0u { units = 0xffffffffu; }
    if units < 16u { return units; }
    let leading = 31u - countLeadingZeros(units);
    return (leading - 3u) * 16u + ((units >> (leading - 4u)) & 15u);
}

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
