//! The reference implementation: A* on one core, with a `BinaryHeap`.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use super::space::sealed::Cell as _;
use super::{Grid, Outcome, Results, SearchError, Space};

/// Finds shortest paths on a map or in a graph, one after the other. Its arrays are flat and are
/// not cleared between searches.
///
/// ```
/// use eventhorizon::search::{Grid, reference::AStar};
/// use glam::UVec2;
///
/// let grid = Grid::new(3, 3, vec![1, 1, 1, 1, 0, 1, 1, 1, 1])?;
/// let mut search = AStar::new(&grid);
/// assert_eq!(search.find(UVec2::ZERO, UVec2::new(2, 2)).cost, Some(4 * 2378)); // around the corner, which is not cut
/// let (_, path) = search.find_path(UVec2::ZERO, UVec2::new(2, 2));
/// assert_eq!(path.len(), 5);
/// # Ok::<(), eventhorizon::search::SearchError>(())
/// ```
#[derive(Debug)]
pub struct AStar<'s, S: Space = Grid> {
    space: &'s S,
    move_map: Arc<S::MoveMap>,
    /// The lowest cost so far from the start to a cell, and the number of that search.
    costs: Vec<(u32, u32)>,
    number: u32,
    open: BinaryHeap<Reverse<Entry>>,
    broken: Option<(u32, u32)>,
    /// Whether an unreached cell was skipped because paths over it cost too much.
    passed_over: bool,
    found: bool,
    /// Exclusive limit of path costs.
    most_cost: u32,
}

/// An entry of the open list: estimate, heuristic and place, compared in this order. One number is
/// compared without branches, which a CPU would mispredict.
type Entry = u128;

fn entry(estimate: u32, heuristic: u32, at: u32) -> Entry {
    Entry::from(estimate) << 64 | Entry::from(heuristic) << 32 | Entry::from(at)
}

/// Estimate, heuristic and place.
#[expect(clippy::cast_possible_truncation, reason = "the words are taken apart")]
fn words_of(entry: Entry) -> [u32; 3] {
    [(entry >> 64) as u32, (entry >> 32) as u32, entry as u32]
}

/// No search has this number.
const NEVER: u32 = u32::MAX;

impl<'s, S: Space> AStar<'s, S> {
    /// Prepares searches.
    pub fn new(space: &'s S) -> Self {
        Self {
            space,
            move_map: Arc::new(space.move_map()),
            costs: vec![(0, NEVER); space.count() as usize],
            number: 0,
            open: BinaryHeap::new(),
            broken: None,
            passed_over: false,
            found: false,
            most_cost: space.most_cost(),
        }
    }

    /// Searches the cheapest path between two cells or vertices. Among equal estimates, the cell
    /// nearest to the goal is expanded first. A path whose cost does not fit 32 bits is not found:
    /// see [`AStar::check`].
    ///
    /// # Panics
    /// If a cell is not on the map.
    pub fn find(&mut self, start: S::Cell, goal: S::Cell) -> Outcome {
        let [start, goal] = self.places(start, goal);
        self.search(start, goal, false)
    }

    /// The same, and the path: its cells from start to goal, empty without a path.
    ///
    /// Of the cheapest paths it is the one that, seen from the goal, comes from the first direction
    /// (in the order right, down, left, up, then the diagonals) at each cell, or from the vertex
    /// with the smallest number. So it does not depend on the order of the search. The search
    /// therefore continues until all cells of cheapest paths are known.
    ///
    /// # Panics
    /// If a cell is not on the map, or an arc of the graph has the weight 0
    /// ([`Graph::free_arc`](super::Graph::free_arc)).
    pub fn find_path(&mut self, start: S::Cell, goal: S::Cell) -> (Outcome, Vec<S::Cell>) {
        self.space.check_paths().unwrap_or_else(|error| panic!("{error}"));
        let [start, goal] = self.places(start, goal);
        let outcome = self.search(start, goal, true);
        let mut path = Vec::new();
        if outcome.cost.is_some() {
            path.push(goal);
            while path[path.len() - 1] != start {
                path.push(self.before(path[path.len() - 1]));
            }
            path.reverse();
        }
        (outcome, path.into_iter().map(S::Cell::at).collect())
    }

    /// Whether the last search visited a cell; false before the first search.
    ///
    /// # Panics
    /// If it is not on the map.
    pub fn visited(&self, cell: S::Cell) -> bool {
        let [place, _] = self.places(cell, cell);
        self.cost_so_far(place).is_some()
    }

    /// Whether the outcome of the last search is valid. Returns the error of an
    /// [`Engine`](super::Engine) for it, as search number `search` of a list.
    ///
    /// # Errors
    /// [`SearchError::Heuristic`] if the heuristic is not consistent, and [`SearchError::Overflow`]
    /// if there is no path except, perhaps, one whose cost does not fit 32 bits.
    pub fn check(&self, search: u32) -> Result<(), SearchError> {
        match self.broken {
            Some((from, to)) => Err(SearchError::Heuristic { search, from, to }),
            None if self.passed_over && !self.found => {
                Err(SearchError::Overflow { search, limit: self.space.dearest_path() })
            }
            None => Ok(()),
        }
    }

    fn places(&self, start: S::Cell, goal: S::Cell) -> [u32; 2] {
        [start, goal].map(|cell| self.space.locate(0, cell).unwrap_or_else(|error| panic!("{error}")))
    }

    fn cost_so_far(&self, place: u32) -> Option<u32> {
        let (cost, number) = self.costs[self.space.index(place)];
        (number == self.number).then_some(cost)
    }

