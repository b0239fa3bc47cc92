//! Choices for a simulation.

use crate::queue::QueueDesign;

#[cfg(doc)]
use crate::pdes::contract::error::Fault;
use crate::pdes::contract::replica::Replica;
use crate::pdes::contract::sync::Sync;

/// Choices that change how fast a simulation runs, and the seed, which alone changes its result.
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
    /// Names the run's random streams.
    pub seed: u64,
    /// Which of an experiment's runs this is: it names the streams beside the seed.
    pub replica: Replica,
    /// The queue design. `None` takes one by the model's capacities, and in runs that last measures
    /// another one and changes to it where it is faster: results are the same.
    pub queue: Option<QueueDesign>,
    /// Invocations per workgroup, a power of two within the device's limits; `None` takes a good
    /// one. Where several serve an LP together ([`QueueDesign::lanes`]), a workgroup has at least
    /// those of one LP.
    pub group_size: Option<u32>,
    /// LPs that an invocation, or a team of them, serves in each window, one after the other (fewer
    /// where the memory is cut finer); `None` takes a good number. Drivers on the processor may cut
    /// the loops of several: then a run goes back and serves one at a time, but not one that an
    /// application records itself, which should say `Some(1)` if its handlers have loops of more
    /// than ten thousand iterations.
    pub tiles: Option<u32>,
    /// Whether capacities stay what the model says, and too little room is a [`Fault`]. Otherwise
    /// queues and mailboxes grow: a run goes back to its last snapshot, of which it takes one a
    /// second, and on with more room. Windows that an application records itself do not grow.
    pub fixed: bool,
    /// How far windows go.
    pub sync: Sync,
}

impl Options {
    /// Sets [`Options::seed`].
    #[must_use]
    pub fn seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// Sets [`Options::replica`].
    #[must_use]
    pub fn replica(self, replica: Replica) -> Self {
        Self { replica, ..self }
    }

    /// Sets [`Options::queue`].
    #[must_use]
    pub fn queue(self, queue: impl Into<Option<QueueDesign>>) -> Self {
        Self { queue: queue.into(), ..self }
    }

    /// Sets [`Options::group_size`].
    #[must_use]
    pub fn group_size(self, group_size: impl Into<Option<u32>>) -> Self {
        Self { group_size: group_size.into(), ..self }
    }

    /// Sets [`Options::tiles`].
    #[must_use]
    pub fn tiles(self, tiles: impl Into<Option<u32>>) -> Self {
        Self { tiles: tiles.into(), ..self }
    }

    /// Sets [`Options::fixed`].
    #[must_use]
    pub fn fixed(self, fixed: bool) -> Self {
        Self { fixed, ..self }
    }

    /// Sets [`Options::sync`].
    #[must_use]
    pub fn sync(self, sync: Sync) -> Self {
        Self { sync, ..self }
    }
}
