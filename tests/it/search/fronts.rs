//! Wavefronts: distances from many sources against Dijkstra's algorithm, on maps and in graphs.

use eventhorizon::gpu::{Gpu, GpuError};
use eventhorizon::search::{
    Graph, Grid, Guided, Moves, SearchError, Space, WavefrontOptions, Wavefronts, reference,
};
use glam::UVec2;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use super::common::gpu;
use super::dijkstra;
use super::graphs::random;
use super::maps::{Map, map};

/// Compares all results with the sequential distances.
fn check<S: Space>(gpu: &Gpu, fronts: &Wavefronts<S>, sources: &[S::Cell], targets: &[(S::Cell, usize)]) {
    let space = fronts.map();
    let expected: Vec<_> = sources.iter().map(|&source| reference::distances(space, &[source])).collect();
    let all = fronts.from_each(sources).unwrap();
    assert_eq!(
        (all.rows() as usize, all.columns() as usize),
        (sources.len(), expected.first().map_or(all.columns() as usize, Vec::len))
    );
    let cells: Vec<_> = targets.iter().map(|target| target.0).collect();
    let some = fronts.between(sources, &cells).unwrap();
    for (row, expected) in (0..).zip(&expected) {
        assert_eq!(all.row(gpu, row).unwrap(), *expected, "row {row}");
        let expected: Vec<_> = targets.iter().map(|&(_, index)| expected[index]).collect();
        assert_eq!(some.row(gpu, row).unwrap(), expected, "row {row} to some");
    }
    let near = fronts.nearest(sources).unwrap();
    assert_eq!(near.row(gpu, 0).unwrap(), reference::distances(space, sources));
}

fn check_grid(gpu: &Gpu, grid: &Grid, sources: &[UVec2]) {
    let targets: Vec<_> =
        sources.iter().rev().map(|cell| (*cell, (cell.y * grid.width() + cell.x) as usize)).collect();
    check(gpu, &Wavefronts::new(gpu, grid.clone(), WavefrontOptions::default()).unwrap(), sources, &targets);
}

fn check_graph(gpu: &Gpu, graph: Graph, sources: &[u32]) {
    for &source in sources {
        let reference = reference::distances(&Guided::from(graph.clone()), &[source]);
        let reference: Vec<_> = reference.into_iter().map(|distance| distance.map(u64::from)).collect();
        assert_eq!(reference, graph.distances_from(source));
    }
    let targets: Vec<_> = sources.iter().map(|&vertex| (vertex, vertex as usize)).collect();
    check(
        gpu,
        &Wavefronts::new(gpu, Guided::from(graph), WavefrontOptions::default()).unwrap(),
        sources,
        &targets,
    );
}

#[test]
fn distances_on_maps_are_those_of_dijkstra() {
    let mut runner = TestRunner::new(Config::with_cases(10));
    let run = |Map { grid, searches }: Map| {
        let sources: Vec<_> = searches.iter().map(|ends| ends.0).collect();
        for (start, goal) in &searches {
            let reference = reference::distances(&grid, &[*start]);
            assert_eq!(reference[(goal.y * grid.width() + goal.x) as usize], dijkstra(&grid, *start, *goal));
        }
        check_grid(&gpu(), &grid, &sources);
        Ok(())
    };
    runner.run(&map(24, 5), run).unwrap();
    // More entries than a pass takes.
    let grid = Grid::random(64, 0.1, 5).unwrap();
    check_grid(&gpu(), &grid, &grid.random_cells(60, 1));
}

#[test]
fn distances_in_graphs_are_those_of_dijkstra() {
    for vertices in [1, 2, 63, 64, 65, 127, 128, 129, 4097] {
        let graph = random(vertices, 3, 1000, vertices.into());
        check_graph(&gpu(), graph, &[0, vertices / 2, vertices - 1, 0]);
    }
    let mut runner = TestRunner::new(Config::with_cases(12));
    let graphs = (1_u32..200, 0_u32..6, 1_u32..1_000_000, any::<u64>());
    let run = |(vertices, arcs, most, seed)| {
        check_graph(&gpu(), random(vertices, arcs, most, seed), &[0, vertices - 1, vertices / 3]);
        Ok(())
    };
    runner.run(&graphs, run).unwrap();
}

#[test]
fn vertices_with_many_arcs_lend_them() {
    for spokes in [63, 64, 65, 64 * 64, 64 * 64 + 1] {
        let out = (1..=spokes).map(|vertex| (0, vertex, 7 * vertex % 101));
        let back = (1..=spokes).map(|vertex| (vertex, spokes + 1, 3 * vertex % 17));
        let arcs: Vec<_> = out.chain(back).chain([(spokes + 1, 0, 4)]).collect();
        check_graph(&gpu(), Graph::new(spokes + 2, &arcs).unwrap(), &[0, 1, spokes, spokes + 1]);
    }
}

