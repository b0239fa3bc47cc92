//! Path search: every mapping and queue design against the sequential search, which is checked against Dijkstra's algorithm and the lengths
//! that the Moving AI scenarios tell.

#[path = "../common/mod.rs"]
mod common;

mod formats;
mod graphs;
mod maps;

use std::collections::HashMap;

use common::{gpu, queues};
use eventhorizon::gpu::{Gpu, GpuError};
use eventhorizon::queue::QueueDesign;
use eventhorizon::search::reference::AStar;
use eventhorizon::search::{Engine, Grid, Mapping, Moves, Outcome, SearchError};
use glam::UVec2;
use maps::{Map, map};
use proptest::test_runner::{Config, TestRunner};

type Searches = Vec<(UVec2, UVec2)>;

/// Teams, and threads with every queue that one invocation serves.
fn mappings() -> Vec<Mapping> {
    let threads = queues().filter(|design| design.lanes() == 1).map(Mapping::Thread);
    threads.chain([Mapping::Bands, Mapping::Team]).collect()
}

/// The cost of the cheapest path, by Dijkstra's algorithm without any of the library's code but `Grid::step`.
fn dijkstra(grid: &Grid, start: UVec2, goal: UVec2) -> Option<u32> {
    let mut open = std::collections::BTreeSet::new();
    let mut costs = HashMap::new();
    if !grid.passable(start) || !grid.passable(goal) {
        return None;
    }
    open.insert((0, start.x, start.y));
    costs.insert(start, 0);
    while let Some((cost, x, y)) = open.pop_first() {
        let at = UVec2::new(x, y);
        if at == goal {
            return Some(cost);
        }
        for to_y in y.saturating_sub(1)..=y + 1 {
            for to_x in x.saturating_sub(1)..=x + 1 {
                let to = UVec2::new(to_x, to_y);
                let Some(step) = grid.step(at, to) else { continue };
                let known = costs.get(&to).copied();
                if known.is_none_or(|known| cost + step < known) {
                    if let Some(known) = known {
                        open.remove(&(known, to.x, to.y));
                    }
                    costs.insert(to, cost + step);
                    open.insert((cost + step, to.x, to.y));
                }
            }
        }
    }
    None
}

/// What the searches come to on the processor, with paths; the paths are checked.
fn expected(grid: &Grid, searches: &Searches) -> (Vec<Outcome>, Vec<Vec<UVec2>>) {
    let mut search = AStar::new(grid);
    let found = searches.iter().map(|&(start, goal)| {
        let quick = search.find(start, goal);
        let (outcome, path) = search.find_path(start, goal);
        assert_eq!(quick, outcome, "{start} to {goal}: with and without path");
        check_path(grid, (start, goal), outcome.cost, &path);
        (outcome, path)
    });
    found.unzip()
}

fn check_path(grid: &Grid, (start, goal): (UVec2, UVec2), cost: Option<u32>, path: &[UVec2]) {
    let Some(cost) = cost else {
        assert_eq!(path.len(), 0, "a path where there is none");
        return;
    };
    assert_eq!((path[0], path[path.len() - 1]), (start, goal));
    let steps = path.windows(2).map(|pair| grid.step(pair[0], pair[1]).expect("an allowed move"));
    assert_eq!(steps.sum::<u32>(), cost, "the path from {start} to {goal} is as long as it is said to be");
}

/// Compares one engine with what is expected, with and without paths.
fn check(engine: &dyn Fn() -> Engine, searches: &Searches, expected: &(Vec<Outcome>, Vec<Vec<UVec2>>)) {
    let plain = engine().run(searches).unwrap();
    let what = || format!("{:?} on {}", engine().mapping(), engine().map().width());
    assert_eq!(plain.outcomes(), expected.0, "{}", what());
    let with = engine().with_paths().run(searches).unwrap();
    assert_eq!(with.outcomes(), expected.0, "{} with paths", what());
    assert_eq!(with.fingerprint(), plain.fingerprint());
    for (search, path) in expected.1.iter().enumerate() {
        assert_eq!(with.path(search).collect::<Vec<_>>(), *path, "{}: path of {search}", what());
        assert_eq!(plain.path(search).len(), 0);
    }
}

