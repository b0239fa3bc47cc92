//! Open lists of A* searches (Baudis et al., Table III): their lengths, the places of insertions,
//! and the comparisons of circular buffers, counted in sequential searches on the host.

use std::collections::VecDeque;

use eventhorizon::search::{Grid, Moves};
use glam::UVec2;
use rayon::prelude::*;

/// The invocations that insert together: 1 for CB-SEQ, the others for CB-PAR.
pub(super) const LANES: [u32; 7] = [1, 2, 4, 8, 16, 32, 64];

/// How a search uses its open list.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum List {
    /// The paper's (section IV.B.2): an iteration takes the eight first cells, and a cell that was
    /// found once is not inserted again.
    Paper,
    /// The library's: the first cell alone, and a better way to a cell replaces its entry.
    Optimal,
}

/// Averages over the insertions of some searches.
#[derive(Default)]
pub(super) struct OpenLists {
    /// The length of the list.
    pub(super) length: f64,
    /// The place of the new cell by its estimate, from 0 (first) to 1.
    pub(super) place: f64,
    /// Comparisons from the back and from the front, by [`LANES`].
    pub(super) comparisons: [[f64; LANES.len()]; 2],
}

impl OpenLists {
    /// Counts in these searches.
    #[expect(clippy::cast_precision_loss, reason = "averages")]
    pub(super) fn count(grid: &Grid, searches: &[(UVec2, UVec2)], list: List) -> Self {
        let of = |&ends: &(UVec2, UVec2)| search(grid, ends, list).insertions;
        let all: Vec<_> = searches.par_iter().map(of).collect();
        let count = all.iter().map(Vec::len).sum::<usize>().max(1) as f64;
        let mut sums = Self::default();
        for &(place, held) in all.iter().flatten() {
            sums.length += f64::from(held) / count;
            sums.place += f64::from(place) / f64::from(held.max(1)) / count;
            for (sums, passed) in sums.comparisons.iter_mut().zip([held - place, place]) {
                for (sum, lanes) in sums.iter_mut().zip(LANES) {
                    *sum += f64::from(comparisons(passed, held, lanes)) / count;
                }
            }
        }
        sums
    }
}

/// The comparisons of an insertion into a circular buffer that holds `held` items and passes
/// `passed` of them, as `counts.wgsl` and `counts_team.wgsl` count them.
fn comparisons(passed: u32, held: u32, lanes: u32) -> u32 {
    if lanes == 1 {
        return passed + u32::from(passed < held);
    }
    // A lane compares with the item before its place and the one at it, in whole chunks.
    let places = (passed / lanes + 1) * lanes;
    (0..places.min(held + 1)).map(|place| u32::from(place < held) + u32::from(place > 0)).sum()
}

/// The offsets of the cells around one, row by row.
pub(super) const AROUND: [(i32, i32); 8] =
    [(-1, -1), (0, -1), (1, -1), (-1, 0), (1, 0), (-1, 1), (0, 1), (1, 1)];

/// The costs of a straight and of a diagonal move on a map.
pub(super) fn costs(grid: &Grid) -> [u32; 2] {
    match grid.moves() {
        Moves::Eight { straight, diagonal } => [straight, diagonal],
        Moves::Four { straight } => [straight, 2 * straight],
    }
}

/// What an estimate adds for a number of diagonal moves, beside straight ones.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "estimates are small")]
pub(super) fn diagonals(grid: &Grid, moves: u32) -> u32 {
    (f64::from(grid.moves().straight()) * (2_f64.sqrt() - 1.0) * f64::from(moves)) as u32
}

/// The end of a move and its cost, if it is allowed.
pub(super) fn moved(grid: &Grid, from: UVec2, (dx, dy): (i32, i32)) -> Option<(UVec2, u32)> {
    let to = UVec2::new(from.x.checked_add_signed(dx)?, from.y.checked_add_signed(dy)?);
    let cost = grid.contains(to).then(|| grid.step(from, to)).flatten()?;
    Some((to, cost))
}

