// Times of a network in which all are exponential (facility/event_list.wgsl): `WORD_TIMES` is the
// mean in ticks, and a time is one tick more.
//
// import: facility/event_list.wgsl
// import: random/distributions.wgsl
// provides: draw_service, graph_word
// needs: WORD_TIMES, facility_word
//
// bounds: as in event_list.wgsl.

@group(0) @binding(7) var<storage, read> graph: array<u32>;

fn graph_word(index: u32) -> u32 {
    return graph[index];
}

// The host rejects means so long that this does not fit a word.
fn draw_service() -> vec2<u32> {
    return vec2<u32>(draw_exponential(vec2<u32>(facility_word(WORD_TIMES), 0u)).x + 1u, 0u);
}