fn engine(grid: &Grid, mapping: Mapping) -> Engine {
    Engine::grid(&gpu(), grid.clone()).unwrap().with_mapping(mapping)
}

/// Compares every mapping.
fn check_all(grid: &Grid, searches: &Searches) {
    let expected = expected(grid, searches);
    for mapping in mappings() {
        check(&|| engine(grid, mapping), searches, &expected);
    }
}

/// Every second cell of every second column blocked but for one, at alternating ends: one way, through all cells.
fn comb(side: u32) -> Grid {
    let cell = |x: u32, y: u32| u8::from(x.is_multiple_of(2) || y == if x % 4 == 1 { 0 } else { side - 1 });
    let terrain = (0..side).flat_map(|y| (0..side).map(move |x| cell(x, y)));
    Grid::new(side, side, terrain.collect()).unwrap()
}

fn corners(grid: &Grid) -> (UVec2, UVec2) {
    (UVec2::ZERO, UVec2::new(grid.width() - 1, grid.height() - 1))
}

#[test]
fn the_sequential_search_is_as_cheap_as_dijkstra() {
    let mut runner = TestRunner::new(Config::with_cases(96));
    let run = |Map { grid, searches }: Map| {
        let (outcomes, _) = expected(&grid, &searches);
        for (outcome, (start, goal)) in outcomes.iter().zip(&searches) {
            assert_eq!(outcome.cost, dijkstra(&grid, *start, *goal));
        }
        Ok(())
    };
    runner.run(&map(16, 6), run).unwrap();
}

#[test]
fn maps_of_all_kinds_have_the_paths_of_the_sequential_search() {
    let mut runner = TestRunner::new(Config::with_cases(10));
    let run = |Map { grid, searches }: Map| {
        check_all(&grid, &searches);
        Ok(())
    };
    runner.run(&map(40, 20), run).unwrap();
}

#[test]
fn so_do_numbers_of_searches_around_a_workgroup() {
    for (seed, side, searches) in [(1, 1, 1), (2, 2, 31), (3, 17, 32), (4, 33, 33), (5, 48, 65)] {
        let grid = Grid::random(side, 0.2, seed).unwrap();
        check_all(&grid, &grid.random_searches(searches, seed));
    }
}

#[test]
fn few_slots_serve_many_searches_in_turn() {
    // With costs so large, epochs end after some 60 searches of a slot, and its marks are cleared.
    let moves = Moves::Eight { straight: 1 << 20, diagonal: 1 << 20 };
    let grid = Grid::random(8, 0.3, 3).unwrap().with_moves(moves).unwrap();
    let searches = grid.random_searches(150, 7);
    let expected = expected(&grid, &searches);
    for mapping in [Mapping::Thread(QueueDesign::Heap), Mapping::Bands, Mapping::Team] {
        for slots in [1, 33] {
            let engine = engine(&grid, mapping).with_slots(slots);
            // What a run leaves behind in its slots is nothing to the next.
            for _ in 0..2 {
                assert_eq!(engine.run(&searches).unwrap().outcomes(), expected.0, "{slots} slots");
            }
            check(&|| engine_of(&grid, mapping, slots), &searches, &expected);
        }
    }
}

fn engine_of(grid: &Grid, mapping: Mapping, slots: u32) -> Engine {
    engine(grid, mapping).with_slots(slots)
}

#[test]
fn an_open_list_that_is_too_short_grows() {
    let grid = Grid::random(32, 0.1, 5).unwrap();
    let searches = grid.random_searches(40, 6);
    let expected = expected(&grid, &searches);
    for mapping in mappings() {
        check(&|| engine(&grid, mapping).with_capacity(2), &searches, &expected);
    }
}

