// Events of 32 bytes: many at equal times, which differ in any one of their payload words.

struct State {
    seen: u32,
    order: u32,
}

fn init(lp: u32, state: ptr<function, State>) {
    for (var i = 0u; i < 6u; i += 1u) {
        var payload = Payload(9u, lp, 1u, 1u, 1u, 1u);
        payload[i] ^= draw_below(4u);
        schedule((lp + i) % lp_count(), vec2<u32>(5u, 0u), payload);
    }
}

fn handle(lp: u32, event: Event, state: ptr<function, State>) {
    (*state).seen += 1u;
    for (var i = 0u; i < 6u; i += 1u) {
        (*state).order = ((*state).order ^ event.payload[i]) * 0x9e3779b1u + 1u;
    }
    if (*state).seen > 40u { return; }
    var payload = event.payload;
    payload[draw_below(6u)] = draw_below(3u);
    let coarse = vec2<u32>(10u * (1u + draw_below(3u)), 0u);
    schedule(draw_below(lp_count()), time_add(event.time, coarse), payload);
    if payload[5] == 2u { schedule(lp, now(), Payload(payload[5], payload[4], payload[3], payload[2], payload[1], 0u)); }
}
