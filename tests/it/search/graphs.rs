//! Graphs: distances between all pairs of vertices against Dijkstra's algorithm, and the files of
//! the DIMACS challenge.

use eventhorizon::gpu::Gpu;
use eventhorizon::search::{AllPairs, Graph, SearchError, dimacs_coordinates, dimacs_graph};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use super::common::gpu;

/// A random graph with about `arcs` arcs from each vertex, and weights below `most`.
pub(super) fn random(vertices: u32, arcs: u32, most: u32, seed: u64) -> Graph {
    let mut stream = eventhorizon::random::Stream::new(seed, 0, 0);
    let mut below = |limit: u32| u32::try_from((u64::from(stream.draw()) * u64::from(limit)) >> 32).unwrap();
    let all = (0..vertices * arcs).map(|_| (below(vertices), below(vertices), below(most)));
    Graph::new(vertices, &all.collect::<Vec<_>>()).unwrap()
}

fn check(gpu: &Gpu, graph: &Graph) {
    let all = AllPairs::new(gpu, graph).unwrap();
    assert_eq!(all.vertices(), graph.vertices());
    for vertex in 0..graph.vertices() {
        let expected = graph.distances_from(vertex);
        let found = all.from(gpu, vertex).unwrap();
        let found: Vec<_> = found.into_iter().map(|distance| distance.map(u64::from)).collect();
        assert_eq!(found, expected, "from {vertex} of {}", graph.vertices());
    }
}

#[test]
fn all_pairs_are_as_far_apart_as_dijkstra_says() {
    for vertices in [0, 1, 2, 31, 32, 33, 63, 64, 65, 129] {
        check(&gpu(), &random(vertices, 3, 1000, vertices.into()));
    }
    check(&gpu().checked(), &random(70, 2, 5, 1));
    // The greatest permitted weights, in a ring.
    let heaviest = (i32::MAX.cast_unsigned() - 1) / 39;
    let ring: Vec<_> = (0..40).map(|vertex| (vertex, (vertex + 1) % 40, heaviest)).collect();
    check(&gpu(), &Graph::new(40, &ring).unwrap());
    let mut runner = TestRunner::new(Config::with_cases(8));
    let graphs = (1_u32..100, 0_u32..6, 1_u32..1_000_000, any::<u64>());
    let run = |(vertices, arcs, most, seed)| {
        check(&gpu(), &random(vertices, arcs, most, seed));
        Ok(())
    };
    runner.run(&graphs, run).unwrap();
}

#[test]
fn what_graphs_cannot_be_is_refused() {
    let beyond = Graph::new(3, &[(0, 1, 1), (1, 3, 1)]).unwrap_err();
    assert!(matches!(beyond, SearchError::Vertex { arc: 1, vertex: 3, vertices: 3 }), "{beyond}");
    let heavy = Graph::new(3, &[(0, 1, 1 << 30)]).unwrap();
    assert!(matches!(AllPairs::new(&gpu(), &heavy), Err(SearchError::Weights { .. })));
    let far = Graph::new(1000, &[]).unwrap();
    let small = gpu().binding_at_most(1 << 20);
    assert!(matches!(AllPairs::new(&small, &far), Err(SearchError::Gpu(_))));
    let all = AllPairs::new(&gpu(), &Graph::new(2, &[]).unwrap()).unwrap();
    assert!(matches!(all.from(&gpu(), 2), Err(SearchError::Source { vertex: 2, vertices: 2 })));
}

#[test]
fn dimacs_files_are_read_and_errors_name_the_line() {
    let graph = dimacs_graph("g", "c a comment\np sp 3 2\n\na 1 2 7\nc\na 3 1 4\n").unwrap();
    assert_eq!(graph, Graph::new(3, &[(0, 1, 7), (2, 0, 4)]).unwrap());
    let places = dimacs_coordinates("c", "p aux sp co 2\nv 2 -5 6\nv 1 7 8\n").unwrap();
    assert_eq!(places, [(7, 8), (-5, 6)]);
    for (text, says) in [
        ("", "g, line 1: the line 'p sp VERTICES ARCS' is missing"),
        ("p max 3 2\n", "g, line 1: expected 'p sp VERTICES ARCS'"),
        ("p sp 4000000000 2\n", "g, line 1: 4000000000 vertices in a file of 18 bytes"),
        ("p sp 3\n", "g, line 1: number of arcs is missing"),
        ("p sp 3 2\na 1 4 1\n", "g, line 2: expected a vertex number from 1 to 3, found 4"),
        ("p sp 3 2\na 0 1 1\n", "g, line 2: expected a vertex number from 1 to 3, found 0"),
        ("p sp 3 2\na 1 2 -1\n", "g, line 2: '-1' is not a weight"),
        ("p sp 3 2\nb\n", "g, line 2: expected 'a FROM TO WEIGHT'"),
        ("p sp 3 1\na 1 2 1\na 1 2 1\n", "g, line 3: the file has 1 arcs, but here is another"),
        ("p sp 3 2\na 1 2 1\n", "g, line 3: the file has 2 arcs, but ends after 1"),
    ] {
        let reported = dimacs_graph("g", text).unwrap_err().to_string();
        assert!(reported.starts_with(says), "{reported}");
    }
    for (text, says) in [
        ("p sp 3 2\n", "c, line 1: expected 'p aux sp co VERTICES'"),
        ("p aux sp co 2\nv 1 2 3\nv 1 2 3\n", "c, line 3: the vertex 1 has coordinates already"),
        ("p aux sp co 2\nv 1 2 3\n", "c, line 3: the vertex 2 has no coordinates"),
        ("p aux sp co 4000000000\n", "c, line 1: 4000000000 vertices in a file of 23 bytes"),
    ] {
        let reported = dimacs_coordinates("c", text).unwrap_err().to_string();
        assert!(reported.starts_with(says), "{reported}");
    }
}
