// Draws times from a distribution, 8 words of `data`: kind, a number, three times. The reference
// implementation is `facility::model::laws`. It also writes `law_draws`, the number of words that a
// kind draws, and `law_time`, the time that they stand for, from the table of distributions.
//
// Compilers inline every call. So `variate` is called once, and it calls `draw` once.
//
// import: random/distributions.wgsl
// needs: law_draws, law_time (facility::model::laws)
//
// bounds: the caller's `law` is the place of a record, which has 8 words. Loops count to 3.

fn variate(law: u32) -> vec2<u32> {
    let first = data[law / 4u];
    let second = data[law / 4u + 1u];
    let kind = first.x;
    if SIMPLE {
        if kind == 0u { return first.zw; }
        return exponential_of(draw(), first.zw);
    }
    // The last word first. The count is a lookup, so that no compiler unrolls the loop.
    var words = vec3<u32>(0u);
    let count = law_draws(kind);
    for (var i = 0u; i < count; i += 1u) {
        words = vec3<u32>(draw(), words.xy);
    }
    return law_time(kind, words, first.y, first.zw, second.xy, second.zw);
}
