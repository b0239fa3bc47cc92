//! Path search: every mapping and queue design against the sequential search, which is checked
//! against Dijkstra's algorithm and the lengths in the Moving AI scenarios.

mod formats;
mod fronts;
mod graphs;
mod maps;
mod roads;

use std::collections::HashMap;
use std::ops::ControlFlow;

use crate::common;
use common::{gpu, queues};
use eventhorizon::gpu::{Gpu, GpuError};
use eventhorizon::queue::QueueDesign;
use eventhorizon::search::reference::AStar;
use eventhorizon::search::{Engine, Grid, Mapping, Moves, Options, Outcome, Results, SearchError};
use glam::UVec2;
use maps::{Map, map};
use proptest::test_runner::{Config, TestRunner};

type Searches = Vec<(UVec2, UVec2)>;

/// Teams, and threads with every queue that one invocation serves.
fn mappings() -> Vec<Mapping> {
    let threads = queues().map(Mapping::Thread);
    threads.chain([Mapping::Bands, Mapping::Team]).collect()
}

/// The cost of the cheapest path, by Dijkstra's algorithm, which uses only `Grid::step` of the
/// library.
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

/// The outcomes and paths of the searches on the CPU; the paths are checked.
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
        assert_eq!(path.len(), 0, "an unexpected path");
        return;
    };
    assert_eq!((path[0], path[path.len() - 1]), (start, goal));
    let steps = path.windows(2).map(|pair| grid.step(pair[0], pair[1]).expect("an allowed move"));
    assert_eq!(steps.sum::<u32>(), cost, "the path from {start} to {goal} has the returned cost");
}

/// Compares one engine with the expected outcomes, with and without paths.
fn check(engine: &dyn Fn() -> Engine, searches: &Searches, expected: &(Vec<Outcome>, Vec<Vec<UVec2>>)) {
    let without = engine();
    let plain = without.run(searches).unwrap();
    let what = || format!("{:?} on {}", engine().mapping(), engine().map().width());
    let options = without.options().paths(true);
    assert_eq!(plain.outcomes(), expected.0, "{}", what());
    let with = engine().with_options(options).run(searches).unwrap();
    assert_eq!(with.outcomes(), expected.0, "{} with paths", what());
    assert_eq!(with.fingerprint(), plain.fingerprint());
    for (search, path) in expected.1.iter().enumerate() {
        assert_eq!(with.path(search).collect::<Vec<_>>(), *path, "{}: path of {search}", what());
        assert_eq!(plain.path(search).len(), 0);
    }
}

fn engine(grid: &Grid, mapping: Mapping) -> Engine {
    made(grid, Options::default().mapping(mapping))
}

fn made(grid: &Grid, options: Options) -> Engine {
    Engine::new(&gpu(), grid.clone(), options).unwrap()
}

/// Compares every mapping.
fn check_all(grid: &Grid, searches: &Searches) {
    let expected = expected(grid, searches);
    for mapping in mappings() {
        check(&|| engine(grid, mapping), searches, &expected);
    }
}

/// Every second column is blocked except one cell, at alternating ends: one path, through all open
/// columns.
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
    // With such large costs, epochs end after some 60 searches of a slot, and its marks are
    // cleared.
    let moves = Moves::Eight { straight: 1 << 20, diagonal: 1 << 20 };
    let grid = Grid::random(8, 0.3, 3).unwrap().with_moves(moves).unwrap();
    let searches = grid.random_searches(150, 7);
    let expected = expected(&grid, &searches);
    for mapping in [Mapping::Thread(QueueDesign::Heap), Mapping::Bands, Mapping::Team] {
        for slots in [1, 33] {
            let engine = engine_of(&grid, mapping, slots);
            // The data that a run leaves in its slots does not affect the next one.
            for _ in 0..2 {
                assert_eq!(engine.run(&searches).unwrap().outcomes(), expected.0, "{slots} slots");
            }
            check(&|| engine_of(&grid, mapping, slots), &searches, &expected);
        }
    }
}

