//! Region matching: which subscription regions overlap which update regions.
//!
//! The problem behind data distribution management in distributed simulation, and behind interest management in
//! games: given two sets of boxes in 1 to 4 dimensions, find every pair (one of each set) that overlaps, each
//! exactly once. After Marzolla and D'Angelo, *Parallel Data Distribution Management on Shared-Memory
//! Multiprocessors*, ACM TOMACS 30 (2020).
//!
//! ```
//! use eventhorizon::gpu::Gpu;
//! use eventhorizon::matching::{Algorithm, Matcher, Region};
//!
//! let gpu = Gpu::new()?;
//! let matcher = Matcher::new(&gpu);
//! // What two agents see, and where three of them are. Intervals are half-open: [lo, hi).
//! let subscriptions = [Region::new([0.0, 0.0], [4.0, 4.0]), Region::new([5.0, 5.0], [9.0, 9.0])];
//! let updates = [
//!     Region::new([1.0, 1.0], [2.0, 2.0]),
//!     Region::new([3.0, 3.0], [6.0, 6.0]),
//!     Region::new([4.0, 0.0], [5.0, 4.0]),
//! ];
//! let subscriptions = matcher.upload("subscriptions", &subscriptions)?;
//! let updates = matcher.upload("updates", &updates)?;
//!
//! assert_eq!(matcher.count(&subscriptions, &updates, Algorithm::Auto)?, 3);
//! let mut matches = matcher.find(&subscriptions, &updates, Algorithm::Auto)?;
//! while let Some(page) = matches.next_page()? {
//!     // `page.buffer()` holds the pairs on the device, for further kernels.
//!     assert_eq!(page.read()?, [[0, 0], [0, 1], [1, 1]]);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # How it works
//!
//! Bounds of any type become `u32` keys with the same order, so one set of kernels serves all types and every
//! comparison is exact. All algorithms cut their candidates into tasks, count the matches of each task, place
//! them by a 64-bit prefix sum and write them: every pair has its place before it is written, in the same order
//! on every device. If the pairs are more than one binding holds, [`Matches`] gives them in pages.
//!
//! Sort-based matching here needs no active sets, which the paper names as the obstacle on GPUs. With both
//! sides ordered by lower bound, an overlap is of one of two kinds, each a contiguous range:
//!
//! ```text
//! the update starts inside the subscription      the subscription starts inside the update, behind its first point
//!      s |---------------)                                  s |--------------)
//!      u        |-------------)                        u |---------------)
//!        s.lo <= u.lo < s.hi                             u.lo < s.lo < u.hi
//! ```
//!
//! Regions that move between steps: [`MovingRegions`]. The standard's services: [`hla`]. Without an adapter:
//! [`reference`](mod@reference).

mod brute;
mod dynamic;
mod error;
mod grid;
pub mod hla;
mod kernels;
mod matches;
mod programs;
pub mod reference;
mod region;
mod sample;
mod set;
mod sweep;
mod tree;
mod work;

pub use dynamic::{Changes, MovingRegions};
pub use error::MatchingError;
pub use matches::{Matches, Page};
#[doc(hidden)]
pub use programs::kernels;
pub use region::{Coordinate, Region};
pub use set::Regions;
pub use sweep::Counter;

use std::sync::Arc;

use crate::gpu::Gpu;
use kernels::Kernels;
use matches::Source;
use set::Columns;

/// How pairs are found. All give the same pairs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Algorithm {
    /// Every subscription against every update: the time grows with the product. Best for small sets.
    Brute,
    /// Sort-based matching: the time of two sorts, and of the pairs. In more than one dimension along the
    /// dimension in which the fewest pairs overlap; those are tested in the others.
    Sort,
    /// An interval tree over the subscriptions, queried by each update. One thread serves one update, so a few
    /// updates that overlap very many subscriptions are slow.
    IntervalTree,
    /// A regular grid; regions that share a cell are tested. Best where regions are small in several
    /// dimensions.
    Grid {
        /// Cells per dimension; `None` lets the library choose.
        cells: Option<u32>,
    },
    /// The library chooses.
    #[default]
    Auto,
}

/// Region matching on one device. It keeps the kernels and the scratch memory of the largest sort (8 bytes per
/// region), so make one and use it again. Clones share them.
#[derive(Debug, Clone)]
pub struct Matcher {
    kernels: Arc<Kernels>,
}

impl Matcher {
    /// A matcher for this device. Kernels are built when they are first needed.
    pub fn new(gpu: &Gpu) -> Self {
        Self { kernels: Arc::new(Kernels::new(gpu)) }
    }

    /// The device.
    pub fn gpu(&self) -> &Gpu {
        self.kernels.gpu()
    }

    fn kernels(&self) -> &Arc<Kernels> {
        &self.kernels
    }

    /// Prepares counting in one dimension by sorting, to be recorded into the caller's encoders.
    ///
    /// # Errors
    /// [`MatchingError::Gpu`] where the device fails.
    pub fn counter<T: Coordinate>(
        &self,
        subscriptions: &Regions<T, 1>,
        updates: &Regions<T, 1>,
    ) -> Result<Counter, MatchingError> {
        self.counter_tuned(subscriptions, updates, sweep::RANK_ITEMS)
    }

