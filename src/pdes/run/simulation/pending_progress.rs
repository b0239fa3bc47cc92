//! The progress of windows that an application records, without waiting.

use super::Simulation;
use crate::gpu::Download;
use crate::pdes::{Model, Progress, SimulationError};

/// A pending readback of the progress of an application's windows, available some frames later:
/// [`Simulation::record_progress`].
#[derive(Debug)]
pub struct PendingProgress(Download);

impl<M: Model> Simulation<M> {
    /// Records a readback of the progress after the preceding windows into an application's own
    /// encoder. Submit the encoder, and call [`Simulation::poll`] in each frame; record the next
    /// one when it has returned a progress. (To wait instead: [`Simulation::progress`].) If the
    /// encoder is never submitted, drop the [`PendingProgress`] too: its progress never arrives.
    ///
    /// # Errors
    /// A device error.
    pub fn record_progress(
        &self,
        encoder: &mut wgpu::CommandEncoder,
    ) -> Result<PendingProgress, SimulationError> {
        Ok(PendingProgress(self.encode_progress(encoder)?))
    }

    /// The progress of a submitted [`PendingProgress`], or `None` if it is not available yet: then
    /// call this again in a later frame. Never waits.
    ///
    /// # Errors
    /// As [`Simulation::run`].
    pub fn poll(&self, pending: &mut PendingProgress) -> Result<Option<Progress>, SimulationError> {
        pending.0.poll(&self.gpu)?.map(|bytes| self.progress_from(&bytes)).transpose()
    }
}
