//! Maps of square cells.

use glam::UVec2;

use super::{MAX_SIDE, SearchError};
use crate::random::Stream;

/// The allowed moves from a cell, and their costs.
///
/// A move costs its straight or diagonal cost times the terrain of the cell that it enters. A
/// diagonal move needs both straight neighbours to be passable: it does not cut corners.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Moves {
    /// To the four neighbours that share an edge.
    Four {
        /// Cost of a move, at least 1.
        straight: u32,
    },
    /// To these four and to the four that share a corner.
    Eight {
        /// Cost of a straight move, at least 1.
        straight: u32,
        /// Cost of a diagonal move: from `straight` to twice as much.
        diagonal: u32,
    },
}

impl Moves {
    /// Eight neighbours at the costs 1 and sqrt 2, in units of 1/2378: 3363/2378 differs from sqrt
    /// 2 by 1 in 16 million. So a path that is optimal in these units is as long as the optimal one
    /// to six digits, and costs below 2^32 cover paths of over a million cells.
    pub const OCTILE: Self = Self::Eight { straight: 2378, diagonal: 3363 };
    /// Four neighbours, each move at cost 1.
    pub const MANHATTAN: Self = Self::Four { straight: 1 };

    /// The number of directions: 4 or 8.
    pub(crate) fn directions(self) -> u32 {
        match self {
            Self::Four { .. } => 4,
            Self::Eight { .. } => 8,
        }
    }

    /// Cost of a straight move.
    pub fn straight(self) -> u32 {
        match self {
            Self::Four { straight } | Self::Eight { straight, .. } => straight,
        }
    }

    /// Cost of a diagonal move, or of two straight ones if there are no diagonal moves.
    pub(crate) fn diagonal(self) -> u32 {
        match self {
            Self::Four { straight } => straight.saturating_mul(2),
            Self::Eight { diagonal, .. } => diagonal,
        }
    }

    /// Cost of a move in a direction.
    pub(super) fn of(self, direction: usize) -> u32 {
        if direction < 4 { self.straight() } else { self.diagonal() }
    }
}

impl Default for Moves {
    fn default() -> Self {
        Self::OCTILE
    }
}

/// The directions as (x, y), in the order that paths prefer. They are the same in
/// `shaders/search/grid.wgsl`.
pub(super) const DIRECTIONS: [(i32, i32); 8] =
    [(1, 0), (0, 1), (-1, 0), (0, -1), (1, 1), (-1, 1), (-1, -1), (1, -1)];

/// A map of `width` times `height` cells, row by row, each with a terrain: 0 is blocked, other
/// values multiply the cost of moves into the cell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grid {
    width: u32,
    height: u32,
    terrain: Vec<u8>,
    /// The medium of each cell; empty if all cells have the same.
    media: Vec<u8>,
    moves: Moves,
    /// The smallest terrain that is not blocked, and the largest.
    span: (u8, u8),
}

impl Grid {
    /// A map with the terrain of its cells, row by row, and the moves [`Moves::OCTILE`].
    ///
    /// # Errors
    /// [`SearchError::Sides`] if a side is 0 or above [`MAX_SIDE`], [`SearchError::Cells`] if
    /// `terrain` has another length, and [`SearchError::Costs`] if costs could exceed 2^31.
    pub fn new(width: u32, height: u32, terrain: Vec<u8>) -> Result<Self, SearchError> {
        Self::new_with_moves(width, height, terrain, Moves::OCTILE)
    }

