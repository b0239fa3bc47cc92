// Times by a law, which is 8 words of `data`: kind, a number, three times. The Rust twin is `facility::model::variate`.
//
// Compilers put each function in the place of each call, so there is one call of this function, in it one of `draw` for all laws but sums, and one of
// what they have in common.
//
// import: random/distributions.wgsl

fn variate(law: u32) -> vec2<u32> {
    let first = data[law / 4u];
    let second = data[law / 4u + 1u];
    let kind = first.x;
    let number = first.y;
    let a = first.zw;
    let b = second.xy;
    let c = second.zw;
    if SIMPLE {
        if kind == 0u { return a; }
        return exponential_of(draw(), a);
    }
    if kind == 3u { return draw_erlang(number, a); }
    // The last word first. How many there are is looked up, so that no compiler writes the loop out.
    var words = vec3<u32>(0u);
    let count = (0x11122031u >> (4u * min(kind, 8u) - 4u)) & 3u;
    for (var i = 0u; i < select(count, 0u, kind == 0u); i += 1u) {
        words = vec3<u32>(draw(), words.xy);
    }
    switch kind {
        case 1u, 4u: {
            let first = (kind == 1u) | (words.y < number) | (number == SURE);
            return exponential_of(words.x, select(b, a, first));
        }
        case 2u: { return uniform_of(words.z, words.y, words.x, a, b); }
        case 5u: { return triangular_of(words.y, words.x, a, b, c); }
        case 6u: { return normal_of(words.x, a, b); }
        case 7u: { return lognormal_of(words.x, a, number); }
        case 8u: { return weibull_of(words.x, a, number); }
        default: { return a; }
    }
}
