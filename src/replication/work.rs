//! The description of a batch and a slice for the device.

use std::ops::Range;

use super::{Experiment, Pairing};

shared! {
    "replication/job.wgsl":
    #[derive(PartialEq, Eq)]
    pub(super) struct Work as JobWork {
        unread: u64,
        seed: u64,
        first_replication: u32,
        replications: u32,
        first: u32,
        jobs: u32,
        pub(super) steps: u32,
        max_steps: u32,
        common_numbers: u32,
        antithetic: u32,
    }
}

impl Work {
    /// All replications of an experiment's points, to be divided into batches.
    pub(super) fn new(
        experiment: &Experiment,
        replications: &Range<u32>,
        points: usize,
        max_steps: u32,
    ) -> Self {
        let per_point = replications.end - replications.start;
        Self {
            unread: 0,
            seed: experiment.seed,
            first_replication: replications.start,
            replications: per_point,
            first: 0,
            jobs: u32::try_from(points).expect("the points were counted") * per_point,
            steps: 1,
            max_steps,
            common_numbers: experiment.common.into(),
            antithetic: (experiment.pairing == Pairing::Antithetic).into(),
        }
    }

    pub(super) fn jobs(&self) -> u32 {
        self.jobs
    }

    /// The rest after `done` jobs, if any.
    pub(super) fn after(&self, done: u32) -> Option<Self> {
        (done < self.jobs).then(|| Self { first: done, jobs: self.jobs - done, ..*self })
    }

    /// The first of its jobs, at most `jobs`.
    pub(super) fn at_most(self, jobs: u32) -> Self {
        Self { jobs: self.jobs.min(jobs), ..self }
    }
}