    /// [`Matcher::counter`] with another number of searches per thread, for measurements.
    #[doc(hidden)]
    pub fn counter_tuned<T: Coordinate>(
        &self,
        subscriptions: &Regions<T, 1>,
        updates: &Regions<T, 1>,
        items: u32,
    ) -> Result<Counter, MatchingError> {
        Counter::new(&self.kernels, &subscriptions.columns, &updates.columns, items)
    }

    /// How many (subscription, update) pairs overlap.
    ///
    /// # Errors
    /// [`MatchingError::TooMuchWork`] beyond an algorithm's reach, [`MatchingError::Gpu`] where the device
    /// fails.
    pub fn count<T: Coordinate, const D: usize>(
        &self,
        subscriptions: &Regions<T, D>,
        updates: &Regions<T, D>,
        algorithm: Algorithm,
    ) -> Result<u64, MatchingError> {
        let (subscriptions, updates) = (&subscriptions.columns, &updates.columns);
        // In one dimension, ranks are enough.
        let by_ranks = match algorithm {
            Algorithm::Sort => subscriptions.filled > 0 && updates.filled > 0,
            Algorithm::Auto => !brute_serves(subscriptions, updates),
            _ => false,
        };
        if D == 1 && by_ranks {
            return Counter::new(&self.kernels, subscriptions, updates, sweep::RANK_ITEMS)?.count(self.gpu());
        }
        Ok(self.matches(subscriptions, updates, algorithm)?.total())
    }

    /// Finds the overlapping (subscription, update) pairs. They are counted here, and written when a page is
    /// asked for.
    ///
    /// # Errors
    /// As [`Matcher::count`].
    pub fn find<T: Coordinate, const D: usize>(
        &self,
        subscriptions: &Regions<T, D>,
        updates: &Regions<T, D>,
        algorithm: Algorithm,
    ) -> Result<Matches, MatchingError> {
        self.matches(&subscriptions.columns, &updates.columns, algorithm)
    }

    fn matches(
        &self,
        subscriptions: &Columns,
        updates: &Columns,
        algorithm: Algorithm,
    ) -> Result<Matches, MatchingError> {
        let (total, source) = if subscriptions.filled == 0 || updates.filled == 0 {
            (0, Source::Nothing)
        } else {
            self.matches_of_filled(subscriptions, updates, algorithm)?
        };
        Ok(Matches::new(&self.kernels, total, source))
    }

    fn matches_of_filled(
        &self,
        subscriptions: &Columns,
        updates: &Columns,
        algorithm: Algorithm,
    ) -> Result<(u64, Source), MatchingError> {
        let kernels = &self.kernels;
        let plan = Plan::new(kernels, subscriptions, updates, algorithm)?;
        match plan {
            Plan::Brute => {
                let (placed, total) = brute::work(kernels, subscriptions, updates)?.count(kernels)?;
                Ok((total, Source::Placed(placed)))
            }
            Plan::Sort { dim } => sweep::matches(kernels, subscriptions, updates, dim),
            Plan::IntervalTree { dim } => tree::matches(kernels, subscriptions, updates, dim),
            Plan::Grid { cells } => grid::matches(kernels, subscriptions, updates, cells),
        }
    }
}

/// An algorithm with all that it needs to know.
enum Plan {
    Brute,
    Sort { dim: u32 },
    IntervalTree { dim: u32 },
    Grid { cells: Option<u32> },
}

/// Whether testing every pair takes less time than sorting both sides: there are few pairs, or few regions on
/// one side.
fn brute_serves(subscriptions: &Columns, updates: &Columns) -> bool {
    let (n, m) = (f64::from(subscriptions.filled), f64::from(updates.filled));
    n * m <= 4e6 + 64.0 * (n + m)
}

/// Beyond so many candidates per region, a sweep along one dimension takes longer than a grid.
const SWEEP_CANDIDATES: f64 = 64.0;

impl Plan {
    fn new(
        kernels: &Kernels,
        subscriptions: &Columns,
        updates: &Columns,
        algorithm: Algorithm,
    ) -> Result<Self, MatchingError> {
        let (n, m) = (f64::from(subscriptions.filled), f64::from(updates.filled));
        match algorithm {
            Algorithm::Brute => return Ok(Self::Brute),
            Algorithm::Grid { cells } => return Ok(Self::Grid { cells }),
            Algorithm::Auto if brute_serves(subscriptions, updates) => return Ok(Self::Brute),
            Algorithm::Auto | Algorithm::Sort | Algorithm::IntervalTree => {}
        }
        let (mut dim, mut share) = (0, 0.0);
        if subscriptions.dims > 1 {
            let shares = sample::selectivity(kernels, subscriptions, updates)?;
            let best = (0..).zip(shares).min_by(|a, b| a.1.total_cmp(&b.1));
            (dim, share) = best.expect("a region has a dimension");
        }
        Ok(match algorithm {
            Algorithm::IntervalTree => Self::IntervalTree { dim },
            Algorithm::Auto if share * n * m > SWEEP_CANDIDATES * (n + m) => Self::Grid { cells: None },
            _ => Self::Sort { dim },
        })
    }
}
