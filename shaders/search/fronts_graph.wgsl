// Moves in graphs, for search/fronts.wgsl. The host splits vertices with more than 64 arcs: extra
// vertices, reached by arcs of weight 0, have the rest. No arc leads from a vertex to itself.
//
// import: search/graph.wgsl
// import: search/guess_none.wgsl
// provides: front_move, front_moves
//
// bounds: vertices and arcs as in graph.wgsl.

fn front_moves(cell: u32) -> u32 {
    return arcs[cell + 1u] - arcs[cell];
}

fn front_move(cell: u32, i: u32) -> vec2<u32> {
    let word = arc_word(arcs[cell] + i);
    return vec2<u32>(arcs[word], arcs[word + 1u]);
}
