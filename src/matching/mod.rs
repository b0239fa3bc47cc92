//! Region matching: which subscription regions overlap which update regions.

mod brute;
mod error;
mod kernels;
mod matches;
pub mod reference;
mod region;
mod set;
mod work;

pub use error::MatchingError;
pub use matches::{Matches, Page};
pub use region::{Coordinate, Region};
pub use set::Regions;

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
    /// The library chooses.
    #[default]
    Auto,
}

/// Region matching on one device. Keeps the kernels, so make one and use it again.
#[derive(Debug)]
pub struct Matcher {
    kernels: Kernels,
}

impl Matcher {
    /// A matcher for this device. Kernels are built when they are first needed.
    pub fn new(gpu: &Gpu) -> Self {
        Self { kernels: Kernels::new(gpu) }
    }

    /// The device.
    pub fn gpu(&self) -> &Gpu {
        self.kernels.gpu()
    }

    fn kernels(&self) -> &Kernels {
        &self.kernels
    }

    /// How many (subscription, update) pairs overlap.
    ///
    /// # Errors
    /// [`MatchingError::TooMuchWork`] beyond an algorithm's reach, [`MatchingError::Gpu`] where the device fails.
    pub fn count<T: Coordinate, const D: usize>(
        &self,
        subscriptions: &Regions<T, D>,
        updates: &Regions<T, D>,
        algorithm: Algorithm,
    ) -> Result<u64, MatchingError> {
        Ok(self.matches(&subscriptions.columns, &updates.columns, algorithm)?.total())
    }

    /// Finds the overlapping (subscription, update) pairs. They are counted here, and written when a page is asked for.
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
        if subscriptions.filled == 0 || updates.filled == 0 {
            return Ok(Matches::new(self.gpu(), 0, Source::Nothing));
        }
        match algorithm {
            Algorithm::Brute | Algorithm::Auto => {
                let (placed, total) = brute::work(&self.kernels, subscriptions, updates)?.count(&self.kernels)?;
                Ok(Matches::new(self.gpu(), total, Source::Placed(placed)))
            }
        }
    }
}
