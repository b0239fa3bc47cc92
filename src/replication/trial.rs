//! Trials that measure the speed of mappings.

use bytemuck::Pod;

use super::ReplicationError;
use super::batch::Batch;
use super::speed_check::DrawnSamples;
use crate::gpu::{Gpu, Pace, SLICE};

/// A mapping on trial, with replications of its own, one slice at a time.
#[derive(Debug)]
pub(super) struct Trial<O> {
    batch: Batch<O>,
    pub(super) pace: Pace,
    /// The progress after the last slice; `None` at the beginning.
    before: Option<DrawnSamples>,
    /// Whether slices have their full length.
    warm: bool,
}

impl<O: Pod> Trial<O> {
    pub(super) fn new(batch: Batch<O>, pace: Pace) -> Self {
        Self { batch, pace, before: None, warm: false }
    }

    pub(super) fn jobs(&self) -> u32 {
        self.batch.len()
    }

    /// Runs one more slice: draws of a replication per second. Short slices, dominated by the
    /// submission, are not measured: they grow until they take a quarter of the target time or the
    /// replications end in one.
    pub(super) async fn slice(&mut self, gpu: &Gpu) -> Result<Option<f64>, ReplicationError> {
        let steps = self.pace.units();
        let before = match self.before {
            Some(before) => before,
            None => {
                self.batch.begin_again();
                self.batch.fresh()
            }
        };
        let flying = self.batch.submit(gpu, steps, true, false)?;
        let (reported, _) = flying.land(gpu, |_| ()).await?;
        let elapsed = reported.elapsed;
        if reported.running > 0 {
            self.pace.record(steps, elapsed);
        }
        if reported.cut {
            let _ = self.pace.halve(steps);
            self.before = None;
            return Ok(None);
        }
        let drawn = self.batch.drawn(&reported.sample);
        let ended = reported.running == 0;
        let speed = (self.warm || ended).then(|| drawn.speed(before, elapsed));
        self.warm |= elapsed > SLICE / 4;
        self.before = (!ended && drawn.running > 0).then_some(drawn);
        Ok(speed)
    }
}
