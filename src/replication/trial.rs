//! How fast mappings are: trials of them, and looks at whether a run keeps to what its trial said.

use std::time::Duration;

use bytemuck::Pod;

use super::ReplicationError;
use super::batch::Batch;
use crate::gpu::{Gpu, Pace, SLICE};

/// A trial of a mapping takes the median of so many slices; a guess at how many it takes for other work on the machine not to count.
const LOOKS: usize = 5;

/// A trial ends after so many slices, whatever was seen. [`Pace`] grows by a factor of 8 at the most, so that 11 are enough for any number of steps to be
/// reached.
pub(super) const SLICES: u32 = 18;

/// What some replications have done, of 64 at the most: [`Batch::drawn`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Drawn {
    pub(super) draws: f64,
    pub(super) running: usize,
}

impl Drawn {
    /// Draws of a replication per second since `before`, over those that were running then.
    #[allow(clippy::cast_precision_loss, reason = "at most 64")]
    fn speed(self, before: Self, elapsed: Duration) -> f64 {
        (self.draws - before.draws) / (before.running.max(1) as f64 * elapsed.as_secs_f64().max(1e-9))
    }
}

/// Looks now and then at whether a run is as fast as its trial said: after 4 slices, 16, 64 and so on.
#[derive(Debug, Default)]
pub(super) struct Look {
    /// What the trial said; none where there was none, and nothing is looked at.
    expected: Option<f64>,
    slices: u32,
    next: u32,
    elapsed: Duration,
    /// Where the replications stood at the last look; none where that is not known.
    before: Option<Drawn>,
}

impl Look {
    /// A run that is slower than `expected` by more than this is looked at again. Speeds change a little while replications go on, and by several
    /// times where the trial was wrong.
    const SLOWER: f64 = 3.0;

    pub(super) fn new(expected: Option<f64>, before: Option<Drawn>) -> Self {
        Self { expected, next: 4, before, ..Self::default() }
    }

    /// Whether the next slice has to tell where the replications stand: at the looks, and where nobody knows.
    pub(super) fn due(&self) -> bool {
        self.expected.is_some() && (self.before.is_none() || self.slices + 1 >= self.next)
    }

    /// Takes in a slice, and where the replications stand now if it was [due](Self::due). Whether that is a disappointment.
    pub(super) fn took(&mut self, elapsed: Duration, drawn: Option<Drawn>) -> bool {
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

/// A mapping on trial: replications of their own, a slice at a time.
#[derive(Debug)]
pub(super) struct Trial<O> {
    batch: Batch<O>,
    pub(super) pace: Pace,
    /// Where the replications stood after the last slice; none at their beginning.
    stood: Option<Drawn>,
    /// Whether slices are as long as they should be.
    warm: bool,
    /// Draws of a replication per second, by slice.
    speeds: Vec<f64>,
}

impl<O: Pod> Trial<O> {
    pub(super) fn new(batch: Batch<O>, pace: Pace) -> Self {
        Self { batch, pace, stood: None, warm: false, speeds: Vec::new() }
    }

    pub(super) fn jobs(&self) -> u32 {
        self.batch.len()
    }

    /// Whether it was seen often enough.
    pub(super) fn seen(&self) -> bool {
        self.speeds.len() >= LOOKS
    }

    /// A slice more. Short ones, in which the submission itself counts, are not measured: they grow, until they take a quarter of what slices should or the
    /// replications end in one.
    pub(super) async fn slice(&mut self, gpu: &Gpu) -> Result<(), ReplicationError> {
        let steps = self.pace.units();
        let before = match self.stood {
            Some(before) => before,
            None => {
                self.batch.begin_again();
                self.batch.fresh()
            }
        };
        let flying = self.batch.submit(gpu, steps, true, false)?;
        let (told, _) = flying.land(gpu, |_| ()).await?;
        let elapsed = told.elapsed;
        if told.running > 0 {
            self.pace.record(steps, elapsed);
        }
        if told.cut {
            let _ = self.pace.halve(steps);
            self.stood = None;
            return Ok(());
        }
        let drawn = self.batch.drawn(&told.sample);
        let ended = told.running == 0;
        if self.warm || ended {
            self.speeds.push(drawn.speed(before, elapsed));
        }
        self.warm |= elapsed > SLICE / 4;
        self.stood = (!ended && drawn.running > 0).then_some(drawn);
        Ok(())
    }

    /// The median of what was seen; 0 where nothing was.
    pub(super) fn speed(&self) -> f64 {
        let mut speeds = self.speeds.clone();
        speeds.sort_unstable_by(f64::total_cmp);
        speeds.get(speeds.len() / 2).copied().unwrap_or(0.0)
    }
}
