//! What searches are made on: the cells of a map, or the vertices of a graph.

use glam::UVec2;

use super::memory::{FrontMap, Map, WalkMap, Work};
use super::{Grid, SearchError, grid};
use crate::gpu::Gpu;

/// What searches are made on: a [`Grid`], whose cells are [`UVec2`], or a [`Guided`](super::Guided)
/// graph, whose vertices are numbers. It cannot be implemented elsewhere.
pub trait Space: sealed::Space {}

/// How starts and goals of a [`Space`] are named: [`UVec2`] on maps, `u32` in graphs. It cannot be
/// implemented elsewhere.
pub trait Cell: sealed::Cell {}

impl Space for Grid {}
impl Cell for UVec2 {}
impl Cell for u32 {}

pub(super) mod sealed {
    use super::{FrontMap, Gpu, Map, SearchError, WalkMap, Work};

    /// A cell by its *place*, a word.
    pub trait Cell: Copy + std::fmt::Debug + PartialEq + Send + Sync + 'static {
        fn place(self) -> u32;
        fn at(place: u32) -> Self;
        /// For fingerprints.
        fn words(self) -> impl Iterator<Item = u32>;
    }

    /// What the engines and the sequential search need of a space.
    pub trait Space: Clone + std::fmt::Debug + Sync {
        type Cell: super::Cell;
        /// What moves are looked up in.
        type MoveMap: std::fmt::Debug;

        /// Whether it has search/team.wgsl and search/bands.wgsl.
        const BANDS: bool;

        fn move_map(&self) -> Self::MoveMap;
        /// How many cells there are.
        fn count(&self) -> u32;
        /// The place of a cell of search number `search`, if it is one.
        fn locate(&self, search: usize, cell: Self::Cell) -> Result<u32, SearchError>;
        /// Where a place lies among the cells.
        fn index(&self, place: u32) -> usize;
        /// The place of the cell that lies there.
        fn place(&self, index: usize) -> u32;
        /// Whether there may be paths from it and to it.
        fn is_open(&self, place: u32) -> bool;
        /// The least that a path costs.
        fn estimate(&self, place: u32, goal: u32) -> u32;
        /// Calls `to` with the place and the cost of each move from a place.
        fn each_move(&self, move_map: &Self::MoveMap, place: u32, to: impl FnMut(u32, u32));
        /// The first place from which a move leads here that `is` is true of; it is given the cost
        /// of the move, too.
        fn before(
            &self,
            move_map: &Self::MoveMap,
            place: u32,
            is: impl FnMut(u32, u32) -> bool,
        ) -> Option<u32>;

        /// Costs of paths that are looked at lie below this.
        fn most_cost(&self) -> u32;
        /// What a path that is passed over for its cost would cost, or more.
        fn dearest_path(&self) -> u32;
        /// Few paths cost more than this.
        fn usual_cost(&self) -> u64;
        /// Few open lists are longer than this.
        fn usual_open(&self) -> u32;
        /// No queue is longer than this: it has an item for each move at the most, and one more.
        fn most_open(&self) -> u32;
        /// The range of the bands that are usual.
        fn usual_band(&self) -> u32;

        /// Whether the paths of searches are defined.
        fn check_paths(&self) -> Result<(), SearchError>;
        /// The space as kernels see it.
        fn map(&self, gpu: &Gpu) -> Result<Map, SearchError>;
        /// What only walks along paths see of it.
        fn walk_map(&self, gpu: &Gpu) -> Result<WalkMap, SearchError>;
        /// The space as the kernels of wavefronts see it.
        fn front_map(&self, gpu: &Gpu) -> Result<FrontMap, SearchError>;
        /// The width of the bands of wavefronts that is usual.
        fn front_band(&self) -> u32;
        /// What a kernel is told of it.
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
        let allowed = move_map[index];
        for (direction, &(dx, dy)) in grid::DIRECTIONS.iter().enumerate() {
            if allowed >> direction & 1 == 1 {
                let next = place.wrapping_add_signed(dx + dy * 0x1_0000);
                let terrain = u32::from(self.terrain()[sealed::Space::index(self, next)]);
                to(next, self.moves().of(direction) * terrain);
            }
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
        // Of 0 to 8 straight moves, 1 to 2 need the fewest passes at 64 and 256 cells a side and a
        // density of 0.2.
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
        // Wide, because moves cost about the same, and a pass is dear where there are few sources.
        // (256 x 256 cells, 20 sources: with 1, 4, 32 straight moves 961, 630 and 523 passes, and
        // 0.4 to 0.5 s with each of them on lavapipe.)
        self.moves().straight().saturating_mul(32)
    }

    fn describe(&self, work: &mut Work) {
        (work.width, work.height) = (self.width(), self.height());
        (work.far, work.near) = self.weights();
        (work.straight, work.diagonal) = (self.moves().straight(), self.moves().diagonal());
        work.directions = self.moves().directions();
    }
}
