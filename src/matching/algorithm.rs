//! Algorithms that find pairs.

/// The algorithm that finds pairs. All give the same pairs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Algorithm {
    /// Every subscription against every update: the time grows with the product. Best for small
    /// sets.
    Brute,
    /// Sort-based matching: the time of two sorts, and of the pairs. In several dimensions it sorts
    /// along the one with the fewest overlapping pairs and tests those pairs in the others.
    Sort,
    /// An interval tree over the subscriptions, queried by each update. One invocation serves one
    /// update, so a few updates that overlap very many subscriptions are slow.
    IntervalTree,
    /// A regular grid: regions that share a cell are tested. Best if regions are small in several
    /// dimensions.
    Grid {
        /// Cells per dimension; `None` lets the library choose.
        cells: Option<u32>,
    },
    /// The library chooses: see [`Matcher::choose`](super::Matcher::choose).
    #[default]
    Auto,
}
