//! How times of a description become ticks.

use crate::time::{Resolution, Ticks, TimeError};

/// The longest time of a description, in ticks, and the latest end of a run.
pub(super) const LONGEST: u64 = 1 << 62;

/// How times of a description become ticks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct TimeScale {
    pub(super) resolution: Resolution,
    /// The end of runs, in units, beyond which a time need not fit; infinite where it is not known.
    until: f64,
}

impl TimeScale {
    pub(super) fn new(resolution: Resolution, until: Option<f64>) -> Self {
        let fits = |until: &f64| resolution.ticks(*until).is_ok_and(|ticks| ticks.get() <= LONGEST);
        Self { resolution, until: until.filter(fits).unwrap_or(f64::INFINITY) }
    }

    /// The ticks of a time that runs do not reach: it has too many, and is longer than they are.
    pub(super) fn never(self, units: f64) -> Option<Ticks> {
        let too_many = matches!(self.resolution.ticks(units), Err(TimeError::BeyondHorizon { .. }));
        (too_many && units > self.until).then_some(Ticks::new(LONGEST))
    }
}
