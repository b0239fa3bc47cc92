//! Search spaces: the cells of a map, or the vertices of a graph.

use glam::UVec2;

use super::memory::{FrontMap, Map, WalkMap, Work};
use super::{Grid, SearchError, grid};
use crate::gpu::Gpu;

/// A search space: a [`Grid`] with cells [`UVec2`], or a [`Guided`](super::Guided) graph with
/// numbered vertices. Other crates cannot implement it.
pub trait Space: sealed::Space {}

/// The type of starts and goals in a [`Space`]: [`UVec2`] on maps, `u32` in graphs. Other crates
/// cannot implement it.
pub trait Cell: sealed::Cell {}

impl Space for Grid {}
impl Cell for UVec2 {}
impl Cell for u32 {}

pub(super) mod sealed {
    use super::{FrontMap, Gpu, Map, SearchError, WalkMap, Work};

    /// A cell, encoded as its *place*, a word.
    pub trait Cell: Copy + std::fmt::Debug + PartialEq + Send + Sync + 'static {
        fn place(self) -> u32;
        fn at(place: u32) -> Self;
        /// The words for fingerprints.
        fn words(self) -> impl Iterator<Item = u32>;
    }

    /// The interface of a space to the engines and the sequential search.
    pub trait Space: Clone + std::fmt::Debug + Sync {
        type Cell: super::Cell;
        /// A lookup table of moves.
        type MoveMap: std::fmt::Debug;

        /// Whether search/team.wgsl and search/bands.wgsl support it.
        const BANDS: bool;

        fn move_map(&self) -> Self::MoveMap;
        /// The number of cells.
        fn count(&self) -> u32;
        /// The place of a cell of search number `search`, if the cell exists.
        fn locate(&self, search: usize, cell: Self::Cell) -> Result<u32, SearchError>;
        /// The index of a place among the cells.
        fn index(&self, place: u32) -> usize;
        /// The place of the cell with this index.
        fn place(&self, index: usize) -> u32;
        /// Whether paths may start or end there.
        fn is_open(&self, place: u32) -> bool;
        /// A lower bound of the cost of a path.
        fn estimate(&self, place: u32, goal: u32) -> u32;
        /// Calls `to` with the place and the cost of each move from a place.
        fn each_move(&self, move_map: &Self::MoveMap, place: u32, to: impl FnMut(u32, u32));
        /// The first place with a move to here for which `is` is true; `is` also gets the cost of
        /// the move.
        fn before(
            &self,
            move_map: &Self::MoveMap,
            place: u32,
            is: impl FnMut(u32, u32) -> bool,
        ) -> Option<u32>;

        /// Exclusive limit of the costs of paths that a search examines.
        fn most_cost(&self) -> u32;
        /// A lower bound of the cost of a path that was skipped because of its cost.
        fn dearest_path(&self) -> u32;
        /// Few paths cost more than this.
        fn usual_cost(&self) -> u64;
        /// Few open lists are longer than this.
        fn usual_open(&self) -> u32;
        /// No queue is longer: it has at most one item for each move, and one more.
        fn most_open(&self) -> u32;
        /// The default range of the bands.
        fn usual_band(&self) -> u32;

        /// Checks that the paths of searches are defined.
        fn check_paths(&self) -> Result<(), SearchError>;
        /// The space for kernels.
        fn map(&self, gpu: &Gpu) -> Result<Map, SearchError>;
        /// The additional buffers for walks along paths.
        fn walk_map(&self, gpu: &Gpu) -> Result<WalkMap, SearchError>;
        /// The space for the kernels of wavefronts.
        fn front_map(&self, gpu: &Gpu) -> Result<FrontMap, SearchError>;
        /// The default width of the bands of wavefronts.
        fn front_band(&self) -> u32;
        /// Writes the parameters of kernels.
        fn describe(&self, work: &mut Work);
    }
}

impl sealed::Cell for UVec2 {
    fn place(self) -> u32 {
        self.x | self.y << 16
    }

    fn at(place: u32) -> Self {
        Self::new(place & 0xffff, place >> 16)
    }

    fn words(self) -> impl Iterator<Item = u32> {
        self.to_array().into_iter()
    }
}

impl sealed::Cell for u32 {
    fn place(self) -> u32 {
        self
    }

    fn at(place: u32) -> Self {
        place
    }

    fn words(self) -> impl Iterator<Item = u32> {
        std::iter::once(self)
    }
}