fn engine_of(grid: &Grid, mapping: Mapping, slots: u32) -> Engine {
    made(grid, Options::default().mapping(mapping).slots(slots))
}

#[test]
fn an_open_list_that_is_too_short_grows() {
    let grid = Grid::random(32, 0.1, 5).unwrap();
    let searches = grid.random_searches(40, 6);
    let expected = expected(&grid, &searches);
    for mapping in mappings() {
        let options = Options::default().mapping(mapping).capacity(2);
        check(&|| made(&grid, options), &searches, &expected);
    }
}

#[test]
fn a_list_that_was_too_short_is_so_in_the_next_dispatch() {
    // The start is in a room of 3 times 3 cells, in a ring with 11 open cells; the 11th is found
    // last, before an entry that finds none, and leads to the goal. With dispatches of 1 and 8
    // passes the first search's list is too short at the end of the second; later searches have
    // other boundaries.
    let ring = [(2, -2), (1, -2), (0, -2), (2, -1), (2, 0)];
    let cell = |x: i32, y: i32| match x {
        -4 | -3 => y == -2,
        _ => !ring.contains(&(x, y)),
    };
    let terrain = (-2..=2).flat_map(|y| (-4..=2).map(move |x| u8::from(cell(x, y))));
    let grid = Grid::new(7, 5, terrain.collect()).unwrap();
    let searches = vec![(UVec2::new(4, 2), UVec2::ZERO); 40];
    let expected = expected(&grid, &searches);
    assert!(expected.0[0].cost.is_some());
    let tight = Options::default().mapping(Mapping::Team).group_size(8).capacity(10);
    check(&|| made(&grid, tight.band(u32::MAX).slots(1)), &searches, &expected);
}

#[test]
fn a_list_longer_than_the_device_binds_is_told() {
    // 112 bytes: the marks of 25 cells, 7 items of each of two lists, 4 of each of three.
    let grid = Grid::new(5, 5, vec![1; 25]).unwrap();
    let small = Gpu::binding_at_most(&gpu(), 112);
    let searches = [(UVec2::new(2, 2), UVec2::new(4, 4))];
    let run = |mapping| {
        let options = Options::default().mapping(mapping).band(u32::MAX).capacity(2);
        Engine::new(&small, grid.clone(), options).unwrap().run(&searches)
    };
    for (mapping, longest) in [(Mapping::Bands, 7), (Mapping::Team, 4)] {
        let refused = run(mapping).unwrap_err();
        assert!(
            matches!(refused, SearchError::OpenList { search: 0, items } if items == longest),
            "{refused}"
        );
    }
    let found = run(Mapping::Thread(QueueDesign::Heap)).unwrap();
    assert_eq!(found.outcomes()[0].cost, Some(2 * 3363));
}

#[test]
fn there_are_no_more_slots_than_fit() {
    // Marks of 16 slots fit.
    let grid = Grid::random(64, 0.1, 5).unwrap();
    let searches = grid.random_searches(40, 6);
    let expected = expected(&grid, &searches);
    let small = Gpu::binding_at_most(&gpu(), 1 << 18);
    let options = Options::default().mapping(Mapping::Thread(QueueDesign::Heap));
    check(&|| Engine::new(&small, grid.clone(), options).unwrap(), &searches, &expected);
}

#[test]
fn settings_change_between_runs() {
    let grid = Grid::random(33, 0.2, 7).unwrap();
    let searches = grid.random_searches(40, 7);
    for mapping in [Mapping::Auto, Mapping::Bands, Mapping::Team] {
        let counting = engine(&grid, mapping);
        let counted = counting.run(&searches).unwrap();
        let options = counting.options().count(false);
        let plain = counting.with_options(options).run(&searches).unwrap();
        assert_eq!(plain.fingerprint(), counted.fingerprint());
        assert_eq!((plain.found(), plain.expanded()), (counted.found(), 0));
    }
}

