// Bins of histograms. The reference implementation is `statistics::quantiles`.
//
// bounds: no array and no loop.

// Bins of times: 16 for each power of two, so that a bin is 1/16 as wide as its least value; below
// 16 units, one for each unit.
const BINS = 464u;
const BIN_ROWS = BINS / 4u;

// The bin of a value whose unit is 2^shift, at most 2^31. The last one also counts all larger ones.
fn bin_of(value: vec2<u32>, shift: u32) -> u32 {
    // Two shifts, because a shift by 32 shifts by 0.
    var units = (value.x >> shift) | ((value.y << (31u - shift)) << 1u);
    if (value.y >> shift) != 0u { units = 0xffffffffu; }
    if units < 16u { return units; }
    let leading = 31u - countLeadingZeros(units);
    return (leading - 3u) * 16u + ((units >> (leading - 4u)) & 15u);
}

// Bins of numbers over time: one for each number below 32, and 8 for each power of two from there
// on. The last one also counts all larger numbers.
const LENGTHS = 96u;

fn length_bin(number: u32) -> u32 {
    if number < 32u { return number; }
    let leading = 31u - countLeadingZeros(number);
    return min((leading - 1u) * 8u + ((number >> (leading - 3u)) & 7u), LENGTHS - 1u);
}
