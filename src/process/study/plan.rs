//! The plan of a study.

use crate::statistics::Stopping;

use super::super::program::MOST_ENTITIES;

/// The plan of a study: what is run. Times are in the model's unit.
///
/// ```
/// use eventhorizon::process::Study;
///
/// // 16 replications until the time 2,000; the first 200 do not count.
/// let study = Study::new(16, 2000.0, 200.0).seed(7);
/// assert_eq!((study.seed, study.replications), (7, 16));
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Study {
    /// Names the random streams.
    pub seed: u64,
    /// Independent replications of each point; `stopping`, if set, replaces it.
    pub replications: u32,
    /// The end of each replication.
    pub until: f64,
    /// The end of the warm-up, when statistics begin.
    pub warm_up: f64,
    /// When there are enough replications: when the means of all tallies, all utilisations and the
    /// averages of variables and containers reach its precision.
    pub stopping: Option<Stopping>,
    /// The most entities that may be there at a time, at most 65,534.
    pub room: u32,
    /// Whether a replication may end with entities that wait for ever. By default it is an error,
    /// which says who waits for what.
    pub allow_deadlock: bool,
}

impl Study {
    /// A number of replications until a time, with statistics after a warm-up.
    pub fn new(replications: u32, until: f64, warm_up: f64) -> Self {
        Self {
            seed: 1,
            replications,
            until,
            warm_up,
            stopping: None,
            room: MOST_ENTITIES,
            allow_deadlock: false,
        }
    }

    /// The most entities.
    pub(super) fn most(&self) -> u32 {
        self.room.clamp(1, MOST_ENTITIES)
    }
}

builder! {
    Study:
    seed: u64,
    replications: u32,
    until: f64,
    warm_up: f64,
    stopping: impl Into<Option<Stopping>>,
    room: u32,
    allow_deadlock: bool,
}
