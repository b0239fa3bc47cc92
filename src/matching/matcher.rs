//! Matching on one device: the public interface.

use std::sync::Arc;

use super::call_size::CandidateSource;
use super::kernels::Kernels;
use super::set::{Columns, Regions};
use super::source::Source;
use super::{
    Algorithm, Coordinate, Counter, Matches, MatchingError, auto, brute, counter, sample_decision, tree,
};
use crate::gpu::Gpu;

/// Region matching on one device. Create one and reuse it: it caches kernels, the scratch memory of
/// the largest sort (8 bytes per region, or per entry of a grid) and that of the last calls. Clones
/// share the cache. It takes some 50 bytes per region of two sets in one dimension. A grid needs 20
/// bytes per region and 28 + 8 `D` per entry. A region has an entry for each cell that it meets: at
/// most 4 on average if the library chooses the cells, with capacity for up to twice as many.
/// Memory is freed if the device runs short.
#[derive(Debug, Clone)]
pub struct Matcher {
    kernels: Arc<Kernels>,
}

impl Matcher {
    /// A matcher for this device. Kernels are built on first use.
    pub fn new(gpu: &Gpu) -> Self {
        Self { kernels: Arc::new(Kernels::new(gpu)) }
    }

    /// The device.
    pub fn gpu(&self) -> &Gpu {
        self.kernels.gpu()
    }

    pub(super) fn kernels(&self) -> &Arc<Kernels> {
        &self.kernels
    }

    /// Prepares counting in one dimension by sorting, for recording into the caller's encoders.
    ///
    /// # Errors
    /// [`MatchingError::Gpu`] if the device fails.
    pub fn counter<T: Coordinate>(
        &self,
        subscriptions: &Regions<T, 1>,
        updates: &Regions<T, 1>,
    ) -> Result<Counter, MatchingError> {
        self.counter_tuned(subscriptions, updates, counter::RANK_ENDS)
    }

    /// [`Matcher::counter`] with another number of searches per invocation, for measurements.
    #[doc(hidden)]
    pub fn counter_tuned<T: Coordinate>(
        &self,
        subscriptions: &Regions<T, 1>,
        updates: &Regions<T, 1>,
        ends_each: u32,
    ) -> Result<Counter, MatchingError> {
        Counter::new(&self.kernels, &subscriptions.columns, &updates.columns, ends_each)
    }

