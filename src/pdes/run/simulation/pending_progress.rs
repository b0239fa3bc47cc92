//! How far windows are that an application records, told without a wait.

use super::Simulation;
use crate::gpu::Download;
use crate::pdes::{Model, Progress, SimulationError};

/// What tells an application how far its windows are, some frames later:
/// [`Simulation::record_progress`].
#[derive(Debug)]
pub struct PendingProgress(Download);

impl<M: Model> Simulation<M> {
    /// Records into an application's own encoder what tells how far the windows before it came.
    /// Submit the encoder, and ask in each frame with [`Simulation::told`]; when that has answered,
    /// the next one may be recorded. (To wait instead: [`Simulation::progress`].) Where the encoder
    /// is never submitted, drop it too: nothing can be told then.
    ///
    /// # Errors
    /// The device's error.
    pub fn record_progress(
        &self,
        encoder: &mut wgpu::CommandEncoder,
    ) -> Result<PendingProgress, SimulationError> {
        Ok(PendingProgress(self.encode_progress(encoder)?))
    }

    /// What a submitted [`PendingProgress`] tells, or that it is not known yet: then ask again, in a later
    /// frame. Never waits.
    ///
    /// # Errors
    /// As [`Simulation::run`].
    pub fn poll(&self, pending: &mut PendingProgress) -> Result<Option<Progress>, SimulationError> {
        pending.0.poll(&self.gpu)?.map(|bytes| self.progress_from(&bytes)).transpose()
    }
}
