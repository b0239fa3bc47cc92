//! Path search: every mapping and queue design against the sequential search, which is checked against Dijkstra's algorithm and the lengths
//! that the Moving AI scenarios tell.

#[path = "../common/mod.rs"]
mod common;

mod formats;
mod maps;

use std::collections::HashMap;
use std::sync::{Mutex, OnceLock};

use common::{gpu, queues};
use eventhorizon::gpu::{Gpu, GpuError};
use eventhorizon::queue::QueueDesign;
use eventhorizon::search::reference::AStar;
use eventhorizon::search::{Engine, Grid, Mapping, Moves, Outcome, SearchError};
use glam::UVec2;
use maps::{Map, map};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

type Searches = Vec<(UVec2, UVec2)>;

/// Teams, and threads with every queue that one invocation serves.
fn mappings() -> Vec<Mapping> {
    let threads = queues().filter(|design| design.lanes() == 1).map(Mapping::Thread);
    threads.chain([Mapping::Team]).collect()
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

#[test]
fn random_maps_have_the_paths_of_the_sequential_search() {
    for (seed, side) in [(1, 1), (2, 2), (3, 7), (4, 31), (5, 33), (6, 64)] {
        for density in [0.0, 0.2, 0.5] {
            let grid = Grid::random(side, density, seed).unwrap();
            let searches = grid.random_searches(65, seed);
            let expected = expected(&grid, &searches);
            for mapping in mappings() {
                check(&|| Engine::grid(&gpu(), grid.clone()).unwrap().with_mapping(mapping), &searches, &expected);
            }
        }
    }
}
