//! An experiment: the points of a design times replications, with the random stream of each.

use super::{AnalysisError, Design, Pairing};

/// The points of a design, each with the same number of replications.
#[derive(Debug, Clone, PartialEq)]
pub struct Experiment {
    /// The parameter points.
    pub design: Design,
    /// Replications per point. The two halves of an antithetic pair count as two.
    pub replications: u32,
    /// Seed of the whole experiment.
    pub seed: u64,
    /// Common random numbers: replication r draws the same numbers at every point. Differences
    /// between points become more precise ([`compare`](super::compare)), but the points become
    /// dependent.
    pub common: bool,
    /// Whether replications come in antithetic pairs. This narrows the interval if the result is
    /// monotone in the draws, and may widen it otherwise.
    pub pairing: Pairing,
}

/// The key of a replication's random numbers, in addition to the seed of the experiment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct StreamKey {
    /// The point's part of the key.
    pub point: u32,
    /// The replication's part of the key.
    pub replication: u32,
    /// Whether every 32-bit draw is complemented (`~word`): the antithetic half of a pair.
    pub complement: bool,
}

impl Experiment {
    /// Independent streams and independent replications.
    pub fn new(design: Design, replications: u32, seed: u64) -> Self {
        Self { design, replications, seed, common: false, pairing: Pairing::Independent }
    }

    /// Switches on common random numbers across points.
    pub fn with_common_random_numbers(self) -> Self {
        Self { common: true, ..self }
    }

    /// Switches on antithetic pairs.
    pub fn with_antithetic_pairs(self) -> Self {
        Self { pairing: Pairing::Antithetic, ..self }
    }

    /// Checks whether the experiment can be run; engines call it before they start.
    ///
    /// # Errors
    /// [`AnalysisError`], with the invalid value.
    pub fn check(&self) -> Result<(), AnalysisError> {
        if self.replications == 0 {
            return Err(AnalysisError::Setting {
                what: "the number of replications per point",
                value: "0".into(),
                remedy: "run at least 1, and at least 2 for an interval",
            });
        }
        if self.pairing == Pairing::Antithetic && self.replications % 2 == 1 {
            return Err(AnalysisError::Odd { replications: self.replications.into() });
        }
        Ok(())
    }

    /// The stream of a replication of a point. It does not depend on the number of replications or
    /// of points, so adding some never changes the earlier ones.
    pub fn stream(&self, point: u32, replication: u32) -> StreamKey {
        let point = if self.common { 0 } else { point };
        match self.pairing {
            Pairing::Independent => StreamKey { point, replication, complement: false },
            Pairing::Antithetic => {
                StreamKey { point, replication: replication / 2, complement: replication % 2 == 1 }
            }
        }
    }
}

/// Whether the host can allocate this much memory. It is checked first, because a failed allocation
/// later ends the program. Some systems overcommit, so more than 256 GiB is refused.
pub(crate) fn fits_host(bytes: u64) -> bool {
    const MOST: u64 = 1 << 38;
    bytes <= MOST
        && usize::try_from(bytes).is_ok_and(|bytes| Vec::<u8>::new().try_reserve_exact(bytes).is_ok())
}

/// Refuses runs whose results exceed the host's memory, with `each` bytes per replication.
pub(crate) fn check_room(points: usize, replications: u32, each: usize) -> Result<(), AnalysisError> {
    let bytes = (points as u64).saturating_mul(replications.into()).saturating_mul(each as u64);
    match fits_host(bytes) {
        true => Ok(()),
        false => Err(AnalysisError::HostMemory { points, replications, bytes }),
    }
}