#[test]
fn narrow_parts_may_lead_into_wide_ones() {
    // A row of vertices into roads, in which a pass has many entries, and on to another row.
    let (roads, _) = Graph::random_roads(40, 2).unwrap();
    let (inner, all) = (roads.vertices(), roads.vertices() + 600);
    let arcs =
        (0..inner).flat_map(|from| roads.arcs_from(from).iter().map(move |&(to, weight)| (from, to, weight)));
    let into = (inner..inner + 300)
        .map(|vertex| (vertex, if vertex + 1 == inner + 300 { 0 } else { vertex + 1 }, 50_000));
    let on = (inner + 300..all)
        .map(|vertex| (if vertex == inner + 300 { inner - 1 } else { vertex - 1 }, vertex, 50_000));
    let arcs: Vec<_> = arcs.chain(into).chain(on).collect();
    check_graph(&gpu(), Graph::new(all, &arcs).unwrap(), &[inner, inner + 299, 0, all - 1, inner + 100]);
}

#[test]
fn batches_and_bands_change_nothing() {
    let grid = Grid::random(33, 0.2, 4).unwrap();
    let sources = grid.random_cells(7, 1);
    let table = |fronts: &Wavefronts| {
        let all = fronts.from_each(&sources).unwrap();
        (all.table().read(&gpu()).unwrap(), all.passes())
    };
    let (usual, passes) = table(&Wavefronts::new(&gpu(), grid.clone(), WavefrontOptions::default()).unwrap());
    assert!(passes > 10);
    for (rows, band) in [(1, 0), (3, 2378), (6, u32::MAX), (7, 1)] {
        let fronts =
            Wavefronts::new(&gpu(), grid.clone(), WavefrontOptions::default().rows(rows).band(band)).unwrap();
        assert_eq!(table(&fronts).0, usual, "{rows} rows, bands of {band}");
    }
    assert_eq!(
        table(&Wavefronts::new(&gpu().checked(), grid, WavefrontOptions::default()).unwrap()).0,
        usual
    );
}

#[test]
fn distances_that_leave_32_bits_are_told() {
    let ring: Vec<_> = (0..4).map(|vertex| (vertex, (vertex + 1) % 4, u32::MAX / 3)).collect();
    let mut arcs = ring.clone();
    let fronts = Wavefronts::new(
        &gpu(),
        Guided::from(Graph::new(4, &ring).unwrap()),
        WavefrontOptions::default().rows(1),
    )
    .unwrap();
    let error = fronts.from_each(&[1]).unwrap_err();
    assert!(matches!(error, SearchError::Overflow { search: 0, limit: u32::MAX }), "{error}");
    // With a shortcut, all vertices are within 32 bits.
    arcs.push((1, 0, u32::MAX - 1));
    let fronts = Wavefronts::new(
        &gpu(),
        Guided::from(Graph::new(4, &arcs).unwrap()),
        WavefrontOptions::default().rows(1),
    )
    .unwrap();
    assert_eq!(fronts.from_each(&[1]).unwrap().row(&gpu(), 0).unwrap()[0], Some(u32::MAX - 1));
    let error = fronts.between(&[1, 2], &[1]).unwrap_err();
    assert!(matches!(error, SearchError::Overflow { search: 1, .. }), "{error}");
    // The next vertex is skipped as too far, and there is a cheaper path.
    let dear = Graph::new(3, &[(0, 1, u32::MAX - 5), (1, 2, 9), (0, 2, 1)]).unwrap();
    check_graph(&gpu(), dear, &[0]);
}

#[test]
fn what_wavefronts_cannot_be_is_refused() {
    let grid = Grid::random(8, 0.0, 1).unwrap().with_moves(Moves::MANHATTAN).unwrap();
    let fronts = Wavefronts::new(&gpu(), grid.clone(), WavefrontOptions::default()).unwrap();
    let outside = fronts.from_each(&[UVec2::ZERO, UVec2::new(8, 0)]).unwrap_err();
    assert!(matches!(outside, SearchError::Outside { search: 1, x: 8, .. }), "{outside}");
    let none = fronts.from_each(&[]).unwrap();
    assert_eq!((none.rows(), none.columns()), (0, 64));
    assert!(matches!(none.row(&gpu(), 0), Err(SearchError::Row { row: 0, rows: 0 })));
    assert_eq!(fronts.between(&[UVec2::ZERO], &[]).unwrap().row(&gpu(), 0).unwrap(), []);
    assert_eq!(fronts.nearest(&[]).unwrap().row(&gpu(), 0).unwrap(), [None; 64]);
    let beyond =
        Wavefronts::new(&gpu(), Guided::from(Graph::new(2, &[]).unwrap()), WavefrontOptions::default())
            .unwrap()
            .nearest(&[2])
            .unwrap_err();
    assert!(matches!(beyond, SearchError::NoVertex { search: 0, vertex: 2, vertices: 2 }), "{beyond}");
    // 64 cells: four lists are 1,024 bytes.
    let small = Gpu::binding_at_most(&gpu(), 1024);
    check_grid(&small, &grid, &[UVec2::ZERO, UVec2::new(3, 3), UVec2::new(7, 7)]);
    let small = Gpu::binding_at_most(&gpu(), 1008);
    let refused = Wavefronts::new(&small, grid, WavefrontOptions::default())
        .unwrap()
        .nearest(&[UVec2::ZERO])
        .unwrap_err();
    assert!(matches!(refused, SearchError::Gpu(GpuError::TooLarge { .. })), "{refused}");
}