#[test]
fn a_second_run_while_the_first_waits_is_refused() {
    let grid = Grid::random(8, 0.0, 1).unwrap();
    let engine = engine(&grid, Mapping::Auto);
    let searches = grid.random_searches(3, 1);
    let mut refused = 0;
    let watch = |_| match pollster::block_on(engine.searches(&searches).run_async()) {
        Err(SearchError::Busy) => refused += 1,
        other => panic!("{other:?}"),
    };
    assert!(engine.searches(&searches).watch(watch).run().is_ok());
    assert!(refused > 0);
    assert!(pollster::block_on(engine.searches(&searches).run_async()).is_ok());
}

#[test]
fn a_run_that_is_stopped_has_no_results_and_the_next_one_has_all() {
    let grid = Grid::random(32, 0.1, 5).unwrap();
    let searches = grid.random_searches(40, 6);
    let engine = made(&grid, Options::default().mapping(Mapping::Team).slots(1));
    let expected = engine.run(&searches).unwrap();
    let other = made(&grid, Options::default().mapping(Mapping::Team).slots(1));
    let stopped = other.searches(&searches).watch(|_| ControlFlow::Break(())).run().unwrap_err();
    assert!(matches!(stopped, SearchError::Stopped), "{stopped}");
    assert_eq!(other.run(&searches).unwrap(), expected);
}

#[test]
fn without_a_path_costs_near_the_limit_are_no_overflow() {
    // One path of 47 cells to its end before the goal, which is walled off. The next move would
    // exceed 32 bits, and could only go back.
    let mut terrain = comb(9).terrain().to_vec();
    terrain[9 + 8] = 0;
    let moves = Moves::Four { straight: 64_500_000 };
    let grid = Grid::new_with_moves(9, 9, terrain, moves).unwrap();
    let searches = vec![(UVec2::new(0, 8), UVec2::new(8, 0)), (UVec2::new(0, 8), UVec2::new(8, 2))];
    let expected = expected(&grid, &searches);
    assert_eq!(expected.0[0], Outcome { cost: None, expanded: 47 });
    assert_eq!(expected.0[1].cost, Some(46 * 64_500_000));
    for mapping in [Mapping::Thread(QueueDesign::Heap), Mapping::Bands, Mapping::Team] {
        check(&|| engine(&grid, mapping), &searches, &expected);
    }
}

#[test]
fn maps_too_dear_for_the_usual_moves_are_made_with_others() {
    let terrain = || vec![255; 4000];
    assert!(matches!(Grid::new(4000, 1, terrain()), Err(SearchError::Costs { .. })));
    let grid = Grid::new_with_moves(4000, 1, terrain(), Moves::Eight { straight: 70, diagonal: 99 }).unwrap();
    assert_eq!(grid.step(UVec2::ZERO, UVec2::new(1, 0)), Some(70 * 255));
}

#[test]
#[should_panic = "search 1 does not exist: there are 1"]
fn there_is_no_path_of_no_search() {
    let ends = [(UVec2::ZERO, UVec2::ZERO)];
    let outcome = Outcome { cost: Some(0), expanded: 0 };
    let _ = Results::new(&ends, vec![outcome], Some(vec![vec![UVec2::ZERO]])).path(1);
}

#[test]
fn a_path_much_longer_than_the_map_is_wide_is_found() {
    // Its cost exceeds the range that searches start with.
    let grid = comb(64);
    let searches = vec![corners(&grid), (UVec2::ZERO, UVec2::new(2, 0)), corners(&grid)];
    let expected = expected(&grid, &searches);
    assert!(expected.0[0].cost.unwrap() > 8 * 128 * 3363);
    for mapping in [Mapping::Thread(QueueDesign::Heap4), Mapping::Bands, Mapping::Team] {
        check(&|| engine(&grid, mapping), &searches, &expected);
    }
}

#[test]
fn a_search_that_was_not_made_looked_at_nothing() {
    let grid = Grid::random(8, 0.0, 1).unwrap();
    let mut search = AStar::new(&grid);
    assert!(!search.visited(UVec2::ZERO));
    search.find(UVec2::ZERO, UVec2::new(1, 0));
    assert!(search.visited(UVec2::ZERO) && !search.visited(UVec2::new(7, 7)));
}

