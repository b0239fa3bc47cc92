//! Looks at whether a run keeps to what its trial said.

use std::time::Duration;

/// What some replications have done, of 64 at the most: [`Batch::drawn`](super::Batch::drawn).
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct DrawnSamples {
    pub(super) draws: f64,
    pub(super) running: usize,
}

impl DrawnSamples {
    /// Draws of a replication per second since `before`, over those that were running then.
    #[allow(clippy::cast_precision_loss, reason = "at most 64")]
    pub(super) fn speed(self, before: Self, elapsed: Duration) -> f64 {
        (self.draws - before.draws) / (before.running.max(1) as f64 * elapsed.as_secs_f64().max(1e-9))
    }
}

/// Looks now and then at whether a run is as fast as its trial said: after 4 slices, 16, 64 and so
/// on.
#[derive(Debug, Default)]
pub(super) struct SpeedCheck {
    /// What the trial said; none where there was none, and nothing is looked at.
    expected: Option<f64>,
    slices: u32,
    next: u32,
    elapsed: Duration,
    /// Where the replications stood at the last look; none where that is not known.
    before: Option<DrawnSamples>,
}

impl SpeedCheck {
    /// A run that is slower than `expected` by more than this is looked at again. Speeds change a
    /// little while replications go on, and by several times where the trial was wrong.
    const SLOWER: f64 = 3.0;

    pub(super) fn new(expected: Option<f64>, before: Option<DrawnSamples>) -> Self {
        Self { expected, next: 4, before, ..Self::default() }
    }

    /// Whether the next slice has to tell where the replications stand: at the looks, and where
    /// nobody knows.
    pub(super) fn due(&self) -> bool {
        self.expected.is_some() && (self.before.is_none() || self.slices + 1 >= self.next)
    }

    /// Takes in a slice, and where the replications stand now if it was [due](Self::due). Whether
    /// that is a disappointment.
    pub(super) fn took(&mut self, elapsed: Duration, drawn: Option<DrawnSamples>) -> bool {
        self.slices += 1;
        self.elapsed += elapsed;
        let Some(drawn) = drawn else { return false };
        let elapsed = std::mem::take(&mut self.elapsed);
        self.next = self.slices.saturating_mul(4).max(self.next);
        let Some((before, expected)) = self.before.replace(drawn).zip(self.expected) else { return false };
        // Where most have ended on the way, it says nothing of the others.
        2 * drawn.running > before.running && drawn.speed(before, elapsed) * Self::SLOWER < expected
    }
}
