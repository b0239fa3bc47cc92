//! Chooses the source of candidates from a sample of the sets.

use super::call_size::CandidateSource;
use super::kernels::{Kernels, ReadbackRange};
use super::sample::Sample;
use super::set::Columns;
use super::{Algorithm, MatchingError};
use crate::gpu::{Plan, tune};

/// With more candidates per region, a sweep along one dimension takes longer than a grid.
const SWEEP_CANDIDATES: f64 = 64.0;

/// The dimension with the fewest overlapping pairs, and their number, from the overlaps in each
/// dimension.
fn fewest(overlaps: Vec<f64>) -> (u32, f64) {
    (0..).zip(overlaps).min_by(|a, b| a.1.total_cmp(&b.1)).expect("a region has a dimension")
}

/// The dimension to sweep along.
pub(super) async fn best_dimension(kernels: &Kernels, sides: [&Columns; 2]) -> Result<u32, MatchingError> {
    if sides[0].dims == 1 {
        return Ok(0);
    }
    let sample = Sample::new(kernels, sides)?;
    let read = kernels.run(&[sample.plan()], false, &[sample.wanted()]).await?;
    Ok(fewest(sample.overlaps(&read[0])).0)
}

/// The source that [`Algorithm::Auto`] chooses for sets that are too large for brute force.
pub(super) async fn source(
    kernels: &Kernels,
    sides: [&Columns; 2],
) -> Result<CandidateSource, MatchingError> {
    let mut look = SampleDecision::new(kernels, sides, Algorithm::Auto)?;
    look.alone(kernels).await?;
    Ok(look.source)
}

/// A sample of the sets, and the assumed source.
pub(super) struct SampleDecision {
    /// `None` if no sample is needed, or if it is already evaluated.
    sample: Option<Sample>,
    always_sort: bool,
    regions: f64,
    pub(super) source: CandidateSource,
}

impl SampleDecision {
    pub(super) fn new(
        kernels: &Kernels,
        sides: [&Columns; 2],
        algorithm: Algorithm,
    ) -> Result<Self, MatchingError> {
        let source = match algorithm {
            Algorithm::Grid { cells } => CandidateSource::Grid { cells },
            _ => CandidateSource::Sort { dim: 0 },
        };
        let known = sides[0].dims == 1 || matches!(source, CandidateSource::Grid { .. });
        Ok(Self {
            sample: if known { None } else { Some(Sample::new(kernels, sides)?) },
            always_sort: algorithm == Algorithm::Sort,
            regions: sides.iter().map(|side| f64::from(side.filled)).sum(),
            source,
        })
    }

    /// Whether a sample is pending.
    pub(super) fn has_part(&self) -> bool {
        self.sample.is_some()
    }

    /// The sample's plan, which runs first, and its output, which is read first.
    pub(super) fn part(&self) -> Option<(&Plan, ReadbackRange<'_>)> {
        self.sample.as_ref().map(|sample| (sample.plan(), sample.wanted()))
    }

    /// Evaluates the output of [`SampleDecision::part`]. Returns whether the assumed source is
    /// right, and corrects it otherwise.
    pub(super) fn reported(&mut self, hits: &[u32]) -> bool {
        let Some(sample) = self.sample.take() else { return true };
        let (dim, candidates) = fewest(sample.overlaps(hits));
        let costs = [("sweep", candidates), ("grid", SWEEP_CANDIDATES * self.regions)];
        let sorts = self.always_sort || tune::cheapest("matching algorithm", &costs) == 0;
        let source =
            if sorts { CandidateSource::Sort { dim } } else { CandidateSource::Grid { cells: None } };
        let right = source == self.source;
        self.source = source;
        right
    }

    /// Samples in a separate submission.
    pub(super) async fn alone(&mut self, kernels: &Kernels) -> Result<(), MatchingError> {
        if let Some((plan, wanted)) = self.part() {
            let read = kernels.run(&[plan], false, &[wanted]).await?;
            self.reported(&read[0]);
        }
        Ok(())
    }
}
