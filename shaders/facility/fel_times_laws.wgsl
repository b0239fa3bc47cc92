// Times of a network with any distributions (facility/event_list.wgsl): `WORD_TIMES` is the place
// of a distribution in `data`, a multiple of 4, plus 1 if a time is one tick more. The host appends
// the functions that facility/network/distributions.wgsl needs.
//
// import: facility/event_list.wgsl
// import: facility/network/distributions.wgsl
// import: time/ticks.wgsl
// provides: draw_service, graph_word
// needs: WORD_TIMES, facility_word
//
// bounds: places are those of distributions, whose records and tables the host made. The graph
// begins at `params.laws`. A record with the draw of an Erlang distribution counts to its stages.

const SIMPLE = false;
const SURE = 0xffffffffu;

// Distributions and their tables, then the graph, four words in a row.
@group(0) @binding(7) var<storage, read> data: array<vec4<u32>>;

fn graph_word(index: u32) -> u32 {
    return data[params.laws + index / 4u][index % 4u];
}

// At most 2^62 ticks: a longer service does not end.
fn draw_service() -> vec2<u32> {
    let times = facility_word(WORD_TIMES);
    let drawn = variate(times & ~3u);
    return time_min(time_add(drawn, vec2<u32>(times & 3u, 0u)), vec2<u32>(0u, 0x40000000u));
}
