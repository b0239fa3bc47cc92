//! Saves and resumes runs.

// Browsers have no files, so nothing saves automatically there.
#[cfg(not(target_arch = "wasm32"))]
use std::path::Path;

use crate::gpu::Gpu;

use super::Simulation;
use crate::pdes::checkpoint::{CheckpointError, Contents, Identity, RunHeader};
#[cfg(not(target_arch = "wasm32"))]
use crate::pdes::checkpoint::{Checkpointed, reason};
#[cfg(doc)]
use crate::pdes::contract::error::Fault;
use crate::pdes::contract::error::SimulationError;
use crate::pdes::device::control::Control;
use crate::pdes::device::transfer;
use crate::pdes::{Checkpoint, Model, Options};

impl<M: Model> Simulation<M> {
    /// Resumes a run saved by any engine, on any device. `options` define speed and capacity; seed
    /// and replica come from the checkpoint.
    ///
    /// # Errors
    /// [`CheckpointError::Foreign`] for a checkpoint of another model; else as [`Simulation::new`].
    #[cfg(not(target_arch = "wasm32"))]
    pub fn resume(
        gpu: &Gpu,
        model: &M,
        options: Options,
        checkpoint: &Checkpoint,
    ) -> Result<Self, SimulationError> {
        pollster::block_on(Self::resume_async(gpu, model, options, checkpoint))
    }

    /// [`Simulation::resume`] without blocking.
    ///
    /// # Errors
    /// As [`Simulation::resume`].
    pub async fn resume_async(
        gpu: &Gpu,
        model: &M,
        options: Options,
        checkpoint: &Checkpoint,
    ) -> Result<Self, SimulationError> {
        checkpoint.check(&Identity::of(model))?;
        let options = options.seed(checkpoint.seed()).replica(checkpoint.replica());
        Self::begin(gpu, model, (0..model.lps(), None), options, Some(checkpoint)).await
    }

    /// The current state of the run, from which any engine can continue later: between two runs, or
    /// after windows that an application submitted.
    ///
    /// # Errors
    /// A [`Fault`] of the run, or a device error; [`CheckpointError::Part`].
    #[cfg(not(target_arch = "wasm32"))]
    pub fn checkpoint(&self) -> Result<Checkpoint, SimulationError> {
        pollster::block_on(self.checkpoint_async())
    }

    /// [`Simulation::checkpoint`] without blocking.
    ///
    /// # Errors
    /// As [`Simulation::checkpoint`].
    pub async fn checkpoint_async(&self) -> Result<Checkpoint, SimulationError> {
        if self.memory.run.rows != self.memory.run.total {
            return Err(CheckpointError::Part.into());
        }
        let contents = self.contents().await?;
        let Control { windows, events, .. } = self.memory.control_of(&self.gpu).await?;
        self.checkpoint_with((windows, events), &[contents], &[(0, self.memory.run.rows as usize)])
    }

    /// The contents of the LPs of this simulation: all, or those of a part.
    pub(super) async fn contents(&self) -> Result<Contents, SimulationError> {
        let (gpu, memory) = (&self.gpu, &self.memory);
        let lps = memory.lps();
        self.progress_async().await?;
        let exported = transfer::export(gpu, &self.recipes(self.strategy, &memory.cut), memory).await?;
        // The driver may have ended loops of the export.
        self.progress_async().await?;
        let (executed, digest) = memory.executed(gpu).await?;
        Ok(Contents::of(
            lps.clone(),
            &memory.states.read_range(gpu, 0, memory.states.len()).await?,
            &memory.lp_memory(gpu).await?,
            (&executed, digest),
            &exported.read(gpu, lps.start).await?,
        ))
    }

    /// Whether a checkpoint is of this run.
    #[cfg(not(target_arch = "wasm32"))]
    pub(crate) fn is_saved_in(&self, saved: &Checkpoint) -> Result<(), CheckpointError> {
        saved.check_run(&self.rebuild.identity, self.seed)
    }

    /// The checkpoint of a run from the contents of its parts, after this number of windows and
    /// events: [`Checkpoint::new`].
    pub(super) fn checkpoint_with(
        &self,
        (windows, events): (u64, u64),
        parts: &[Contents],
        order: &[(usize, usize)],
    ) -> Result<Checkpoint, SimulationError> {
        let reported = RunHeader {
            identity: &self.rebuild.identity,
            seed: self.seed.0,
            replica: self.seed.1,
            course: self.course(),
            windows,
            events,
        };
        Ok(Checkpoint::new(&reported, parts, order)?)
    }
}

#[cfg(not(target_arch = "wasm32"))]
impl<M: Model> Checkpointed for Simulation<M> {
    fn check_own(&self, saved: &Checkpoint) -> Result<(), CheckpointError> {
        self.is_saved_in(saved)
    }

    fn executed(&mut self) -> Result<u64, SimulationError> {
        Ok(self.progress()?.events)
    }

    fn save(&mut self, path: &Path) -> Result<Result<(), SimulationError>, SimulationError> {
        Ok(self.checkpoint()?.save(path).map_err(SimulationError::from))
    }

    fn reason(error: &SimulationError) -> Option<&CheckpointError> {
        reason(error)
    }
}