    /// A map with the terrain of its cells, row by row, and moves: for maps so large that
    /// [`Moves::OCTILE`] costs too much.
    ///
    /// # Errors
    /// As [`Grid::new`] and [`Grid::with_moves`].
    pub fn new_with_moves(
        width: u32,
        height: u32,
        terrain: Vec<u8>,
        moves: Moves,
    ) -> Result<Self, SearchError> {
        if !(1..=MAX_SIDE).contains(&width) || !(1..=MAX_SIDE).contains(&height) {
            return Err(SearchError::Sides { width: width.into(), height: height.into() });
        }
        if terrain.len() as u64 != u64::from(width) * u64::from(height) {
            return Err(SearchError::Cells { width, height, cells: terrain.len() as u64 });
        }
        let passable = || terrain.iter().copied().filter(|&terrain| terrain > 0);
        let span = (passable().min().unwrap_or(1), passable().max().unwrap_or(1));
        Self { width, height, terrain, media: Vec::new(), moves, span }.with_moves(moves)
    }

    /// The same map with other moves.
    ///
    /// # Errors
    /// [`SearchError::Moves`] if a diagonal move costs less than a straight one or more than two,
    /// or a move is free, and [`SearchError::Costs`] if costs could exceed 2^31.
    pub fn with_moves(self, moves: Moves) -> Result<Self, SearchError> {
        let (straight, diagonal) = (moves.straight(), moves.diagonal());
        if straight == 0 || diagonal < straight || diagonal > straight.saturating_mul(2) {
            return Err(SearchError::Moves { straight, diagonal });
        }
        let grid = Self { moves, ..self };
        // The other half of the 32-bit range is for the costs of paths.
        let most = grid.farthest() + grid.dearest();
        if most > 1 << 31 {
            return Err(SearchError::Costs { straight, diagonal, most });
        }
        Ok(grid)
    }

    /// The same map with a medium for each cell, row by row: land and water, for example. A move
    /// connects only cells of the same medium, and both cells next to a diagonal move must have
    /// that medium, too.
    ///
    /// ```
    /// use eventhorizon::search::{Grid, reference::AStar};
    /// use glam::UVec2;
    ///
    /// let grid = Grid::new(3, 1, vec![1, 1, 1])?.with_media(vec![0, 1, 1])?;
    /// let mut search = AStar::new(&grid);
    /// assert_eq!(search.find(UVec2::new(0, 0), UVec2::new(1, 0)).cost, None);
    /// assert_eq!(search.find(UVec2::new(1, 0), UVec2::new(2, 0)).cost, Some(2378));
    /// # Ok::<(), eventhorizon::search::SearchError>(())
    /// ```
    ///
    /// # Errors
    /// [`SearchError::Media`] if `media` has another length.
    pub fn with_media(self, media: Vec<u8>) -> Result<Self, SearchError> {
        if media.len() != self.terrain.len() {
            let (width, height) = (self.width, self.height);
            return Err(SearchError::Media { width, height, cells: media.len() as u64 });
        }
        let is_one = media.iter().all(|medium| *medium == media[0]);
        Ok(Self { media: if is_one { Vec::new() } else { media }, ..self })
    }

