//! Region matching in its simplest form: the reference for the kernels and the host engine.

use super::Region;
use super::region::Coordinate;

/// All overlapping (subscription, update) pairs, by testing each: section 2 of the paper,
/// "Brute-Force Matching". Ordered by subscription, then update.
///
/// It does not check its input: a region with inverted or NaN bounds gives a meaningless answer.
///
/// ```
/// use eventhorizon::matching::{Region, reference};
///
/// let subscriptions = [Region::new([0, 0], [10, 10]), Region::new([20, 20], [30, 30])];
/// let updates = [Region::new([5, 5], [25, 25]), Region::new([10, 0], [11, 10])];
/// assert_eq!(reference::find(&subscriptions, &updates), [[0, 0], [1, 0]]);
/// ```
pub fn find<T: Copy + PartialOrd, const D: usize>(
    subscriptions: &[Region<T, D>],
    updates: &[Region<T, D>],
) -> Vec<[u32; 2]> {
    let mut pairs = Vec::new();
    for (s, subscription) in (0..).zip(subscriptions) {
        for (u, update) in (0..).zip(updates) {
            if subscription.overlaps(update) {
                pairs.push([s, u]);
            }
        }
    }
    pairs
}

/// The number of pairs that overlap in one dimension, in the time of two sorts.
///
/// A pair of non-empty intervals is disjoint in one of two ways: the update ends at or before the
/// subscription's start, or starts at or after its end. Both counts are ranks in a sorted list, so
/// no pair is visited.
pub fn count<T: Coordinate>(subscriptions: &[Region<T, 1>], updates: &[Region<T, 1>]) -> u64 {
    let filled = || updates.iter().filter(|update| !update.is_empty());
    let mut starts: Vec<u32> = filled().map(|update| update.lo[0].key()).collect();
    let mut ends: Vec<u32> = filled().map(|update| update.hi[0].key()).collect();
    starts.sort_unstable();
    ends.sort_unstable();
    let overlaps = |subscription: &Region<T, 1>| {
        let started = starts.partition_point(|&lo| lo < subscription.hi[0].key());
        let ended = ends.partition_point(|&hi| hi <= subscription.lo[0].key());
        (started - ended) as u64
    };
    subscriptions.iter().filter(|subscription| !subscription.is_empty()).map(overlaps).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn counting_by_ranks_is_counting_pairs(
            a in proptest::collection::vec((0i32..40, 0i32..9), 0..40),
            b in proptest::collection::vec((0i32..40, 0i32..9), 0..40),
        ) {
            let regions = |list: &[(i32, i32)]| -> Vec<_> {
                list.iter().map(|&(lo, width)| Region::new([lo], [lo + width])).collect()
            };
            let (a, b) = (regions(&a), regions(&b));
            prop_assert_eq!(count(&a, &b), find(&a, &b).len() as u64);
        }
    }
}
