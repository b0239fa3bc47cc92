//! Cuts long work into submissions of some tens of milliseconds.
//!
//! Drivers kill a job after about two seconds and take the device with it. A submission costs some
//! hundred microseconds. Slices lie between the two; their size follows from the duration of the
//! last ones.

use std::ops::ControlFlow;
use std::time::Duration;

/// The intended duration of a submission.
pub const SLICE: Duration = Duration::from_millis(30);

/// The answer of a run's watcher to each progress report: `()` continues, and a [`ControlFlow`] may
/// stop the run.
///
/// A stopped run ends at its next boundary (a window, a replication, a page), with the results so
/// far.
pub trait Verdict {
    /// Whether to continue.
    fn flow(self) -> ControlFlow<()>;
}

impl Verdict for () {
    fn flow(self) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

impl Verdict for ControlFlow<()> {
    fn flow(self) -> ControlFlow<()> {
        self
    }
}

/// Chooses how many units of work (windows, steps, pages) go into the next submission.
#[derive(Debug, Clone)]
pub struct Pace {
    units: u32,
    max: u32,
}

impl Pace {
    /// Starts with one unit, because the device's speed is unknown, and never exceeds `max`.
    pub fn new(max: u32) -> Self {
        Self { units: 1, max: max.max(1) }
    }

    /// Units for the next submission.
    pub fn units(&self) -> u32 {
        self.units
    }

    /// Records that a submission of `units` units took `elapsed`.
    ///
    /// Grows by a factor of at most 8, so that one lucky measurement cannot make the next
    /// submission long; shrinks at once.
    pub fn record(&mut self, units: u32, elapsed: Duration) {
        let fitting = f64::from(units.max(1)) * SLICE.as_secs_f64() / elapsed.as_secs_f64().max(1e-6);
        let cap = f64::from(self.max).min(8.0 * f64::from(units.max(1)));
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "the value lies between 1 and a u32"
        )]
        let next = fitting.clamp(1.0, cap) as u32;
        self.units = next;
    }

    /// The same for work whose units take up to `factor` times as long.
    #[must_use]
    pub(crate) fn slower(self, factor: u32) -> Self {
        Self { units: (self.units / factor.max(1)).max(1), ..self }
    }

    /// Records that the driver failed a submission of `units` units. The limit becomes half as
    /// many. False if it was one unit.
    #[must_use]
    pub(crate) fn halve(&mut self, units: u32) -> bool {
        self.max = (units / 2).max(1);
        self.units = self.units.min(self.max);
        units > 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_settles_near_the_target() {
        let mut pace = Pace::new(100_000);
        let unit = Duration::from_micros(10);
        for _ in 0..12 {
            pace.record(pace.units(), unit * pace.units());
        }
        let took = unit * pace.units();
        assert!(took > SLICE / 2 && took < SLICE * 2, "{took:?}");
    }

    #[test]
    fn it_shrinks_at_once_and_never_to_zero() {
        let mut pace = Pace::new(1000);
        pace.record(1000, Duration::from_millis(1));
        pace.record(pace.units(), Duration::from_secs(100));
        assert_eq!(pace.units(), 1);
    }

    #[test]
    fn what_the_driver_did_not_stand_is_halved_for_good() {
        let mut pace = Pace::new(1000);
        for _ in 0..10 {
            pace.record(pace.units(), Duration::ZERO);
        }
        assert!(pace.halve(pace.units()));
        pace.record(pace.units(), Duration::ZERO);
        assert_eq!(pace.units(), 500);
        assert!(pace.halve(2));
        assert!(!pace.halve(pace.units()));
        assert_eq!(pace.units(), 1);
    }

    #[test]
    fn slower_work_begins_with_fewer_units() {
        let mut pace = Pace::new(1000);
        pace.record(10, Duration::ZERO);
        assert_eq!(pace.clone().slower(3).units(), 26);
        assert_eq!(pace.slower(u32::MAX).units(), 1);
    }

    #[test]
    fn it_keeps_to_its_maximum() {
        let mut pace = Pace::new(7);
        for _ in 0..10 {
            pace.record(pace.units(), Duration::ZERO);
        }
        assert_eq!(pace.units(), 7);
    }
}