    /// A square map as in Baudis et al., section IV.A, with `density` times its number of cells as
    /// obstacles at uniformly random places. An obstacle is a square whose side is an exponential
    /// variate with mean 1, rounded down, and at least 1. Obstacles may overlap and cross the map's
    /// edge. At a density of 0.2 about 0.3 of the cells are blocked.
    ///
    /// # Errors
    /// As [`Grid::new`], and [`SearchError::Density`] if the density is not a number from 0 to 10.
    pub fn random(side: u32, density: f64, seed: u64) -> Result<Self, SearchError> {
        if !(0.0..=10.0).contains(&density) {
            return Err(SearchError::Density { density });
        }
        if side > MAX_SIDE {
            return Err(SearchError::Sides { width: side.into(), height: side.into() });
        }
        let cells = u64::from(side) * u64::from(side);
        let mut terrain = vec![1; usize::try_from(cells).expect("a map fits the memory")];
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss,
            reason = "at most ten times 2^30"
        )]
        let obstacles = (cells as f64 * density).round() as u64;
        for obstacle in 0..obstacles {
            let mut stream = Stream::new(seed, 0x6d61_7073, obstacle);
            let mut place = || ((u64::from(stream.draw()) * u64::from(side)) >> 32) as usize;
            let (x, y) = (place(), place());
            let length = obstacle_side(stream.draw());
            let (x_end, y_end) = ((x + length).min(side as usize), (y + length).min(side as usize));
            for row in y..y_end {
                terrain[row * side as usize + x..row * side as usize + x_end].fill(0);
            }
        }
        Self::new(side, side, terrain)
    }

    /// `count` pairs of passable cells, uniformly random; empty if all cells are blocked.
    pub fn random_searches(&self, count: u32, seed: u64) -> Vec<(UVec2, UVec2)> {
        self.chosen(count, |number| Stream::new(seed, 0x7061_6972, number), |cell| (cell(), cell()))
    }

    /// `count` passable cells, uniformly random; empty if all cells are blocked.
    pub fn random_cells(&self, count: u32, seed: u64) -> Vec<UVec2> {
        self.chosen(count, |number| Stream::new(seed, 0x6365_6c6c, number), |cell| cell())
    }

    /// Calls `make` with the passable cells `count` times, each time with a stream of its own.
    fn chosen<T>(
        &self,
        count: u32,
        stream: impl Fn(u64) -> Stream,
        make: impl Fn(&mut dyn FnMut() -> UVec2) -> T,
    ) -> Vec<T> {
        let open: Vec<u32> =
            (0..).zip(&self.terrain).filter(|(_, terrain)| **terrain > 0).map(|(cell, _)| cell).collect();
        if open.is_empty() {
            return Vec::new();
        }
        (0..u64::from(count))
            .map(|number| {
                let mut stream = stream(number);
                make(&mut || {
                    let place = (u64::from(stream.draw()) * open.len() as u64) >> 32;
                    let cell = open[usize::try_from(place).expect("below the number of cells")];
                    UVec2::new(cell % self.width, cell / self.width)
                })
            })
            .collect()
    }

    /// Cells in a row.
    pub fn width(&self) -> u32 {
        self.width
    }

    /// Rows.
    pub fn height(&self) -> u32 {
        self.height
    }

    /// Width times height.
    pub fn cells(&self) -> u32 {
        self.width * self.height
    }

    /// The moves and their costs.
    pub fn moves(&self) -> Moves {
        self.moves
    }

    /// The terrain of all cells, row by row.
    pub fn terrain(&self) -> &[u8] {
        &self.terrain
    }

    /// Whether the cell is on the map and not blocked.
    pub fn passable(&self, cell: UVec2) -> bool {
        self.contains(cell) && self.terrain[self.index(cell)] > 0
    }

    /// Whether the cell is on the map.
    pub fn contains(&self, cell: UVec2) -> bool {
        cell.x < self.width && cell.y < self.height
    }

    /// The cost of one move, or `None` if it is not allowed.
    pub fn step(&self, from: UVec2, to: UVec2) -> Option<u32> {
        (0..self.moves.directions() as usize)
            .find(|&direction| self.neighbour(from, direction) == Some(to))
            .map(|direction| self.moves.of(direction) * u32::from(self.terrain[self.index(to)]))
    }

    /// The length of a path with this cost, in units of a straight move over terrain 1.
    pub fn length(&self, cost: u32) -> f64 {
        f64::from(cost) / f64::from(self.moves.straight())
    }

    /// A lower bound of the cost of any path between two cells: the heuristic of A*.
    pub(crate) fn heuristic(&self, from: UVec2, to: UVec2) -> u32 {
        let apart = UVec2::new(from.x.abs_diff(to.x), from.y.abs_diff(to.y));
        let (far, near) = self.weights();
        far * apart.max_element() + near * apart.min_element()
    }

    /// The heuristic's factors of the larger and the smaller coordinate difference.
    pub(super) fn weights(&self) -> (u32, u32) {
        let (straight, diagonal) = (self.moves.straight(), self.moves.diagonal());
        let least = u32::from(self.span.0);
        (straight * least, (diagonal - straight) * least)
    }

    /// Whether all passable cells have the terrain 1.
    pub(super) fn uniform(&self) -> bool {
        self.span == (1, 1)
    }

    /// The largest value of the heuristic.
    fn farthest(&self) -> u64 {
        u64::from(self.moves.diagonal()) * u64::from(self.span.0) * u64::from(self.width.max(self.height))
    }

    /// The largest cost of a move.
    fn dearest(&self) -> u64 {
        u64::from(self.moves.diagonal()) * u64::from(self.span.1)
    }

    /// Exclusive limit of the costs of paths that a search examines: more than any path without
    /// loops costs, or as much as keeps sums with the heuristic in 32 bits.
    pub(super) fn most_cost(&self) -> u32 {
        let path = u64::from(self.cells()) * self.dearest() + 1;
        let room = u64::from(u32::MAX) - self.farthest() - self.dearest();
        u32::try_from(path.min(room)).expect("below 2^32")
    }

    pub(super) fn index(&self, cell: UVec2) -> usize {
        cell.y as usize * self.width as usize + cell.x as usize
    }

    fn medium(&self, cell: UVec2) -> u8 {
        self.media.get(self.index(cell)).copied().unwrap_or(0)
    }

    /// The destination of a move, if it is allowed.
    pub(super) fn neighbour(&self, from: UVec2, direction: usize) -> Option<UVec2> {
        let (dx, dy) = DIRECTIONS[direction];
        if !self.passable(from) {
            return None;
        }
        let at = |dx, dy| {
            let to = UVec2::new(from.x.checked_add_signed(dx)?, from.y.checked_add_signed(dy)?);
            (self.passable(to) && self.medium(to) == self.medium(from)).then_some(to)
        };
        let to = at(dx, dy)?;
        if direction >= 4 {
            at(dx, 0)?;
            at(0, dy)?;
        }
        Some(to)
    }

    /// A byte for each cell: bit d is set if the move in direction d is allowed.
    pub(super) fn allowed(&self) -> Vec<u8> {
        use rayon::prelude::*;
        let mut allowed = vec![0; self.terrain.len()];
        allowed.par_chunks_mut(self.width as usize).zip(0..self.height).for_each(|(row, y)| {
            for (x, bits) in (0..).zip(row) {
                for direction in 0..self.moves.directions() as usize {
                    *bits |= u8::from(self.neighbour(UVec2::new(x, y), direction).is_some()) << direction;
                }
            }
        });
        allowed
    }
}

