// Finds a driver that ends loops before their time. llvmpipe, Mesa's software driver, does so without a word once an
// invocation has made 65,535 iterations in all its loops together; from then on a loop body runs once.
//
// bounds: no array. The loop counts to 1 or 2.

// Whether that has happened to this invocation. `positive` is a number above 0 that the compiler cannot know, from a
// uniform buffer, say: it hides that the loop makes two iterations. To be asked after all other loops.
fn loops_cut(positive: u32) -> bool {
    let two = min(positive, 1u) + 1u;
    var seen = 0u;
    for (var i = 0u; i < two; i += 1u) {
        seen += 1u;
    }
    return seen != two;
}
