// Monte Carlo pi: the share of random points of the unit square in the quarter of the unit circle.
// The first model of the paper (section 5.1).
//
// Point k uses draws 2k and 2k + 1 as coordinates in units of 2^-32. A step is two points.

struct Params {
    // At least 1.
    points: u32,
}

struct State {
    next: u32,
    inside: u32,
}

struct Output {
    // Points in the quarter circle.
    inside: u32,
}

fn start(state: ptr<function, State>) {
    *state = State();
}

fn step(state: ptr<function, State>) -> bool {
    let words = draw_block();
    let left = params.points - (*state).next;
    (*state).inside += u32(pi_is_inside(words.xy)) + u32(left > 1u && pi_is_inside(words.zw));
    (*state).next += min(left, 2u);
    return left > 2u;
}

fn finish(state: ptr<function, State>) -> Output {
    return Output((*state).inside);
}

// x^2 + y^2 < 1, exactly: the 64-bit sum of the squares does not overflow.
fn pi_is_inside(point: vec2<u32>) -> bool {
    let a = mul_wide(point.x, point.x);
    let b = mul_wide(point.y, point.y);
    let carry = u32(a.x + b.x < a.x);
    let high = a.y + b.y;
    return (high >= a.y) & (high + carry >= high);
}
