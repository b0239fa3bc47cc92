// When a relay (relay.wgsl) first sends, by its own declaration.
fn earliest(lp: u32, event: Event, state: ptr<function, State>) -> vec2<u32> {
    if params.rule == 3u && lp == params.culprit { return time_add(event.time, vec2<u32>(1000000u, 0u)); }
    return time_add(event.time, params.step);
}
