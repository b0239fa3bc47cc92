//! What makes the runs of an experiment, and what trials found for it.

use std::collections::HashMap;
use std::time::Duration;

use crate::gpu::Gpu;

use super::mapping::{BatchMapping, Mapping};
use super::options::EngineOptions;
use super::prepared::Prepared;
use super::slice_tuner::TrialResult;
use crate::pdes::contract::until::Until;

/// What trials found, by the binary logarithm of the number of runs.
#[derive(Debug, Default)]
pub(super) struct Fastest {
    pub(super) found: HashMap<u32, TrialOutcomes>,
    /// The longest that it took to prepare a batch: with kernels to compile, as it may be for those
    /// that a trial needs.
    pub(super) cost: Duration,
}

impl Fastest {
    /// Forgets what was found.
    pub(super) fn clear(&mut self) {
        self.found.clear();
    }
}

/// Nothing where there was no trial.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct TrialOutcomes {
    /// The faster one.
    pub(super) mapping: Option<Mapping>,
    /// The best way to make slices by threads, and by near teams.
    pub(super) threads: Option<TrialResult>,
    pub(super) teams: Option<TrialResult>,
}

impl TrialOutcomes {
    /// That by one of these.
    pub(super) fn known(&mut self, crowd: BatchMapping) -> &mut Option<TrialResult> {
        match crowd {
            BatchMapping::Thread { .. } => &mut self.threads,
            BatchMapping::Team { .. } | BatchMapping::Near { .. } => &mut self.teams,
        }
    }
}

/// Makes the runs of an experiment.
pub(super) struct Driver<'e, M> {
    pub(super) gpu: &'e Gpu,
    pub(super) options: EngineOptions,
    pub(super) prepared: &'e mut Prepared<M>,
    pub(super) fastest: &'e mut Fastest,
    pub(super) seed: u64,
    pub(super) until: Until,
    /// By what factor slices are shorter than usual.
    pub(super) shorter: u32,
}

/// Numbers of runs that are much the same, by one of them.
pub(super) fn about(runs: usize) -> u32 {
    runs.max(1).ilog2()
}