#[test]
fn a_path_much_longer_than_the_map_is_wide_is_found() {
    // Its cost is beyond the range that searches begin with.
    let grid = comb(64);
    let searches = vec![corners(&grid), (UVec2::ZERO, UVec2::new(2, 0)), corners(&grid)];
    let expected = expected(&grid, &searches);
    assert!(expected.0[0].cost.unwrap() > 8 * 128 * 3363);
    for mapping in [Mapping::Thread(QueueDesign::Heap4), Mapping::Bands, Mapping::Team] {
        check(&|| engine(&grid, mapping), &searches, &expected);
    }
}

#[test]
fn costs_beyond_32_bits_are_told() {
    let grid = comb(32).with_moves(Moves::Four { straight: 1 << 24 }).unwrap();
    let near = (UVec2::ZERO, UVec2::new(0, 5));
    for mapping in [Mapping::Thread(QueueDesign::Heap), Mapping::Bands, Mapping::Team] {
        let engine = engine(&grid, mapping);
        let error = engine.run(&[near, corners(&grid), near]).unwrap_err();
        assert!(matches!(error, SearchError::Overflow { search: 1, .. }), "{error}");
        assert_eq!(engine.run(&[near]).unwrap().outcomes()[0].cost, Some(5 << 24));
    }
}

#[test]
fn paths_are_read_in_parts_where_there_is_little_room() {
    let grid = Grid::random(24, 0.2, 9).unwrap();
    let searches = grid.random_searches(200, 1);
    let expected = expected(&grid, &searches);
    for mapping in [Mapping::Thread(QueueDesign::Heap), Mapping::Bands, Mapping::Team] {
        check(&|| engine(&grid, mapping).with_path_room(1), &searches, &expected);
    }
}

#[test]
fn checks_bands_and_group_sizes_change_nothing() {
    let grid = Grid::random(33, 0.25, 4).unwrap();
    let searches = grid.random_searches(50, 2);
    let expected = expected(&grid, &searches);
    for mapping in mappings() {
        let checked = || Engine::grid(&gpu().checked(), grid.clone()).unwrap().with_mapping(mapping);
        check(&checked, &searches, &expected);
    }
    for size in [1, 7, 64] {
        let engine = || engine(&grid, Mapping::Thread(QueueDesign::Heap)).with_group_size(size);
        check(&engine, &searches, &expected);
    }
    for (size, band) in [(1, 0), (7, u32::MAX), (64, 2378)] {
        let engine = || engine(&grid, Mapping::Bands).with_group_size(size).with_band(band);
        check(&engine, &searches, &expected);
    }
    for (size, band) in [(8, 0), (8, u32::MAX), (13, 2378), (64, 0), (256, 100_000)] {
        let engine = || engine(&grid, Mapping::Team).with_group_size(size).with_band(band);
        check(&engine, &searches, &expected);
    }
}

#[test]
fn the_fingerprint_is_this() {
    let grid = Grid::random(32, 0.2, 42).unwrap();
    let searches = grid.random_searches(100, 42);
    let found = engine(&grid, Mapping::Auto).run(&searches).unwrap();
    assert_eq!(format!("{:016x}", found.fingerprint()), "15c189dae8468d64");
}

#[test]
fn lists_without_searches_and_maps_without_ways_are_fine() {
    let blocked = Grid::new(3, 2, vec![0; 6]).unwrap();
    assert_eq!(blocked.random_searches(5, 1), []);
    let cells = (UVec2::ZERO, UVec2::new(2, 1));
    for mapping in mappings() {
        assert_eq!(engine(&blocked, mapping).run(&[]).unwrap().outcomes(), []);
        let found = engine(&blocked, mapping).with_paths().run(&[cells, cells]).unwrap();
        assert_eq!(found.outcomes(), [Outcome { cost: None, expanded: 0 }; 2]);
        assert_eq!(found.path(1).len(), 0);
    }
}