    fn search(&mut self, start: u32, goal: u32, all_paths: bool) -> Outcome {
        let (space, move_map) = (self.space, Arc::clone(&self.move_map));
        self.number += 1;
        if self.number == NEVER {
            self.costs.fill((0, NEVER));
            self.number = 0;
        }
        self.open.clear();
        self.broken = None;
        self.passed_over = false;
        let mut found: Option<u32> = None;
        let (mut expanded, mut below, mut level) = (0, 0, 0);
        if space.is_open(start) && space.is_open(goal) {
            self.reach(start, 0, goal, (start, 0));
            if space.estimate(goal, goal) != 0 {
                self.broken = Some((goal, goal));
            }
        }
        while self.broken.is_none()
            && let Some(Reverse(entry)) = self.open.pop()
        {
            let [estimate, heuristic, at] = words_of(entry);
            if found.is_some_and(|cost| estimate > cost) {
                break;
            }
            let cost = estimate - heuristic;
            if self.cost_so_far(at) != Some(cost) {
                continue;
            }
            if estimate > level {
                (level, below) = (estimate, expanded);
            }
            if at == goal {
                found = Some(cost);
                if !all_paths {
                    break;
                }
                continue;
            }
            expanded += 1;
            space.each_move(&move_map, at, |to, step| {
                self.reach(to, cost.saturating_add(step), goal, (at, level));
            });
        }
        self.found = found.is_some();
        match self.broken {
            Some(_) => Outcome { cost: None, expanded: 0 },
            None => Outcome { cost: found, expanded: if found.is_some() { below } else { expanded } },
        }
    }

    /// Records a path to `at` with the cost `cost`, by a move from `from` with the estimate
    /// `level`.
    fn reach(&mut self, at: u32, cost: u32, goal: u32, (from, level): (u32, u32)) {
        let before = self.cost_so_far(at);
        if cost >= self.most_cost {
            self.passed_over |= before.is_none();
            return;
        }
        if before.is_some_and(|before| before <= cost) || self.broken.is_some() {
            return;
        }
        let heuristic = self.space.estimate(at, goal);
        if heuristic >= u32::MAX - cost {
            // The goal is unreachable from there, or too expensive.
            self.passed_over |= before.is_none() && heuristic != u32::MAX;
            return;
        }
        if cost + heuristic < level {
            self.broken = Some((from, at));
            return;
        }
        let place = self.space.index(at);
        self.costs[place] = (cost, self.number);
        self.open.push(Reverse(entry(cost + heuristic, heuristic, at)));
    }

    /// The place before `at` on the path.
    fn before(&self, at: u32) -> u32 {
        let cost = self.cost_so_far(at).expect("the search reached this cell");
        let leads =
            |from, step| self.cost_so_far(from).and_then(|before| before.checked_add(step)) == Some(cost);
        self.space.before(&self.move_map, at, leads).expect("a reached cell has a predecessor")
    }
}

/// Runs a list of searches one after the other on one core, with the results and errors of
/// [`SearchRun::run`](super::SearchRun::run), and with paths if `paths` is true. It calls
/// `watch` now and then with the number of finished searches.
///
/// # Errors
/// [`SearchError`] if a cell is not on the map, costs exceed 32 bits, a heuristic is not
/// consistent, or paths are not defined ([`SearchError::FreeArc`]).
pub fn find_all<S: Space>(
    space: &S,
    searches: &[(S::Cell, S::Cell)],
    paths: bool,
    mut watch: impl FnMut(u64),
) -> Result<Results<S::Cell>, SearchError> {
    if paths {
        space.check_paths()?;
    }
    for (number, &(start, goal)) in searches.iter().enumerate() {
        space.locate(number, start)?;
        space.locate(number, goal)?;
    }
    let mut search = AStar::new(space);
    let (mut outcomes, mut cells) = (Vec::with_capacity(searches.len()), Vec::new());
    for (number, &(start, goal)) in (0_u32..).zip(searches) {
        if number % 1024 == 0 {
            watch(number.into());
        }
        if paths {
            let (outcome, path) = search.find_path(start, goal);
            outcomes.push(outcome);
            cells.push(path);
        } else {
            outcomes.push(search.find(start, goal));
        }
        search.check(number)?;
    }
    Ok(Results::new(searches, outcomes, paths.then_some(cells)))
}

/// The distances from the nearest of some cells to all cells of a map, row by row, or from some
/// vertices to all vertices of a graph, with Dijkstra's algorithm. `None` for unreachable cells,
/// and if the distance does not fit 32 bits.
///
/// # Panics
/// If one of the sources is not on the map.
pub fn distances<S: Space>(space: &S, sources: &[S::Cell]) -> Vec<Option<u32>> {
    let move_map = space.move_map();
    let mut distances = vec![None; space.count() as usize];
    let places = sources.iter().map(|&cell| space.locate(0, cell).unwrap_or_else(|error| panic!("{error}")));
    // (One number for distance and place, as in `entry`.)
    let entry = |distance: u32, place: u32| Reverse(u64::from(distance) << 32 | u64::from(place));
    let mut open: BinaryHeap<_> =
        places.filter(|&place| space.is_open(place)).map(|place| entry(0, place)).collect();
    while let Some(Reverse(first)) = open.pop() {
        #[expect(clippy::cast_possible_truncation, reason = "the words are taken apart")]
        let (distance, at) = ((first >> 32) as u32, first as u32);
        let known = &mut distances[space.index(at)];
        if known.is_none() {
            *known = Some(distance);
            space.each_move(&move_map, at, |to, step| {
                let total = distance.checked_add(step).filter(|total| *total < u32::MAX);
                open.extend(total.map(|total| entry(total, to)));
            });
        }
    }
    distances
}
