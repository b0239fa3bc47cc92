// A feeder (LP 2) holds some events and has no senders. Its first event sends a message to a
// messenger (LP 0), which sends to a receiver (LP 1). The receiver holds events of its own for one
// time, and one before, and its only sender is the messenger, whose declared answer takes `said`
// ticks and whose message arrives at `arrival`.

struct Params {
    own: u32,       // events of the receiver at AT
    feeds: u32,     // events of the feeder
    arrival: u32,
    said: u32,
}

@group(1) @binding(0) var<uniform> params: Params;

const AT = 100u;
const LEAVES = 10u; // when the feeder sends, and
const COMES = 50u;  // when the messenger receives

struct State {
    order: u32,
    count: u32,
}

fn init(lp: u32, state: ptr<function, State>) {
    for (var i = 0u; lp == 2u && i < params.feeds; i += 1u) { schedule(lp, vec2<u32>(LEAVES + i, 0u), vec2<u32>(0u)); }
    if lp != 1u { return; }
    schedule(lp, vec2<u32>(AT - 10u, 0u), vec2<u32>(0u));
    for (var i = 0u; i < params.own; i += 1u) { schedule(lp, vec2<u32>(AT, 0u), vec2<u32>(2u * i, 1u)); }
}

fn handle(lp: u32, event: Event, state: ptr<function, State>) {
    (*state).order = ((*state).order ^ event.payload.x) * 0x9e3779b1u + event.time.x;
    (*state).count += 1u;
    if lp == 2u && (*state).count == 1u { schedule(0u, vec2<u32>(COMES, 0u), vec2<u32>(0u)); }
    // Among the events that the receiver holds, if it is for their time.
    if lp == 0u { schedule(1u, vec2<u32>(params.arrival, 0u), vec2<u32>(params.own | 1u, 0u)); }
}

fn sender_count(lp: u32) -> u32 {
    return u32(lp != 2u);
}

fn sender(lp: u32, index: u32) -> u32 {
    return select(0u, 2u, lp == 0u);
}

fn answer(lp: u32, state: ptr<function, State>) -> Answer {
    return Answer(TIME_ZERO, vec2<u32>(params.said, 0u));
}
