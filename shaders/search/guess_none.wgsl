// No heuristic, for searches on arbitrary graphs: Dijkstra's algorithm.
//
// provides: estimate
//
// bounds: no buffer is read.

fn estimate(vertex: u32, goal: u32) -> u32 {
    return 0u;
}
