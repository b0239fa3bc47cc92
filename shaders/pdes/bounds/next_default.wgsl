// For a model that does not declare the LP that an LP sends to next: it may be any
// (pdes/bounds/answers.wgsl).
//
// Functions: next_to, next_gap.
//
// provides: next_gap, next_to
// needs: NEXT_ANYBODY, State, TIME_ZERO

fn next_to(lp: u32, state: ptr<function, State>) -> u32 {
    return NEXT_ANYBODY;
}

fn next_gap(lp: u32, state: ptr<function, State>) -> vec2<u32> {
    return TIME_ZERO;
}
