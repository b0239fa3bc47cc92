//! The choices for an experiment.

use crate::pdes::contract::sync::Sync;
use crate::queue::QueueDesign;

use super::mapping::Mapping;
#[cfg(doc)]
use super::{ExperimentRun, RunResult};

/// Choices that change how fast an experiment runs, and what of its results is told; no result
/// depends on them.
///
/// ```
/// use eventhorizon::pdes::{EngineOptions, Mapping};
///
/// let options = EngineOptions::default().mapping(Mapping::Team).group_size(64);
/// assert_eq!(options.group_size, Some(64));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct EngineOptions {
    /// How runs are mapped to invocations.
    pub mapping: Mapping,
    /// The queues of LPs, where runs are mapped to teams or to the grid; `None` takes one by the
    /// model's capacities.
    pub queue: Option<QueueDesign>,
    /// How windows find their ends, where runs are mapped to teams or to the grid
    /// ([`Mapping::Thread`] has none). Teams know [`Sync::Yawns`]; and [`Sync::Horizon`] in runs of
    /// models with a lookahead whose pending events fit workgroup memory, which end by a time and
    /// have no chosen queue or fixed capacities.
    pub sync: Sync,
    /// Invocations per workgroup, a power of two within the device's limits; `None` takes a good
    /// one.
    pub group_size: Option<u32>,
    /// Whether capacities stay what the model says. Otherwise a run that finds too little room is
    /// made again with more. (Those of a thread are the run's, in one queue: with fixed capacities
    /// [`Mapping::Auto`] takes teams, or the grid. Teams have for all points what the one with the
    /// largest capacities has.)
    pub fixed: bool,
    /// Whether the results of each LP of each run are told ([`RunResult::outputs`]), in the place of
    /// their totals, and of the sums and measures among the observations. That is for whoever looks
    /// at LPs one by one, and takes the host's memory for all of them: an experiment may be made in
    /// parts ([`ExperimentRun::range`]).
    pub outputs: bool,
    /// Rows of each LP's memory that are read at the end of each run ([`RunResult::memory`]): the first,
    /// and how many. They take the host's memory, too.
    pub memory: [u32; 2],
}

impl EngineOptions {
    /// Sets [`EngineOptions::mapping`].
    #[must_use]
    pub fn mapping(self, mapping: Mapping) -> Self {
        Self { mapping, ..self }
    }

    /// Sets [`EngineOptions::queue`].
    #[must_use]
    pub fn queue(self, queue: impl Into<Option<QueueDesign>>) -> Self {
        Self { queue: queue.into(), ..self }
    }

    /// Sets [`EngineOptions::sync`].
    #[must_use]
    pub fn sync(self, sync: Sync) -> Self {
        Self { sync, ..self }
    }

    /// Sets [`EngineOptions::group_size`].
    #[must_use]
    pub fn group_size(self, group_size: impl Into<Option<u32>>) -> Self {
        Self { group_size: group_size.into(), ..self }
    }

    /// Sets [`EngineOptions::fixed`].
    #[must_use]
    pub fn fixed(self, fixed: bool) -> Self {
        Self { fixed, ..self }
    }

    /// Sets [`EngineOptions::outputs`].
    #[must_use]
    pub fn outputs(self, outputs: bool) -> Self {
        Self { outputs, ..self }
    }

    /// Sets [`EngineOptions::memory`].
    #[must_use]
    pub fn memory(self, memory: [u32; 2]) -> Self {
        Self { memory, ..self }
    }
}