#[test]
fn results_go_to_the_device() {
    let grid = Grid::new(3, 1, vec![1, 1, 0]).unwrap();
    let cell = |x| UVec2::new(x, 0);
    let found =
        engine(&grid, Mapping::Auto).with_paths().run(&[(cell(0), cell(1)), (cell(0), cell(2))]).unwrap();
    assert_eq!(found.costs_on(&gpu()).unwrap().read(&gpu()).unwrap(), [2378, u32::MAX]);
    let (firsts, cells) = found.paths_on(&gpu()).unwrap();
    assert_eq!((firsts.read(&gpu()).unwrap(), cells.read(&gpu()).unwrap()), (vec![0, 2, 2], vec![0, 1]));
}

#[test]
fn what_cannot_be_is_refused() {
    let grid = Grid::random(8, 0.0, 1).unwrap();
    let outside = engine(&grid, Mapping::Auto).run(&[(UVec2::ZERO, UVec2::new(3, 8))]).unwrap_err();
    assert!(matches!(outside, SearchError::Outside { search: 0, x: 3, y: 8, .. }), "{outside}");
    for design in [QueueDesign::CB_PAR, QueueDesign::Calendar] {
        let refused = engine(&grid, Mapping::Thread(design)).run(&[]).unwrap_err();
        assert!(matches!(refused, SearchError::Queue { .. }), "{refused}");
    }
    for (mapping, size) in
        [(Mapping::Team, 7), (Mapping::Team, 4096), (Mapping::Thread(QueueDesign::Heap), 0)]
    {
        let refused = engine(&grid, mapping).with_group_size(size).run(&[]).unwrap_err();
        assert!(matches!(refused, SearchError::Setting { .. }), "{refused}");
    }
    let small = Gpu::binding_at_most(&gpu(), 256);
    let engine = Engine::grid(&small, Grid::random(8, 0.0, 1).unwrap()).unwrap();
    assert!(engine.with_capacity(1).run(&[(UVec2::ZERO, UVec2::ZERO)]).is_ok());
    let engine = Engine::grid(&small, Grid::random(9, 0.0, 1).unwrap()).unwrap();
    let refused = engine.run(&[(UVec2::ZERO, UVec2::ZERO)]).unwrap_err();
    assert!(matches!(refused, SearchError::Gpu(GpuError::TooLarge { .. })), "{refused}");
    let moves =
        |straight, diagonal| grid.clone().with_moves(Moves::Eight { straight, diagonal }).unwrap_err();
    for (straight, diagonal) in [(0, 0), (2, 1), (2, 5)] {
        assert!(matches!(moves(straight, diagonal), SearchError::Moves { .. }));
    }
    assert!(matches!(moves(1 << 30, 1 << 30), SearchError::Costs { .. }));
    assert!(matches!(Grid::new(0, 1, vec![]), Err(SearchError::Sides { .. })));
    assert!(matches!(Grid::new(2, 2, vec![1; 3]), Err(SearchError::Cells { cells: 3, .. })));
    assert!(matches!(Grid::random(4, f64::NAN, 1), Err(SearchError::Density { .. })));
    assert!(matches!(Grid::random(u32::MAX, 0.1, 1), Err(SearchError::Sides { .. })));
}

#[test]
#[ignore = "long: a map of 4,096 times 4,096 cells"]
fn a_large_map_has_the_paths_of_the_sequential_search() {
    let grid = Grid::random(4096, 0.1, 1).unwrap();
    let searches = grid.random_searches(2, 1);
    let expected = expected(&grid, &searches);
    for mapping in [Mapping::Thread(QueueDesign::Heap), Mapping::Bands, Mapping::Team] {
        check(&|| engine(&grid, mapping), &searches, &expected);
    }
}
