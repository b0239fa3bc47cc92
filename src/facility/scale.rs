//! Conversion of times of a description into ticks.

use crate::time::{Resolution, Ticks, TimeError};

/// The longest time of a description, in ticks, and the latest end of a run.
pub(super) const LONGEST: u64 = 1 << 62;

/// Converts times of a description into ticks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct TimeScale {
    pub(super) resolution: Resolution,
    /// The end of runs, in units; longer times need not fit into ticks. Infinite if it is unknown.
    until: f64,
}

impl TimeScale {
    pub(super) fn new(resolution: Resolution, until: Option<f64>) -> Self {
        let fits = |until: &f64| resolution.ticks(*until).is_ok_and(|ticks| ticks.get() <= LONGEST);
        Self { resolution, until: until.filter(fits).unwrap_or(f64::INFINITY) }
    }

    /// The ticks of a time that does not fit into ticks, if it is longer than runs.
    pub(super) fn never(self, units: f64) -> Option<Ticks> {
        let too_many = matches!(self.resolution.ticks(units), Err(TimeError::BeyondHorizon { .. }));
        (too_many && units > self.until).then_some(Ticks::new(LONGEST))
    }
}
