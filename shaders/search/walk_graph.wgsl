// Predecessors of paths on graphs, for search/walk.wgsl.
//
//   arcs_to   as `arcs` of search/graph.wgsl, with all arcs reversed: (from, weight) by the vertex
//             that they lead to, in the order of `from`
//
// import: search/slots.wgsl
// provides: place_before
// needs: marks
//
// bounds: vertices and arcs as in graph.wgsl. The loop counts to 8.

@group(0) @binding(1) var<storage> arcs_to: array<u32>;

// The least-numbered predecessor of this vertex, and 0; if it is not among this part's eight arcs,
// any vertex and the next part.
fn place_before(base: u32, place: u32, part: u32) -> vec2<u32> {
    let mark = marks[base + place];
    let end = arcs_to[place + 1u];
    let first = select(part, arcs_to[place], part == 0u);
    // Bound: 8.
    for (var arc = first; arc < min(end, first + 8u); arc += 1u) {
        let word = work.cells + 1u + 2u * arc;
        let origin = arcs_to[word];
        let of_origin = marks[base + origin];
        // A mark is the epoch less the cost: the predecessor's is greater by the weight, which is
        // above 0. Marks of earlier searches are less. Marks fit 32 bits, so no difference wraps.
        if of_origin > mark && of_origin - mark == arcs_to[word + 1u] { return vec2<u32>(origin, 0u); }
    }
    // There is always one.
    let next = first + 8u;
    if next < end { return vec2<u32>(place, next); }
    return vec2<u32>(place, 0u);
}