impl sealed::Space for Grid {
    type Cell = UVec2;
    /// Bit d of a cell: the move in direction d is allowed.
    type MoveMap = Vec<u8>;

    const BANDS: bool = true;

    fn move_map(&self) -> Vec<u8> {
        self.allowed()
    }

    fn count(&self) -> u32 {
        self.cells()
    }

    fn locate(&self, search: usize, cell: UVec2) -> Result<u32, SearchError> {
        let (width, height) = (self.width(), self.height());
        match self.contains(cell) {
            true => Ok(sealed::Cell::place(cell)),
            false => Err(SearchError::Outside { search, x: cell.x, y: cell.y, width, height }),
        }
    }

    fn index(&self, place: u32) -> usize {
        (place >> 16) as usize * self.width() as usize + (place & 0xffff) as usize
    }

    fn place(&self, index: usize) -> u32 {
        let index = u32::try_from(index).expect("a map has fewer cells");
        (index % self.width()) | ((index / self.width()) << 16)
    }

    fn is_open(&self, place: u32) -> bool {
        self.terrain()[sealed::Space::index(self, place)] > 0
    }

    fn estimate(&self, place: u32, goal: u32) -> u32 {
        self.heuristic(sealed::Cell::at(place), sealed::Cell::at(goal))
    }

    fn each_move(&self, move_map: &Vec<u8>, place: u32, mut to: impl FnMut(u32, u32)) {
        let index = sealed::Space::index(self, place);
        let mut allowed = move_map[index];
        while allowed != 0 {
            let direction = allowed.trailing_zeros() as usize;
            allowed &= allowed - 1;
            let (dx, dy) = grid::DIRECTIONS[direction];
            let next = place.wrapping_add_signed(dx + dy * 0x1_0000);
            let terrain = u32::from(self.terrain()[sealed::Space::index(self, next)]);
            to(next, self.moves().of(direction) * terrain);
        }
    }

    fn before(&self, move_map: &Vec<u8>, place: u32, mut is: impl FnMut(u32, u32) -> bool) -> Option<u32> {
        let at: UVec2 = sealed::Cell::at(place);
        let terrain = u32::from(self.terrain()[sealed::Space::index(self, place)]);
        (0..self.moves().directions() as usize).find_map(|direction| {
            let (dx, dy) = grid::DIRECTIONS[direction];
            let from = UVec2::new(at.x.wrapping_add_signed(-dx), at.y.wrapping_add_signed(-dy));
            let from = self.contains(from).then(|| sealed::Cell::place(from))?;
            let leads = move_map[sealed::Space::index(self, from)] >> direction & 1 == 1;
            (leads && is(from, self.moves().of(direction) * terrain)).then_some(from)
        })
    }

    fn most_cost(&self) -> u32 {
        Self::most_cost(self)
    }

    fn dearest_path(&self) -> u32 {
        Self::most_cost(self)
    }

    fn usual_cost(&self) -> u64 {
        let terrain = 1 + u64::from(!self.uniform()) * 15;
        u64::from(self.moves().diagonal()) * u64::from(self.width() + self.height()) * terrain * 8
    }

    fn usual_open(&self) -> u32 {
        (self.width() + self.height()) * 4
    }

    fn most_open(&self) -> u32 {
        self.cells().saturating_mul(self.moves().directions()).saturating_add(1)
    }

    fn usual_band(&self) -> u32 {
        // One to two straight moves need the fewest passes.
        2 * self.weights().0
    }

    fn check_paths(&self) -> Result<(), SearchError> {
        Ok(())
    }

    fn map(&self, gpu: &Gpu) -> Result<Map, SearchError> {
        Ok(Map::of_grid(gpu, self)?)
    }

    fn walk_map(&self, _: &Gpu) -> Result<WalkMap, SearchError> {
        Ok(Vec::new())
    }

    fn front_map(&self, gpu: &Gpu) -> Result<FrontMap, SearchError> {
        Ok(FrontMap::of_grid(gpu, self)?)
    }

    fn front_band(&self) -> u32 {
        // Wide bands, because moves cost about the same and a pass with few sources is expensive.
        self.moves().straight().saturating_mul(32)
    }

    fn describe(&self, work: &mut Work) {
        (work.width, work.height) = (self.width(), self.height());
        (work.far, work.near) = self.weights();
        (work.straight, work.diagonal) = (self.moves().straight(), self.moves().diagonal());
        work.directions = self.moves().directions();
    }
}
