//! Matching on the host's cores, for machines without a GPU: the same pairs, exactly, for bounds of
//! any type of [`Bound`].
//!
//! ```
//! use eventhorizon::matching::{MatchingError, Region, host};
//!
//! let subscriptions = [Region::new([0.0, 0.0], [4.0, 4.0]), Region::new([5.0, 5.0], [9.0, 9.0])];
//! let updates = [Region::new([1.0, 1.0], [2.0, 2.0]), Region::new([3.0, 3.0], [6.0, 6.0])];
//! assert_eq!(host::count(&subscriptions, &updates)?, 3);
//! let mut pairs = host::find(&subscriptions, &updates)?;
//! pairs.sort_unstable();
//! assert_eq!(pairs, [[0, 0], [0, 1], [1, 1]]);
//! # Ok::<(), MatchingError>(())
//! ```
//!
//! In one dimension it is a sweep over both sets in the order of their lower bounds. In several,
//! one dimension is cut into strips, and each strip is swept along another one, after Tsitsigkos,
//! Bouros, Mamoulis and Terrovitis, *Parallel In-Memory Evaluation of Spatial Joins*, SIGSPATIAL
//! 2019. Strips hold about equally many regions, for any distribution of regions.

mod join;
mod moving;
mod side;
mod strips;

pub use moving::MovingRegions;

use rayon::prelude::*;

use super::MatchingError;
use super::region::{Bound, Region};
use super::set::{check_all, check_host_len};
use join::{Count, Pairs, join};
use side::Side;

/// All overlapping (subscription, update) pairs, each once. Their order is the same in every run
/// and on any number of cores, and otherwise unspecified.
///
/// # Errors
/// [`MatchingError::Inverted`] or [`MatchingError::NotANumber`] for the first invalid region,
/// [`MatchingError::TooManyRegions`].
pub fn find<T: Bound, const D: usize>(
    subscriptions: &[Region<T, D>],
    updates: &[Region<T, D>],
) -> Result<Vec<[u32; 2]>, MatchingError> {
    check_all("subscriptions", subscriptions)?;
    check_all("updates", updates)?;
    Ok(join::<T, D, Pairs>([Side::all(subscriptions), Side::all(updates)]))
}

/// How many (subscription, update) pairs overlap.
///
/// # Errors
/// As [`find`].
pub fn count<T: Bound, const D: usize>(
    subscriptions: &[Region<T, D>],
    updates: &[Region<T, D>],
) -> Result<u64, MatchingError> {
    check_all("subscriptions", subscriptions)?;
    check_all("updates", updates)?;
    match D {
        1 => Ok(count_by_ranks(subscriptions, updates)),
        _ => Ok(join::<T, D, Count>([Side::all(subscriptions), Side::all(updates)])),
    }
}

/// Counts in one dimension, in the time of two sorts, as
/// [`reference::count`](super::reference::count).
fn count_by_ranks<T: Bound, const D: usize>(subscriptions: &[Region<T, D>], updates: &[Region<T, D>]) -> u64 {
    let filled = || updates.par_iter().filter(|update| !update.is_empty());
    let mut starts: Vec<T::Key> = filled().map(|update| update.lo[0].to_key()).collect();
    let mut ends: Vec<T::Key> = filled().map(|update| update.hi[0].to_key()).collect();
    starts.par_sort_unstable();
    ends.par_sort_unstable();
    let overlaps = |subscription: &Region<T, D>| {
        let [lo, hi] = [subscription.lo[0], subscription.hi[0]].map(Bound::to_key);
        (starts.partition_point(|start| *start < hi) - ends.partition_point(|end| *end <= lo)) as u64
    };
    subscriptions.par_iter().filter(|subscription| !subscription.is_empty()).map(overlaps).sum()
}

/// Checks that a set of this many regions can be matched, before it is built. Errors name the set
/// `label`.
///
/// # Errors
/// [`MatchingError::TooManyRegions`].
pub fn check_len(label: &str, regions: u64) -> Result<(), MatchingError> {
    check_host_len(label, regions)
}
