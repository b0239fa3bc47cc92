// Detects a driver that ends loops early: llvmpipe, Mesa's software adapter, silently does so after
// an invocation's loops have made 65,535 iterations together; from then on a loop body runs once.
//
// bounds: no array. The loop counts to 1 or 2.

// Whether that has happened to this invocation. Called after all other loops. `positive` is above 0
// and unknown to the compiler, from a uniform buffer for example: it hides that the loop makes two
// iterations.
fn loops_cut(positive: u32) -> bool {
    let two = min(positive, 1u) + 1u;
    var seen = 0u;
    for (var i = 0u; i < two; i += 1u) {
        seen += 1u;
    }
    return seen != two;
}
