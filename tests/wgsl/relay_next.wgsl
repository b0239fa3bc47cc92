
// Each LP sends only to the next one. By rule 5 the culprit declares the one after that.
fn next_to(lp: u32, state: ptr<function, State>) -> u32 {
    return (lp + select(1u, 2u, params.rule == 5u && lp == params.culprit)) % ring();
}

fn next_gap(lp: u32, state: ptr<function, State>) -> vec2<u32> {
    return TIME_NEVER;
}
