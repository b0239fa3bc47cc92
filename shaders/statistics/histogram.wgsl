// Bins of a histogram, which is an array of a model's own: array<u32, N>. The Rust twin is `statistics::histogram_bin`, and
// `statistics::Histogram` takes the counts.
//
//     (*state).waits[histogram_bin(wait, low, width, 20u)] += 1u;
//
// Functions: histogram_bin.
//
// import: gpu/wide.wgsl

// The bin of `value` among `bins`: 0 for a value below `low`, the last one from low + (bins - 2) * width on, and between them bins of
// `width` each. The result is below `bins` (0 where `bins` is 0).
//
// With a width of 0 the bins between are empty, and all that is not below `low` is in the last bin.
@must_use
fn histogram_bin(value: vec2<u32>, low: vec2<u32>, width: vec2<u32>, bins: u32) -> u32 {
    if wide_less(value, low) {
        return 0u;
    }
    // How often the width fits above `low`, at most `inner` times: long division, of as many binary digits as `inner` has. Where
    // the quotient has more, and where the width is 0, every digit comes out as 1, which is no less than `inner`.
    let inner = max(bins, 2u) - 2u;
    var rest = wide_subtract(value, low);
    var quotient = 0u;
    // At most 32 times.
    for (var digits = 32u - countLeadingZeros(inner); digits > 0u; digits--) {
        let shift = digits - 1u;
        // In two steps: a shift by 32 would be one by 0.
        let beyond = (width.y >> 1u) >> (31u - shift);
        let part = vec2<u32>(width.x << shift, (width.y << shift) | ((width.x >> 1u) >> (31u - shift)));
        if beyond == 0u && !wide_less(rest, part) {
            rest = wide_subtract(rest, part);
            quotient |= 1u << shift;
        }
    }
    return min(min(quotient, inner) + 1u, max(bins, 1u) - 1u);
}