#[test]
fn costs_beyond_32_bits_are_told() {
    let grid = comb(32).with_moves(Moves::Four { straight: 1 << 24 }).unwrap();
    let near = (UVec2::ZERO, UVec2::new(0, 5));
    for mapping in [Mapping::Thread(QueueDesign::Heap), Mapping::Bands, Mapping::Team] {
        let engine = engine(&grid, mapping);
        let error = engine.run(&[near, corners(&grid), near]).unwrap_err();
        let SearchError::Overflow { search: 1, limit } = error else { panic!("{error}") };
        let mut reference = AStar::new(&grid);
        reference.find(near.0, near.1);
        reference.check(0).unwrap();
        reference.find(corners(&grid).0, corners(&grid).1);
        let reported = reference.check(1);
        assert!(matches!(reported, Err(SearchError::Overflow { search: 1, limit: same }) if same == limit));
        assert_eq!(engine.run(&[near]).unwrap().outcomes()[0].cost, Some(5 << 24));
    }
}

#[test]
fn paths_are_read_in_parts_where_there_is_little_room() {
    let grid = Grid::random(24, 0.2, 9).unwrap();
    let searches = grid.random_searches(200, 1);
    let expected = expected(&grid, &searches);
    for mapping in [Mapping::Thread(QueueDesign::Heap), Mapping::Bands, Mapping::Team] {
        let options = Options::default().mapping(mapping).path_room(1);
        check(&|| made(&grid, options), &searches, &expected);
    }
}

#[test]
fn checks_bands_and_group_sizes_change_nothing() {
    let grid = Grid::random(33, 0.25, 4).unwrap();
    let searches = grid.random_searches(50, 2);
    let expected = expected(&grid, &searches);
    for mapping in mappings() {
        let options = Options::default().mapping(mapping);
        let checked = || Engine::new(&gpu().checked(), grid.clone(), options).unwrap();
        check(&checked, &searches, &expected);
    }
    for size in [1, 7, 64] {
        let options = Options::default().mapping(Mapping::Thread(QueueDesign::Heap)).group_size(size);
        check(&|| made(&grid, options), &searches, &expected);
    }
    for (size, band) in [(1, 0), (7, u32::MAX), (64, 2378)] {
        let options = Options::default().mapping(Mapping::Bands).group_size(size).band(band);
        check(&|| made(&grid, options), &searches, &expected);
    }
    for (size, band) in [(8, 0), (8, u32::MAX), (13, 2378), (64, 0), (256, 100_000)] {
        let options = Options::default().mapping(Mapping::Team).group_size(size).band(band);
        check(&|| made(&grid, options), &searches, &expected);
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
        let options = Options::default().mapping(mapping).paths(true);
        let found = made(&blocked, options).run(&[cells, cells]).unwrap();
        assert_eq!(found.outcomes(), [Outcome { cost: None, expanded: 0 }; 2]);
        assert_eq!(found.path(1).len(), 0);
    }
}

#[test]
fn results_go_to_the_device() {
    let grid = Grid::new(3, 1, vec![1, 1, 0]).unwrap();
    let cell = |x| UVec2::new(x, 0);
    let engine = made(&grid, Options::default().paths(true));
    let found = engine.run(&[(cell(0), cell(1)), (cell(0), cell(2))]).unwrap();
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
        let options = Options::default().mapping(mapping).group_size(size);
        let refused = made(&grid, options).run(&[]).unwrap_err();
        assert!(matches!(refused, SearchError::Setting { .. }), "{refused}");
    }
    let small = Gpu::binding_at_most(&gpu(), 256);
    let options = Options::default().capacity(1);
    let engine = Engine::new(&small, Grid::random(8, 0.0, 1).unwrap(), options).unwrap();
    assert!(engine.run(&[(UVec2::ZERO, UVec2::ZERO)]).is_ok());
    let engine = Engine::new(&small, Grid::random(9, 0.0, 1).unwrap(), Options::default()).unwrap();
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
