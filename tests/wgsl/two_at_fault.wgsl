// LPs that declare no messages to each other; two of them break a rule. The reference
// implementation is `TwoAtFault` in tests/it/pdes/replicas/odd.rs.

struct State {
    seen: u32,
}

fn init(lp: u32, state: ptr<function, State>) {
    var time = 100000u;
    switch lp {
        case 0u: { time = 1u; }
        case 2u: { time = 1001u; }
        case 5u: { time = 1000u; }
        default: {}
    }
    schedule(lp, vec2<u32>(time, 0u), vec2<u32>(0u));
}

fn handle(lp: u32, event: Event, state: ptr<function, State>) {
    (*state).seen += 1u;
    if lp == 0u && now().x < 50u { schedule(lp, vec2<u32>(now().x + 1u, 0u), vec2<u32>(0u)); }
    if lp == 2u || lp == 5u { schedule(lp, vec2<u32>(1u, 0u), vec2<u32>(0u)); }
}

fn earliest(lp: u32, event: Event, state: ptr<function, State>) -> vec2<u32> {
    return TIME_NEVER;
}
