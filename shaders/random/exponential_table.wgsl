// Exponential variates by a table of 1,024 chords of the logarithm in workgroup memory (8 KiB): 17
// instructions instead of the 89 of exponential_short, and less exact. Each workgroup copies the
// table, which costs each of 128 invocations four loads of 16 bytes: for replications with many
// draws.
//
// The error is at most 8.8e-8 of a mean, and 2.4e-9 on average (`bench exponential-error` measures
// both); 10^8 draws do not show it in a mean. The tail is cut off as in exponential_unit: at 33 ln
// 2 = 22.87 means, with probability 2^-33.
//
// exponential_given   1,024 chords, two to a vector: offset and slope of each, by
//                     `random::exponential_chords`
//
// Functions: exponential_tabled; tables_open, for the engine. The reference implementation is
// `random::exponential_tabled`.
//
// takes: exponential_tabled(number, time)
//
// import: random/distributions.wgsl
// provides: tables_open
// needs: mul_wide
//
// bounds: pairs are compared with EXPONENTIAL_CHORDS / 2, and s >> 22 is below 2^10, the length of
// both tables. The step is `lanes`, at least 1.

const EXPONENTIAL_CHORDS = 1024u;

// The bindings follow those of replication/job.wgsl.
@group(0) @binding(6) var<storage, read> exponential_given: array<vec4<u32>, EXPONENTIAL_CHORDS / 2u>;

// Offset and slope of the chord for each value of the upper ten bits of s.
var<workgroup> exponential_chords: array<vec2<u32>, EXPONENTIAL_CHORDS>;

// Fills the table. All invocations of a workgroup, `lane` of `lanes`, call it first.
fn tables_open(lane: u32, lanes: u32) {
    for (var pair = lane; pair < EXPONENTIAL_CHORDS / 2u; pair += lanes) {
        let chords = exponential_given[pair];
        exponential_chords[2u * pair] = chords.xy;
        exponential_chords[2u * pair + 1u] = chords.zw;
    }
    workgroupBarrier();
}

// An exponential variate from a drawn word, close to that of exponential_short, for a mean below
// 2^27 ticks.
fn exponential_tabled(word: u32, mean: u32) -> u32 {
    // As in exponential_unit: u = (1 - s) / 2^n, -ln(u) = n ln 2 - ln(1 - s), with s in units of
    // 2^-33.
    let n = countLeadingZeros(word);
    let s = ~(word << 1u) << (n & 31u);
    let chord = exponential_chords[s >> 22u];
    // 93032640 is ln 2 in units of 2^-27. The sum is below 23 * 2^27.
    let unit = n * 93032640u + chord.x + mul_wide(s, chord.y).y;
    return mul_wide(unit, mean << 5u).y;
}
