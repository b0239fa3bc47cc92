//! What is run of a network.

#[cfg(doc)]
use super::Facility;
use super::model::MOST_ROOM;
use crate::statistics::Stopping;

/// What is run of a network. Times are in its unit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Study {
    /// Names the random streams.
    pub seed: u64,
    /// Independent replications; where `stopping` is said, it says how many.
    pub replications: u32,
    /// The end of each.
    pub until: f64,
    /// Where statistics begin.
    pub warm_up: f64,
    /// The confidence level of intervals.
    pub level: f64,
    /// When there are enough replications: when all utilisations, numbers of customers and sojourn
    /// times are as precise as it says.
    pub stopping: Option<Stopping>,
    /// The most that may wait at a station, at most 65,536.
    pub room: u32,
    /// Whether distributions are told: quantiles of waits and sojourns, and the time with each
    /// number of customers ([`Facility::with_details`]).
    pub details: bool,
}

impl Study {
    /// So many replications until a time, whose statistics begin at another, with intervals at the
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
