// LPs with more events in a window than its budget: LP 5 breaks a rule at once, LP 0 in the events
// that remain for the next window.

struct Params { events: u32, unused: u32 } // of each LP

@group(1) @binding(0) var<uniform> params: Params;

struct State { handled: u32 }

fn init(lp: u32, state: ptr<function, State>) {
    schedule(lp, TIME_ZERO, vec2<u32>(0u));
}

fn handle(lp: u32, event: Event, state: ptr<function, State>) {
    (*state).handled += 1u;
    let handled = (*state).handled;
    if lp == 0u && handled == 150u || lp == 5u && handled == 1u {
        schedule(lp_count(), time_add(now(), lookahead()), vec2<u32>(0u));
    }
    if handled < params.events { schedule(lp, time_add(now(), vec2<u32>(1u, 0u)), vec2<u32>(0u)); }
}
