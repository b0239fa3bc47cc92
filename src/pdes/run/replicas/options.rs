//! The choices for an experiment.

use crate::pdes::contract::sync::Sync;
use crate::queue::QueueDesign;

use super::mapping::Mapping;
#[cfg(doc)]
use super::{Engine, RunResult};

/// Choices that change how fast an experiment runs, and what of its results is told; no result
/// depends on them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
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
    /// parts ([`Engine::run_range`]).
    pub outputs: bool,
    /// Rows of each LP's memory that are read at the end of each run ([`RunResult::memory`]): the first,
    /// and how many. They take the host's memory, too.
    pub memory: [u32; 2],
}
