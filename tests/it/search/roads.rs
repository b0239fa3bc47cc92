//! Searches in graphs: every queue design against the sequential search, and that against
//! Dijkstra's algorithm; consistent heuristics, and others.

use std::sync::Arc;

use eventhorizon::gpu::Source;
use eventhorizon::queue::QueueDesign;
use eventhorizon::search::reference::AStar;
use eventhorizon::search::{Engine, Graph, Guided, Heuristic, Mapping, Options, SearchError};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use super::common::{gpu, queues};
use super::graphs::random;

type Searches = Vec<(u32, u32)>;

fn mappings() -> impl Iterator<Item = Mapping> {
    queues().map(Mapping::Thread)
}

fn engine(graph: &Guided, mapping: Mapping) -> Engine<Guided> {
    made(graph, Options::default().mapping(mapping))
}

fn made(graph: &Guided, options: Options) -> Engine<Guided> {
    Engine::new(&gpu(), graph.clone(), options).unwrap()
}

/// Compares engines with the sequential search, costs and paths, and that with Dijkstra's
/// algorithm.
fn check(graph: &Guided, searches: &Searches, mappings: impl Iterator<Item = Mapping>) {
    let each = mappings.map(|mapping| (format!("{mapping:?}"), engine(graph, mapping)));
    check_engines(graph, searches, each);
}

fn check_engines(
    graph: &Guided,
    searches: &Searches,
    engines: impl Iterator<Item = (String, Engine<Guided>)>,
) {
    let mut search = AStar::new(graph);
    let outcomes: Vec<_> = searches.iter().map(|&(start, goal)| search.find(start, goal)).collect();
    let with: Vec<_> = searches.iter().map(|&(start, goal)| search.find_path(start, goal)).collect();
    for ((outcome, path), &(start, goal)) in with.iter().zip(searches) {
        let distance = graph.graph().distances_from(start)[goal as usize];
        assert_eq!(outcome.cost.map(u64::from), distance, "{start} to {goal}");
        if outcome.cost.is_some() {
            assert_eq!((path.first(), path.last()), (Some(&start), Some(&goal)));
        }
        let steps = path.windows(2).map(|pair| {
            let arc = graph.graph().arcs_from(pair[0]).iter().find(|(to, _)| *to == pair[1]);
            arc.expect("an arc of the graph").1
        });
        assert_eq!(steps.sum::<u32>(), outcome.cost.unwrap_or(0), "the path from {start} to {goal}");
    }
    for (what, engine) in engines {
        let plain = engine.run(searches).unwrap();
        assert_eq!(plain.outcomes(), outcomes, "{what}");
        let options = engine.options().paths(true);
        let engine = engine.with_options(options);
        let found = engine.run(searches).unwrap();
        assert_eq!(found.fingerprint(), plain.fingerprint());
        for (number, (outcome, path)) in with.iter().enumerate() {
            assert_eq!(found.outcomes()[number], *outcome, "{what} with paths: search {number}");
            assert!(found.path(number).eq(path.iter().copied()), "{what}: the path of search {number}");
        }
    }
}

/// Searches between all kinds of vertices; the first from a vertex to itself.
fn searches(graph: &Guided, count: u32, seed: u64) -> Searches {
    let vertices = graph.graph().vertices();
    let mut stream = eventhorizon::random::Stream::new(seed, 1, 0);
    let mut vertex = || u32::try_from((u64::from(stream.draw()) * u64::from(vertices)) >> 32).unwrap();
    let first = vertex();
    [(first, first)].into_iter().chain((1..count).map(|_| (vertex(), vertex()))).collect()
}

/// A user's space: vertices in a row, arcs that weigh at least `weight` times the vertices that
/// they pass.
#[derive(Debug)]
struct Row {
    weight: u32,
}

impl Heuristic for Row {
    fn source(&self) -> Source {
        let text = "@group(1) @binding(0) var<storage, read> data: array<u32>;\nfn apart(a: u32, b: u32) -> u32 { return max(a, b) - min(a, b); }\nfn estimate(vertex: u32, goal: u32) -> u32 {\n    return data[0] * apart(vertex, goal);\n}\n";
        Source::new("row.wgsl", text)
    }

    fn data(&self) -> Vec<u32> {
        vec![self.weight]
    }

    fn estimate(&self, vertex: u32, goal: u32) -> u32 {
        self.weight * vertex.abs_diff(goal)
    }
}