/// The side of an obstacle from a uniform word: an exponential variate with mean 1, rounded down,
/// at least 1. The bounds are 2^32 e^-k.
fn obstacle_side(word: u32) -> usize {
    const BOUNDS: [u32; 9] = [
        581_260_615,
        213_833_830,
        78_665_070,
        28_939_262,
        10_646_160,
        3_916_503,
        1_440_801,
        530_041,
        194_991,
    ];
    1 + BOUNDS.iter().filter(|bound| word < **bound).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn obstacles_are_as_large_as_exponential_variates() {
        for (bound, k) in [581_260_615_u32, 213_833_830, 78_665_070].into_iter().zip(2..) {
            let exact = 2_f64.powi(32) * f64::from(-k).exp();
            assert!((f64::from(bound) - exact).abs() < 1.0, "{k}: {exact}");
            assert_eq!(obstacle_side(bound) + 1, obstacle_side(bound - 1));
        }
        assert_eq!((obstacle_side(u32::MAX), obstacle_side(0)), (1, 10));
    }

    #[test]
    fn corners_are_not_cut() {
        let grid = Grid::new(3, 2, vec![1, 0, 1, 1, 1, 1]).unwrap();
        assert_eq!(grid.step(UVec2::new(0, 0), UVec2::new(1, 1)), None);
        assert_eq!(grid.step(UVec2::new(0, 0), UVec2::new(0, 1)), Some(2378));
        assert_eq!(grid.allowed()[0], 0b10);
    }
}
