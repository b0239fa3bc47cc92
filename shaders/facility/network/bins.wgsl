// Distributions of a network: times by bin, and numbers of customers.
//
// bounds: no array and no loop.

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
