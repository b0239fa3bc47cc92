//! The driver of an experiment's runs, and the outcomes of its trials.

use std::collections::HashMap;
use std::time::Duration;

use crate::gpu::Gpu;

use super::mapping::BatchMapping;
use super::options::EngineOptions;
use super::prepared::Prepared;
use super::slice_tuner::TrialResult;
use crate::pdes::contract::mapping::Mapping;
use crate::pdes::contract::until::Until;

/// The outcomes of trials, by the binary logarithm of the number of runs.
#[derive(Debug, Default)]
pub(super) struct Fastest {
    pub(super) found: HashMap<u32, TrialOutcomes>,
    /// The longest preparation of a batch so far: it may include compiling kernels, as a trial may.
    pub(super) cost: Duration,
}

impl Fastest {
    /// Forgets the outcomes.
    pub(super) fn clear(&mut self) {
        self.found.clear();
    }
}

/// The outcomes of trials; `None` without a trial.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct TrialOutcomes {
    /// The faster mapping.
    pub(super) mapping: Option<Mapping>,
    /// The best shape of slices by threads, and by teams in workgroup memory.
    pub(super) threads: Option<TrialResult>,
    pub(super) teams: Option<TrialResult>,
}

impl TrialOutcomes {
    /// The outcome for a mapping.
    pub(super) fn known(&mut self, crowd: BatchMapping) -> &mut Option<TrialResult> {
        match crowd {
            BatchMapping::Thread { .. } => &mut self.threads,
            BatchMapping::Team { .. } | BatchMapping::LocalTeam { .. } => &mut self.teams,
        }
    }
}

/// Executes the runs of an experiment.
pub(super) struct Driver<'e, M> {
    pub(super) gpu: &'e Gpu,
    pub(super) options: EngineOptions,
    pub(super) prepared: &'e mut Prepared<M>,
    pub(super) fastest: &'e mut Fastest,
    pub(super) seed: u64,
    pub(super) until: Until,
    /// The factor by which slices are shorter than usual.
    pub(super) shorter: u32,
}

/// The same value for numbers of runs that are about equal.
pub(super) fn about(runs: usize) -> u32 {
    runs.max(1).ilog2()
}
