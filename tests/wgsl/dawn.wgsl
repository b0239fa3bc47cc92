// One token walks from LP to LP. From dawn on, each LP has an event of its own at every tick, too.

const TOKEN = 0u;
const DAY = 1u;

struct Params {
    dawn: vec2<u32>,
    step: vec2<u32>,
}

struct State {
    seen: u32,
}

@group(1) @binding(0) var<uniform> params: Params;

fn init(lp: u32, state: ptr<function, State>) {
    schedule(lp, params.dawn, vec2<u32>(DAY, 0u));
    if lp == 0u { schedule(lp, TIME_ZERO, vec2<u32>(TOKEN, 0u)); }
}

fn handle(lp: u32, event: Event, state: ptr<function, State>) {
    (*state).seen += 1u;
    if event.payload.x == TOKEN {
        schedule((lp + 1u) % lp_count(), time_add(event.time, params.step), event.payload);
    } else {
        schedule(lp, time_add(event.time, vec2<u32>(1u, 0u)), event.payload);
    }
}