/// A search.
pub(super) struct Searched {
    /// The cost of its path, if there is one.
    pub(super) cost: Option<u64>,
    /// For each insertion: the place of the new cell, and the length of the list.
    pub(super) insertions: Vec<(u32, u32)>,
}

/// Makes a search.
#[expect(clippy::cast_possible_truncation, reason = "lists are small")]
pub(super) fn search(grid: &Grid, (from, to): (UVec2, UVec2), list: List) -> Searched {
    let mut insertions = Vec::new();
    let estimate = |cell: UVec2| {
        let (x, y) = (cell.x.abs_diff(to.x), cell.y.abs_diff(to.y));
        u64::from(grid.moves().straight() * x.max(y) + diagonals(grid, x.min(y)))
    };
    let number = |cell: UVec2| (cell.y * grid.width() + cell.x) as usize;
    // In order: the estimate of the whole path, the cost up to the cell, the cell.
    let mut open = VecDeque::from([(estimate(from), 0, from)]);
    let mut best = vec![u64::MAX; (grid.width() * grid.height()) as usize];
    best[number(from)] = 0;
    let at_once = if list == List::Paper { 8 } else { 1 };
    while !open.is_empty() {
        let taken: Vec<_> = open.drain(..at_once.min(open.len())).collect();
        if let Some(&(_, cost, _)) = taken.iter().find(|&&(.., cell)| cell == to) {
            return Searched { cost: Some(cost), insertions };
        }
        for (_, cost, cell) in taken {
            // It is not inserted again.
            best[number(cell)] = 0;
            for (next, step) in AROUND.into_iter().filter_map(|around| moved(grid, cell, around)) {
                let (cost, known) = (cost + u64::from(step), best[number(next)]);
                if known <= cost || list == List::Paper && known < u64::MAX {
                    continue;
                }
                best[number(next)] = cost;
                if known < u64::MAX {
                    open.retain(|&(_, _, other)| other != next);
                }
                let total = cost + estimate(next);
                let place = open.partition_point(|&(other, ..)| other <= total);
                insertions.push((place as u32, open.len() as u32));
                open.insert(place, (total, cost, next));
            }
        }
    }
    Searched { cost: None, insertions }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comparisons_are_those_of_the_kernels() {
        // CB-SEQ stops at the first item that the new one does not pass.
        assert_eq!(
            [(0, 0), (0, 5), (3, 5), (5, 5)].map(|(passed, held)| comparisons(passed, held, 1)),
            [0, 1, 4, 5]
        );
        // Four lanes: 4 + 3 in the first chunk, 4 + 4 in the second.
        assert_eq!(comparisons(3, 10, 4), 7);
        assert_eq!(comparisons(5, 10, 4), 15);
        // The third has 3 places, of which the last has no item before it.
        assert_eq!(comparisons(10, 10, 4), 15 + 5);
    }

    #[test]
    fn lists_of_an_open_grid() {
        let grid = Grid::random(16, 0.0, 1).unwrap();
        let searches = [(UVec2::new(2, 2), UVec2::new(2, 4))];
        // The first cell has eight neighbours, which the paper's search takes all at once.
        let all = search(&grid, searches[0], List::Paper).insertions;
        assert_eq!(all[..8].iter().map(|&(_, held)| held).collect::<Vec<_>>(), (0..8).collect::<Vec<_>>());
        assert_eq!(all[8].1, 0);
        let optimal = search(&grid, searches[0], List::Optimal).insertions;
        assert_eq!(optimal[8].1, 7);
        let lists = OpenLists::count(&grid, &searches, List::Optimal);
        let [from_back, from_front] = lists.comparisons.map(|by_lanes| by_lanes[0]);
        // Together they pass each item, and meet at the new one.
        assert!(from_back + from_front >= lists.length && from_back + from_front <= lists.length + 2.0);
    }
}