/// A random graph with arcs that weigh `least` for each vertex that they pass, plus up to `more`.
fn rows(vertices: u32, arcs: u32, least: u32, more: u32, seed: u64) -> Graph {
    let graph = random(vertices, arcs, more, seed);
    let arcs = (0..vertices).flat_map(|from| {
        let arcs = graph.arcs_from(from).iter();
        arcs.map(move |&(to, weight)| (from, to, 1 + weight + least * from.abs_diff(to)))
    });
    Graph::new(vertices, &arcs.collect::<Vec<_>>()).unwrap()
}

#[test]
fn random_graphs_have_the_paths_of_the_sequential_search() {
    let mut runner = TestRunner::new(Config::with_cases(6));
    let graphs = (1_u32..150, 0_u32..5, 0_u32..20, prop_oneof![Just(1_u32), 1_u32..100_000], any::<u64>());
    let run = |(vertices, arcs, least, more, seed)| {
        let graph = rows(vertices, arcs, least, more, seed);
        let guided = Guided::new(graph.clone(), Arc::new(Row { weight: least }));
        guided.check(&(0..vertices.min(20)).collect::<Vec<_>>()).unwrap();
        let list = searches(&guided, 20, seed);
        check(&guided, &list, mappings());
        check(&Guided::from(graph), &list, [Mapping::Auto].into_iter());
        Ok(())
    };
    runner.run(&graphs, run).unwrap();
}

#[test]
fn roads_have_the_paths_of_the_sequential_search_with_straight_lines_and_without() {
    let (graph, places) = Graph::random_roads(24, 3).unwrap();
    let guided = Guided::straight(graph.clone(), &places).unwrap();
    guided.check(&[0, 100, 575]).unwrap();
    let list = searches(&guided, 65, 4);
    check(&guided, &list, mappings());
    let plain = Guided::from(graph);
    check(&plain, &list, [Mapping::Auto].into_iter());
    let expanded = |graph| engine(graph, Mapping::Auto).run(&list).unwrap().expanded();
    assert!(expanded(&guided) < expanded(&plain), "the straight lines lead somewhere");
    let checked = Engine::new(&gpu().checked(), guided.clone(), Options::default()).unwrap();
    check_engines(&guided, &list, [("checked".to_owned(), checked)].into_iter());
    let tight = made(&guided, Options::default().capacity(2).slots(7).group_size(5));
    check_engines(&guided, &list, [("tight".to_owned(), tight)].into_iter());
}

#[test]
fn vertices_may_have_any_number_of_arcs() {
    // From 0 to each of the middle vertices, and from those to the last. 70,000 exceed the
    // iterations of a loop on llvmpipe.
    for middle in [3, 4, 5, 8, 9, 16, 17, 70_000] {
        let last = middle + 1;
        let arcs = (1..=middle)
            .flat_map(|vertex| [(0, vertex, 1 + vertex % 1000), (vertex, last, 2000 - vertex % 1000)]);
        let arcs: Vec<_> = arcs.collect();
        let graph = Guided::from(Graph::new(last + 1, &arcs).unwrap());
        check(&graph, &vec![(0, last), (last, 0), (0, middle), (middle, last)], [Mapping::Auto].into_iter());
    }
}

#[test]
fn weights_may_be_as_large_as_costs_hold() {
    // With such large ranges marks are cleared for each search.
    let heavy = u32::MAX / 3;
    let ring: Vec<_> = (0..8).map(|vertex| (vertex, (vertex + 1) % 8, heavy)).collect();
    let ring = Guided::from(Graph::new(8, &ring).unwrap());
    let list: Searches = (0..40).map(|search| (search % 8, (search + search % 3) % 8)).collect();
    check(&ring, &list, mappings());
    for slots in [1, 3] {
        let some = made(&ring, Options::default().slots(slots));
        check_engines(&ring, &list, [(format!("{slots} slots"), some)].into_iter());
    }
    // Three times the weight is 2^32 - 1, which is above the limit by one.
    let error = engine(&ring, Mapping::Auto).run(&[(0, 1), (0, 3)]).unwrap_err();
    assert!(matches!(error, SearchError::Overflow { search: 1, limit: u32::MAX }), "{error}");
    // Estimates whose sum with the costs overflows belong to paths that are too long too.
    let graph = Graph::new(3, &[(0, 1, u32::MAX), (1, 2, 5), (0, 2, u32::MAX - 1)]).unwrap();
    check(&Guided::from(graph.clone()), &vec![(1, 2), (0, 2)], mappings());
    let graph = Guided::from(graph);
    let error = engine(&graph, Mapping::Auto).run(&[(0, 1)]).unwrap_err();
    assert!(matches!(error, SearchError::Overflow { search: 0, .. }), "{error}");
    // The CPU search reports the same for it, and nothing for others.
    let mut reference = AStar::new(&graph);
    for (search, (start, goal)) in (0..).zip([(1, 2), (0, 1), (2, 0), (0, 2)]) {
        reference.find_path(start, goal);
        match (reference.check(search), start + goal) {
            (Err(SearchError::Overflow { search: 1, limit: u32::MAX }), 1) => {}
            (Ok(()), sum) if sum != 1 => {}
            (reported, _) => panic!("{start} to {goal}: {reported:?}"),
        }
    }
}

