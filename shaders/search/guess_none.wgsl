// The heuristic of searches on a graph of which nothing is known: Dijkstra's algorithm.
//
// provides: estimate
//
// bounds: nothing is read.

fn estimate(vertex: u32, goal: u32) -> u32 {
    return 0u;
}
