//! What a search means: A* on one core, with a `BinaryHeap`.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use glam::UVec2;

use super::grid::DIRECTIONS;
use super::{Grid, Outcome};

/// Finds shortest paths on a map, one after the other. Its arrays are flat, and are not cleared between searches.
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
pub struct AStar<'g> {
    grid: &'g Grid,
    /// Bit d of a cell: the move in direction d is allowed.
    allowed: Vec<u8>,
    /// The least cost so far from the start to a cell, and in which search that was.
    costs: Vec<(u32, u32)>,
    number: u32,
    open: BinaryHeap<Reverse<(u32, u32, u32)>>,
}

impl<'g> AStar<'g> {
    /// Prepares searches on a map.
    pub fn new(grid: &'g Grid) -> Self {
        let costs = vec![(0, 0); grid.terrain().len()];
        Self { grid, allowed: grid.allowed(), costs, number: 0, open: BinaryHeap::new() }
    }

    /// Searches the cheapest path between two cells of the map; of those with the same estimate, the cell nearest to the goal is next. A path whose cost
    /// does not fit 32 bits is not found (the engine tells of it: [`SearchError::Overflow`](super::SearchError::Overflow)).
    ///
    /// # Panics
    /// If a cell is not on the map.
    pub fn find(&mut self, start: UVec2, goal: UVec2) -> Outcome {
        self.search(start, goal, false)
    }

    /// The same, and the path: its cells from start to goal, none where there is no path.
    ///
    /// Of the cheapest paths it is the one that, seen from the goal, comes from the first direction (in the order right, down, left, up, then
    /// the diagonals) at each cell. So it does not depend on the order of the search, which goes on for it until all cells are
    /// known that a cheapest path could have.
    ///
    /// # Panics
    /// If a cell is not on the map.
    pub fn find_path(&mut self, start: UVec2, goal: UVec2) -> (Outcome, Vec<UVec2>) {
        let outcome = self.search(start, goal, true);
        let mut path = Vec::new();
        if outcome.cost.is_some() {
            path.push(goal);
            while path[path.len() - 1] != start {
                path.push(self.before(path[path.len() - 1]));
            }
            path.reverse();
        }
        (outcome, path)
    }

    /// Whether the last search looked at a cell.
    pub fn visited(&self, cell: UVec2) -> bool {
        self.cost_so_far(self.grid.index(cell)).is_some()
    }

    fn cost_so_far(&self, cell: usize) -> Option<u32> {
        let (cost, number) = self.costs[cell];
        (number == self.number).then_some(cost)
    }

    fn search(&mut self, start: UVec2, goal: UVec2, all_paths: bool) -> Outcome {
        assert!(self.grid.contains(start) && self.grid.contains(goal), "the cells are on the map");
        let grid = self.grid;
        self.number += 1;
        self.open.clear();
        let mut found: Option<u32> = None;
        let (mut expanded, mut below, mut level) = (0, 0, 0);
        if grid.passable(start) && grid.passable(goal) {
            self.reach(start, 0, goal);
        }
        while let Some(Reverse((estimate, heuristic, packed))) = self.open.pop() {
            if found.is_some_and(|cost| estimate > cost) {
                break;
            }
            let at = UVec2::new(packed & 0xffff, packed >> 16);
            let cost = estimate - heuristic;
            if self.cost_so_far(grid.index(at)) != Some(cost) {
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
            let allowed = self.allowed[grid.index(at)];
            for (direction, &(dx, dy)) in DIRECTIONS.iter().enumerate() {
                if allowed >> direction & 1 == 1 {
                    let to = UVec2::new(at.x.wrapping_add_signed(dx), at.y.wrapping_add_signed(dy));
                    let terrain = u32::from(grid.terrain()[grid.index(to)]);
                    self.reach(to, cost.saturating_add(grid.moves().of(direction) * terrain), goal);
                }
            }
        }
        Outcome { cost: found, expanded: if found.is_some() { below } else { expanded } }
    }

    /// A path to `at` that costs `cost` was found.
    fn reach(&mut self, at: UVec2, cost: u32, goal: UVec2) {
        let cell = self.grid.index(at);
        if cost >= self.grid.most_cost() || self.cost_so_far(cell).is_some_and(|before| before <= cost) {
            return;
        }
        self.costs[cell] = (cost, self.number);
        let heuristic = self.grid.heuristic(at, goal);
        self.open.push(Reverse((cost + heuristic, heuristic, at.x | at.y << 16)));
    }

    /// The cell before `at` on the path.
    fn before(&self, at: UVec2) -> UVec2 {
        let grid = self.grid;
        let cost = self.cost_so_far(grid.index(at)).expect("the search was there");
        let terrain = u32::from(grid.terrain()[grid.index(at)]);
        (0..grid.moves().directions() as usize)
            .find_map(|direction| {
                let (dx, dy) = DIRECTIONS[direction];
                let from = UVec2::new(at.x.wrapping_add_signed(-dx), at.y.wrapping_add_signed(-dy));
                let whole = grid.contains(from) && self.allowed[grid.index(from)] >> direction & 1 == 1;
                let step = grid.moves().of(direction) * terrain;
                let before = whole.then(|| self.cost_so_far(grid.index(from))).flatten()?;
                (before.checked_add(step) == Some(cost)).then_some(from)
            })
            .expect("a cell that was reached was reached from somewhere")
    }
}
