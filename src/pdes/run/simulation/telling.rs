//! How far windows are that an application records, told without a wait.

use super::Simulation;
use crate::gpu::Download;
use crate::pdes::{Model, Progress, SimulationError};

/// What tells an application how far its windows are, some frames later:
/// [`Simulation::record_telling`].
#[derive(Debug)]
pub struct Telling(Download);

impl<M: Model> Simulation<M> {
    /// Records into an application's own encoder what tells how far the windows before it came.
    /// Submit the encoder, and ask in each frame with [`Simulation::told`]; when that has answered,
    /// the next one may be recorded. (To wait instead: [`Simulation::progress`].) Where the encoder
    /// is never submitted, drop it too: nothing can be told then.
    ///
    /// # Errors
    /// The device's error.
    pub fn record_telling(&self, encoder: &mut wgpu::CommandEncoder) -> Result<Telling, SimulationError> {
        Ok(Telling(self.record_progress(encoder)?))
    }

    /// What a submitted [`Telling`] tells, or that it is not known yet: then ask again, in a later
    /// frame. Never waits.
    ///
    /// # Errors
    /// As [`Simulation::run`].
    pub fn told(&self, telling: &mut Telling) -> Result<Option<Progress>, SimulationError> {
        telling.0.poll(&self.gpu)?.map(|bytes| self.progress_from(&bytes)).transpose()
    }
}
