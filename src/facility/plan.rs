//! The plan of a study.

use super::model::MOST_ROOM;
use crate::statistics::Stopping;

/// The plan of a study: what is run. Times are in the network's unit.
///
/// ```
/// use eventhorizon::facility::Study;
///
/// // 16 replications until the time 2,000; the first 200 do not count.
/// let study = Study::new(16, 2000.0, 200.0).seed(7).details(true);
/// assert_eq!((study.seed, study.level), (7, 0.95));
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Study {
    /// Names the random streams.
    pub seed: u64,
    /// Independent replications; `stopping`, if set, replaces it.
    pub replications: u32,
    /// The end of each replication.
    pub until: f64,
    /// The end of the warm-up, when statistics begin.
    pub warm_up: f64,
    /// The confidence level of intervals.
    pub level: f64,
    /// When there are enough replications: when all utilisations, numbers of customers and sojourn
    /// times reach its precision.
    pub stopping: Option<Stopping>,
    /// The most that may wait at a station, at most 65,536.
    pub room: u32,
    /// Whether to report distributions: quantiles of waits and sojourns, and the time with each
    /// number of customers. They take 3.7 KB of memory for each class at each node.
    pub details: bool,
}

impl Study {
    /// A number of replications until a time, with statistics after a warm-up, and intervals at the
    /// level 0.95.
    pub fn new(replications: u32, until: f64, warm_up: f64) -> Self {
        Self {
            seed: 1,
            replications,
            until,
            warm_up,
            level: 0.95,
            stopping: None,
            room: MOST_ROOM,
            details: false,
        }
    }
}

builder! {
    Study:
    seed: u64,
    replications: u32,
    until: f64,
    warm_up: f64,
    level: f64,
    stopping: impl Into<Option<Stopping>>,
    room: u32,
    details: bool,
}