#[test]
fn arcs_of_weight_0_are_for_costs_only() {
    let graph = Guided::from(Graph::new(4, &[(0, 1, 0), (1, 0, 0), (1, 2, 3), (2, 2, 9)]).unwrap());
    let found = engine(&graph, Mapping::Auto).run(&[(0, 2), (2, 0), (0, 1), (3, 3)]).unwrap();
    let costs: Vec<_> = found.outcomes().iter().map(|outcome| outcome.cost).collect();
    assert_eq!(costs, [Some(3), None, Some(0), Some(0)]);
    let refused = made(&graph, Options::default().paths(true)).run(&[(0, 2)]).unwrap_err();
    assert!(matches!(refused, SearchError::FreeArc { from: 0, to: 1 }), "{refused}");
}

#[test]
fn heuristics_that_break_their_promise_are_told() {
    // Arcs weigh 5 for each vertex that they pass, and the heuristic returns 6: every search over
    // more than one arc detects that.
    let row: Vec<_> = (0..50).flat_map(|vertex| [(vertex, vertex + 1, 5), (vertex + 1, vertex, 5)]).collect();
    let broken = Guided::new(Graph::new(51, &row).unwrap(), Arc::new(Row { weight: 6 }));
    let mut reference = AStar::new(&broken);
    assert_eq!(reference.find(10, 40).cost, None);
    let error = reference.check(0).unwrap_err();
    assert!(matches!(error, SearchError::Heuristic { search: 0, from: 10, to: 11 }), "{error}");
    for mapping in mappings() {
        for paths in [false, true] {
            let engine = made(&broken, Options::default().mapping(mapping).paths(paths));
            let error = engine.run(&[(3, 3), (10, 40), (9, 1)]).unwrap_err();
            let SearchError::Heuristic { search: 1, from: 10, to: 11 } = error else { panic!("{error}") };
        }
    }
    let error = broken.check(&[40]).unwrap_err();
    assert!(matches!(error, SearchError::Heuristic { search: 0, from: 0, to: 1 }), "{error}");
    // An estimate that is not 0 at the goal.
    let own = Guided::new(
        Graph::new(3, &[(0, 1, 5)]).unwrap(),
        Arc::new(Text("fn estimate(v: u32, g: u32) -> u32 { return 1u; }")),
    );
    let error = engine(&own, Mapping::Auto).run(&[(0, 1)]).unwrap_err();
    assert!(matches!(error, SearchError::Heuristic { search: 0, from: 1, to: 1 }), "{error}");
    assert!(own.check(&[1]).is_err());
}

#[test]
fn estimates_may_say_that_there_is_no_way() {
    // From 3 no arc leads on.
    let graph = || Graph::new(4, &[(0, 1, 2), (1, 2, 2), (0, 3, 1)]).unwrap();
    let text = "fn estimate(v: u32, g: u32) -> u32 { return select(0u, 0xffffffffu, v == 3u && g != 3u); }";
    let reference = |vertex, goal| if vertex == 3 && goal != 3 { u32::MAX } else { 0 };
    let guided = Guided::new(graph(), Arc::new(PrintedRoad { text, reference }));
    guided.check(&[0, 1, 2, 3]).unwrap();
    let list = vec![(0, 2), (3, 2), (3, 3), (1, 3), (0, 3), (2, 0)];
    check(&guided, &list, mappings());
    // An estimate one lower means a path of more than 32 bits, which is reported, for any weights.
    let text = "fn estimate(v: u32, g: u32) -> u32 { return select(0u, 0xfffffffeu, v == 3u && g != 3u); }";
    let reference = |vertex, goal| if vertex == 3 && goal != 3 { u32::MAX - 1 } else { 0 };
    let guided = Guided::new(graph(), Arc::new(PrintedRoad { text, reference }));
    let found = engine(&guided, Mapping::Auto).run(&[(0, 2), (0, 0), (0, 1)]).unwrap();
    assert_eq!(found.found(), 3);
    let dead_end = Graph::new(4, &[(0, 3, 1), (1, 2, 2)]).unwrap();
    let guided = Guided::new(dead_end, Arc::new(PrintedRoad { text, reference }));
    let error = engine(&guided, Mapping::Auto).run(&[(1, 2), (0, 2)]).unwrap_err();
    assert!(matches!(error, SearchError::Overflow { search: 1, limit: u32::MAX }), "{error}");
    let mut search = AStar::new(&guided);
    search.find(0, 2);
    assert!(matches!(search.check(7), Err(SearchError::Overflow { search: 7, limit: u32::MAX })));
}

