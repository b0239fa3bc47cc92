//! Options of a simulation.

use crate::queue::QueueDesign;

#[cfg(doc)]
use super::error::Fault;
use super::mapping::Mapping;
#[cfg(doc)]
use super::model::Model;
use super::replica::Replica;
use super::sync::Sync;

/// Options that change the speed of a simulation, and the seed and replica, which select its random
/// numbers.
///
/// ```
/// use eventhorizon::pdes::Options;
/// use eventhorizon::queue::QueueDesign;
///
/// let options = Options::default().seed(42).queue(QueueDesign::Heap);
/// assert_eq!(options.queue, Some(QueueDesign::Heap));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Options {
    /// The seed of the run's random streams.
    pub seed: u64,
    /// The replica of the run in an experiment: with the seed, it selects the random streams.
    pub replica: Replica,
    /// The queue design. `None` chooses one by the model's capacities; long runs measure another,
    /// and change to it if it is faster. Results are the same.
    pub queue: Option<QueueDesign>,
    /// Invocations per workgroup, a power of two within the device's limits; `None` chooses a
    /// value. If several invocations serve an LP together ([`Lanes`](crate::queue::Lanes)), a
    /// workgroup serves at least one LP.
    pub group_size: Option<u32>,
    /// The number of LPs that an invocation, or a team of them, serves in each window, one after
    /// the other (fewer if the memory is divided more finely); `None` chooses a value.
    ///
    /// Software adapters may end the loops of several LPs early. A run then goes back and serves
    /// one LP at a time. A run that an application records itself does not: set `Some(1)` there if
    /// handlers have loops of more than ten thousand iterations.
    pub tiles: Option<u32>,
    /// If true, capacities are those of the model, and an overflow is a [`Fault`]. By default
    /// queues and mailboxes grow: a run goes back to its last snapshot, one of which it takes every
    /// second, and continues with larger capacities. Windows that an application records itself do
    /// not grow.
    pub fixed: bool,
    /// The synchronisation: how far windows reach.
    pub sync: Sync,
    /// The whole device ([`Mapping::Grid`]), or one workgroup ([`Mapping::Team`]), in which a
    /// window takes a microsecond. By default, runs of up to some hundred LPs begin with a team,
    /// except on software adapters; long runs measure both.
    ///
    /// A team serves models with a lookahead whose LPs have an invocation each and are expected to
    /// hold 32 events or fewer ([`Model::events_held`], or the capacity), without fixed capacities
    /// or a chosen queue design, group size or tiles, by [`Sync::Yawns`] or [`Sync::Horizon`].
    /// Event-limited runs leave it, and faults are those of the grid.
    pub mapping: Mapping,
}

builder! {
    Options:
    seed: u64,
    replica: Replica,
    queue: impl Into<Option<QueueDesign>>,
    group_size: impl Into<Option<u32>>,
    tiles: impl Into<Option<u32>>,
    fixed: bool,
    sync: Sync,
    mapping: Mapping,
}