    /// How many (subscription, update) pairs overlap.
    ///
    /// # Errors
    /// [`MatchingError::TooMuchWork`] beyond an algorithm's limits, [`MatchingError::Gpu`] if the
    /// device fails.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn count<T: Coordinate, const D: usize>(
        &self,
        subscriptions: &Regions<T, D>,
        updates: &Regions<T, D>,
        algorithm: Algorithm,
    ) -> Result<u64, MatchingError> {
        pollster::block_on(self.count_async(subscriptions, updates, algorithm))
    }

    /// [`Matcher::count`] without blocking.
    ///
    /// # Errors
    /// As [`Matcher::count`].
    pub async fn count_async<T: Coordinate, const D: usize>(
        &self,
        subscriptions: &Regions<T, D>,
        updates: &Regions<T, D>,
        algorithm: Algorithm,
    ) -> Result<u64, MatchingError> {
        let sides = [&subscriptions.columns, &updates.columns];
        let mut count = self.count_once(sides, algorithm).await;
        if self.kernels.forget_if_failed(&count) {
            count = self.count_once(sides, algorithm).await;
        }
        count
    }

    async fn count_once(
        &self,
        [subscriptions, updates]: [&Columns; 2],
        algorithm: Algorithm,
    ) -> Result<u64, MatchingError> {
        // In one dimension ranks suffice.
        let by_ranks = match algorithm {
            Algorithm::Sort => subscriptions.filled > 0 && updates.filled > 0,
            Algorithm::Auto => !auto::brute_serves(self.gpu(), subscriptions, updates),
            _ => false,
        };
        if subscriptions.dims == 1 && by_ranks {
            return Counter::count_once(&self.kernels, subscriptions, updates).await;
        }
        Ok(self.matches_once(subscriptions, updates, algorithm).await?.total())
    }

    /// The algorithm that [`Algorithm::Auto`] chooses for these sets: brute force for few pairs,
    /// then a sweep by sorting if a sample shows few candidates per region (in one dimension
    /// always), otherwise a grid.
    ///
    /// # Errors
    /// [`MatchingError::Gpu`] if the device fails.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn choose<T: Coordinate, const D: usize>(
        &self,
        subscriptions: &Regions<T, D>,
        updates: &Regions<T, D>,
    ) -> Result<Algorithm, MatchingError> {
        pollster::block_on(self.choose_async(subscriptions, updates))
    }

    /// [`Matcher::choose`] without blocking.
    ///
    /// # Errors
    /// As [`Matcher::choose`].
    pub async fn choose_async<T: Coordinate, const D: usize>(
        &self,
        subscriptions: &Regions<T, D>,
        updates: &Regions<T, D>,
    ) -> Result<Algorithm, MatchingError> {
        let (subscriptions, updates) = (&subscriptions.columns, &updates.columns);
        if auto::brute_serves(self.gpu(), subscriptions, updates) {
            return Ok(Algorithm::Brute);
        }
        let mut source = sample_decision::source(&self.kernels, [subscriptions, updates]).await;
        if self.kernels.forget_if_failed(&source) {
            source = sample_decision::source(&self.kernels, [subscriptions, updates]).await;
        }
        Ok(match source? {
            CandidateSource::Sort { .. } => Algorithm::Sort,
            CandidateSource::Grid { cells } => Algorithm::Grid { cells },
        })
    }

    /// Finds the overlapping (subscription, update) pairs. It counts them; a page is written when
    /// it is requested.
    ///
    /// # Errors
    /// As [`Matcher::count`].
    #[cfg(not(target_arch = "wasm32"))]
    pub fn find<T: Coordinate, const D: usize>(
        &self,
        subscriptions: &Regions<T, D>,
        updates: &Regions<T, D>,
        algorithm: Algorithm,
    ) -> Result<Matches, MatchingError> {
        pollster::block_on(self.find_async(subscriptions, updates, algorithm))
    }

    /// [`Matcher::find`] without blocking.
    ///
    /// # Errors
    /// As [`Matcher::find`].
    pub async fn find_async<T: Coordinate, const D: usize>(
        &self,
        subscriptions: &Regions<T, D>,
        updates: &Regions<T, D>,
        algorithm: Algorithm,
    ) -> Result<Matches, MatchingError> {
        self.matches(&subscriptions.columns, &updates.columns, algorithm).await
    }

    /// The pairs of these columns.
    pub(super) async fn matches(
        &self,
        subscriptions: &Columns,
        updates: &Columns,
        algorithm: Algorithm,
    ) -> Result<Matches, MatchingError> {
        let mut found = self.matches_once(subscriptions, updates, algorithm).await;
        if self.kernels.forget_if_failed(&found) {
            found = self.matches_once(subscriptions, updates, algorithm).await;
        }
        found
    }

    async fn matches_once(
        &self,
        subscriptions: &Columns,
        updates: &Columns,
        algorithm: Algorithm,
    ) -> Result<Matches, MatchingError> {
        let (total, source) = if subscriptions.filled == 0 || updates.filled == 0 {
            (0, Source::Nothing)
        } else {
            let brute =
                algorithm == Algorithm::Auto && auto::brute_serves(self.gpu(), subscriptions, updates);
            let algorithm = if brute { Algorithm::Brute } else { algorithm };
            self.matches_of_filled(subscriptions, updates, algorithm).await?
        };
        Ok(Matches::new(&self.kernels, total, source))
    }

    async fn matches_of_filled(
        &self,
        subscriptions: &Columns,
        updates: &Columns,
        algorithm: Algorithm,
    ) -> Result<(u64, Source), MatchingError> {
        let kernels = &self.kernels;
        let sides = [subscriptions, updates];
        match algorithm {
            Algorithm::Brute => {
                let (placed, total) = brute::work(subscriptions, updates)?.count(kernels).await?;
                Ok((total, Source::PlacedWork(placed)))
            }
            Algorithm::IntervalTree => {
                let dim = sample_decision::best_dimension(kernels, sides).await?;
                let (total, tree) = tree::matches(kernels, subscriptions, updates, dim).await?;
                Ok((total, Source::Tree(tree)))
            }
            _ => auto::matches(kernels, sides, algorithm).await,
        }
    }
}