/// A heuristic of any text, with its reference implementation.
struct PrintedRoad {
    text: &'static str,
    reference: fn(u32, u32) -> u32,
}

impl std::fmt::Debug for PrintedRoad {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.text)
    }
}

impl Heuristic for PrintedRoad {
    fn source(&self) -> Source {
        Source::new("told.wgsl", self.text)
    }

    fn estimate(&self, vertex: u32, goal: u32) -> u32 {
        (self.reference)(vertex, goal)
    }
}

/// A heuristic of any text; its reference implementation returns 1.
#[derive(Debug)]
struct Text(&'static str);

impl Heuristic for Text {
    fn source(&self) -> Source {
        Source::new("mine.wgsl", self.0)
    }

    fn estimate(&self, _: u32, _: u32) -> u32 {
        1
    }
}

#[test]
fn what_heuristics_and_graphs_cannot_be_is_refused() {
    let graph = Graph::new(3, &[(0, 1, 5)]).unwrap();
    for (text, says) in [
        (
            "fn guess() {}",
            "mine.wgsl: the heuristic does not declare `fn estimate(vertex: u32, goal: u32) -> u32`",
        ),
        ("fn estimate(v: u32) -> u32 { return 0u; }", "mine.wgsl: the heuristic must declare `fn estimate"),
        ("fn estimate(v: u32, g: u32) -> u32 {\n    return missing;\n}", "mine.wgsl:2:12: "),
        (
            "fn estimate(v: u32, g: u32) -> u32 {\n    return marks[v];\n}",
            "mine.wgsl:2:12: `marks` is a variable of the engine",
        ),
        (
            "fn estimate(v: u32, g: u32) -> u32 {\n    workgroupBarrier();\n    return 0u;\n}",
            "mine.wgsl:2:5: a barrier",
        ),
        (
            "fn estimate(v: u32, g: u32) -> u32 {\n    let far = sqrt(f32(g));\n    return u32(far);\n}",
            "mine.wgsl:2:15: a floating-point value. Each comparison repeats the estimates",
        ),
        (
            "@group(1) @binding(0) var<storage, read> data: array<f32>;\nfn estimate(v: u32, g: u32) -> u32 {\n    return u32(data[v]);\n}",
            "mine.wgsl:3:1",
        ),
    ] {
        let guided = Guided::new(graph.clone(), Arc::new(Text(text)));
        let reported = Engine::new(&gpu(), guided, Options::default()).unwrap_err().to_string();
        assert!(reported.starts_with(says), "{reported}");
    }
    let refused =
        |list: &[(u32, u32)], mapping| engine(&graph.clone().into(), mapping).run(list).unwrap_err();
    let beyond = refused(&[(0, 2), (3, 0)], Mapping::Auto);
    assert!(matches!(beyond, SearchError::NoVertex { search: 1, vertex: 3, vertices: 3 }), "{beyond}");
    for mapping in [Mapping::Team, Mapping::Bands] {
        assert!(matches!(refused(&[], mapping), SearchError::Mapping { .. }));
    }
    assert!(matches!(refused(&[], Mapping::Thread(QueueDesign::CB_PAR)), SearchError::Queue { .. }));
    let empty = engine(&Graph::new(0, &[]).unwrap().into(), Mapping::Auto);
    assert_eq!(empty.run(&[]).unwrap().outcomes(), []);
}

#[test]
fn the_fingerprint_in_a_graph_is_this() {
    let (graph, places) = Graph::random_roads(20, 1).unwrap();
    let guided = Guided::straight(graph, &places).unwrap();
    let list = searches(&guided, 100, 1);
    let found = engine(&guided, Mapping::Auto).run(&list).unwrap();
    assert_eq!(format!("{:016x}", found.fingerprint()), "af798c05be8d0520");
}
