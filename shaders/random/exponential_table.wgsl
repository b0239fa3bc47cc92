// Exponential variates by a table of 1,024 chords of the logarithm in workgroup memory (8 KiB): 17 instructions where
// exponential_short takes 89, and less exact. A model that imports this file has the table filled by each of its workgroups, which takes about as
// long as eight variates of exponential_short for each of 128 invocations: for replications that draw many.
//
// Against the logarithm, an error of at most 8.8e-8 of a mean, and of 2.4e-9 on average (the example exponential_error measures both): a
// hundred million draws do not show it in a mean. The tail is that of exponential_unit: it is cut off at 33 ln 2 = 22.87 means, with the probability 2^-33.
//
// Functions: exponential_tabled; tables_open, which is the engine's. The Rust twin is `random::exponential_tabled`.
//
// import: random/distributions.wgsl
// import: gpu/wide.wgsl
// needs: mul_wide (random/mul_wide.wgsl or random/mul_wide_int64.wgsl)

const EXPONENTIAL_CHORDS = 1024u;

// Offset and slope of the chord for each of the values that the upper ten bits of s can have.
var<workgroup> exponential_chords: array<vec2<u32>, EXPONENTIAL_CHORDS>;

// Fills the table. To be called by all invocations of a workgroup, of which `lane` is one of `lanes`, before anything else.
fn tables_open(lane: u32, lanes: u32) {
    for (var i = lane; i < EXPONENTIAL_CHORDS; i += lanes) {
        exponential_chords[i] = exponential_chord(i);
    }
    workgroupBarrier();
}

// As exponential_unit has it, u = (1 - s) / 2^n, and -ln(u) = n ln 2 - ln(1 - s) with s in units of 2^-33. The chord of the curve
// between s0 = 2^22 i + 1 and s1 = 2^22 (i + 1) - 1, which lies above it, lower by two thirds of what it is off in the middle, so that means are right: in
// units of 2^-27, (offset, slope * 2^32).
fn exponential_chord(i: u32) -> vec2<u32> {
    // The words of which exponential_unit makes s0, s0 + 2^21 and s1.
    let begin = exponential_unit(~(i << 21u));
    let middle = exponential_unit(~((i << 21u) + (1u << 20u)));
    let end = exponential_unit(~((i + 1u) << 21u) + 1u);
    // Divided by 2^22 - 2 to the nearest, which is divided by 2^22 and multiplied by 1 + 2^-21. The rise is below 2^50.
    let rise = wide_subtract(end, begin);
    let more = wide_add(rise, vec2<u32>((rise.x >> 21u) | (rise.y << 11u), rise.y >> 21u));
    let rounded = wide_add(more, vec2<u32>(1u << 21u, 0u));
    let slope = (rounded.x >> 22u) | (rounded.y << 10u);
    let excess = wide_subtract(wide_add(begin, vec2<u32>(slope << 21u, slope >> 11u)), middle);
    // 43691 / 2^16 of it, which is below 2^37. Not of the first chord: no variate is below 0.
    let part = mul_wide((excess.x >> 6u) | (excess.y << 26u), select(43691u, 0u, i == 0u));
    let lower = vec2<u32>((part.x >> 10u) | (part.y << 22u), part.y >> 10u);
    let offset = wide_subtract(wide_subtract(begin, mul_wide(slope, (i << 22u) + 1u)), lower);
    // The 1 makes up for what is cut off here and where the chord is used: half a unit each.
    return vec2<u32>(offset.y + 1u, slope);
}

// About the ticks of exponential_short, for a mean below 2^27 ticks: an exponential variate from a word that was drawn before.
fn exponential_tabled(word: u32, mean: u32) -> u32 {
    let n = countLeadingZeros(word);
    let s = ~(word << 1u) << (n & 31u);
    let chord = exponential_chords[s >> 22u];
    // 93032640 is ln 2 in units of 2^-27. The sum is below 23 * 2^27.
    let unit = n * 93032640u + chord.x + mul_wide(s, chord.y).y;
    return mul_wide(unit, mean << 5u).y;
}
