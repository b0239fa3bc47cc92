//! The plan of a study.

#[cfg(doc)]
use super::Facility;
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
    /// number of customers ([`Facility::with_details`]).
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
    /// Sets [`Study::seed`].
    #[must_use]
    pub fn seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// Sets [`Study::replications`].
    #[must_use]
    pub fn replications(self, replications: u32) -> Self {
        Self { replications, ..self }
    }

    /// Sets [`Study::until`].
    #[must_use]
    pub fn until(self, until: f64) -> Self {
        Self { until, ..self }
    }

    /// Sets [`Study::warm_up`].
    #[must_use]
    pub fn warm_up(self, warm_up: f64) -> Self {
        Self { warm_up, ..self }
    }

    /// Sets [`Study::level`].
    #[must_use]
    pub fn level(self, level: f64) -> Self {
        Self { level, ..self }
    }

    /// Sets [`Study::stopping`].
    #[must_use]
    pub fn stopping(self, stopping: impl Into<Option<Stopping>>) -> Self {
        Self { stopping: stopping.into(), ..self }
    }

    /// Sets [`Study::room`].
    #[must_use]
    pub fn room(self, room: u32) -> Self {
        Self { room, ..self }
    }

    /// Sets [`Study::details`].
    #[must_use]
    pub fn details(self, details: bool) -> Self {
        Self { details, ..self }
    }
}
