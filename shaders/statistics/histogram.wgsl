// Bins of a histogram, which is an array of the model: array<u32, N>. `statistics::Histogram` holds
// the counts on the host. The reference implementation is `statistics::histogram_bin`.
//
//     (*state).waits[histogram_bin(wait, low, width, 20u)] += 1u;
//
// models: histogram_bin(number, number, number, number)
//
// import: gpu/wide.wgsl

// The bin of `value` among `bins`: 0 below `low`, the last one from low + (bins - 2) * width on,
// and bins of `width` between. Below `bins`, or 0 if `bins` is 0. With a width of 0 the bins
// between are empty, and values from `low` on are in the last bin.
@must_use
fn histogram_bin(value: vec2<u32>, low: vec2<u32>, width: vec2<u32>, bins: u32) -> u32 {
    if wide_less(value, low) {
        return 0u;
    }
    // The number of widths that fit above `low`, at most `inner`: long division with as many binary
    // digits as `inner` has. If the quotient has more, or the width is 0, every digit is 1, which
    // is at least `inner`.
    let inner = max(bins, 2u) - 2u;
    var rest = wide_subtract(value, low);
    var quotient = 0u;
    // At most 32 rounds.
    for (var digits = 32u - countLeadingZeros(inner); digits > 0u; digits--) {
        let shift = digits - 1u;
        // Two shifts, because a shift by 32 shifts by 0.
        let beyond = (width.y >> 1u) >> (31u - shift);
        let part = vec2<u32>(width.x << shift, (width.y << shift) | ((width.x >> 1u) >> (31u - shift)));
        if beyond == 0u && !wide_less(rest, part) {
            rest = wide_subtract(rest, part);
            quotient |= 1u << shift;
        }
    }
    return min(min(quotient, inner) + 1u, max(bins, 1u) - 1u);
}
