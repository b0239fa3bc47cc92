//! Options of an experiment.

use crate::pdes::contract::mapping::Mapping;
use crate::pdes::contract::sync::Sync;
use crate::queue::QueueDesign;

#[cfg(doc)]
use super::{ExperimentRun, RunResult};

/// Options that change the speed of an experiment, and which of its results are returned. No result
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
    /// The mapping of runs to invocations.
    pub mapping: Mapping,
    /// The queue design of LPs, for teams and the grid; `None` chooses one by the model's
    /// capacities.
    pub queue: Option<QueueDesign>,
    /// The synchronisation, for teams and the grid ([`Mapping::Thread`] has none). Teams support
    /// [`Sync::Yawns`]. They support [`Sync::Horizon`] for models with a lookahead whose pending
    /// events fit workgroup memory, in runs with a stop time, without a chosen queue or fixed
    /// capacities.
    pub sync: Sync,
    /// Invocations per workgroup, a power of two within the device's limits; `None` chooses a
    /// value.
    pub group_size: Option<u32>,
    /// If true, capacities are those of the model. By default a run that overflows is repeated with
    /// larger ones. (A thread has one queue for its run, so with fixed capacities [`Mapping::Auto`]
    /// uses teams or the grid. Teams use the largest capacities of all points.)
    pub fixed: bool,
    /// If true, returns the results of each LP of each run ([`RunResult::outputs`]) instead of
    /// their totals, and without sums and measures in the observations. This needs host memory for
    /// all LPs: an experiment may be split into ranges ([`ExperimentRun::range`]).
    pub outputs: bool,
    /// Rows of each LP's memory to read at the end of each run ([`RunResult::memory`]): the first
    /// row, and their number. They need host memory, too.
    pub memory: [u32; 2],
}

builder! {
    EngineOptions:
    mapping: Mapping,
    queue: impl Into<Option<QueueDesign>>,
    sync: Sync,
    group_size: impl Into<Option<u32>>,
    fixed: bool,
    outputs: bool,
    memory: [u32; 2],
}
