//! Checks whether a run is as fast as its trial.

use std::time::Duration;

/// The progress of at most 64 replications: [`Batch::drawn`](super::Batch::drawn).
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct DrawnSamples {
    pub(super) draws: f64,
    pub(super) running: usize,
}

impl DrawnSamples {
    /// Draws of a replication per second since `before`, averaged over those that were running
    /// then.
    #[allow(clippy::cast_precision_loss, reason = "at most 64")]
    pub(super) fn speed(self, before: Self, elapsed: Duration) -> f64 {
        (self.draws - before.draws) / (before.running.max(1) as f64 * elapsed.as_secs_f64().max(1e-9))
    }
}

/// Checks at intervals whether a run is as fast as its trial: after 4 slices, 16, 64 and so on.
#[derive(Debug, Default)]
pub(super) struct SpeedCheck {
    /// The speed in the trial; `None` without a trial, which disables the check.
    expected: Option<f64>,
    slices: u32,
    next: u32,
    elapsed: Duration,
    /// The progress at the last check; `None` if it is unknown.
    before: Option<DrawnSamples>,
}

impl SpeedCheck {
    /// A run that is slower than `expected` by more than this factor repeats its trial. Speeds
    /// change a little during a run, but by several times if the trial was wrong.
    const SLOWER: f64 = 3.0;

    pub(super) fn new(expected: Option<f64>, before: Option<DrawnSamples>) -> Self {
        Self { expected, next: 4, before, ..Self::default() }
    }

    /// Whether the next slice has to sample the progress: for a check, or if the progress is
    /// unknown.
    pub(super) fn due(&self) -> bool {
        self.expected.is_some() && (self.before.is_none() || self.slices + 1 >= self.next)
    }

    /// Records a slice, with the progress if it was [due](Self::due). Returns whether the run is
    /// too slow.
    pub(super) fn took(&mut self, elapsed: Duration, drawn: Option<DrawnSamples>) -> bool {
        self.slices += 1;
        self.elapsed += elapsed;
        let Some(drawn) = drawn else { return false };
        let elapsed = std::mem::take(&mut self.elapsed);
        self.next = self.slices.saturating_mul(4).max(self.next);
        let Some((before, expected)) = self.before.replace(drawn).zip(self.expected) else { return false };
        // If most replications have ended meanwhile, the speed says nothing about the others.
        2 * drawn.running > before.running && drawn.speed(before, elapsed) * Self::SLOWER < expected
    }
}
