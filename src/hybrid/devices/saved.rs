//! Runs on parts: saved, and resumed by any number of parts.

use std::path::Path;

use super::{GpuPart, agreed};
use crate::gpu::Gpu;
use crate::hybrid::{HybridError, Transport, saved};
use crate::pdes::checkpoint::Checkpointed;
use crate::pdes::part::range;
use crate::pdes::{Autosave, Checkpoint, CheckpointError, Model, Options};

impl<M: Model> GpuPart<M> {
    /// Resumes a run saved by any engine and any number of parts: this rank's part. All ranks must
    /// have the same checkpoint. `options` define speed and capacity; seed and replica come from
    /// the checkpoint.
    ///
    /// # Errors
    /// [`CheckpointError::Foreign`] for a checkpoint of another model; else as [`GpuPart::on`].
    pub fn resume(
        mut transport: Box<dyn Transport>,
        gpu: &Gpu,
        model: &M,
        options: Options,
        checkpoint: &Checkpoint,
    ) -> Result<Self, HybridError> {
        saved::known(&mut *transport, model, checkpoint)?;
        let options = options.seed(checkpoint.seed()).replica(checkpoint.replica());
        Self::begin(transport, gpu, model, options, Some(checkpoint))
    }

    /// The state of the run between two runs, from which any engine and any number of parts can
    /// continue later. All ranks must call this, and the first one gets it. It needs memory for the
    /// contents of all parts, and for the file.
    ///
    /// # Errors
    /// [`HybridError::Over`] after a run that failed; a device error, on all ranks, as from
    /// [`GpuPart::run`]; errors of [`Transport`] about ranks that are gone.
    pub fn checkpoint(&mut self) -> Result<Option<Checkpoint>, HybridError> {
        let made = self.gathered()?;
        agreed(&mut *self.transport, made)
    }

    /// The first rank's checkpoint of all contents. The others do not know yet whether it
    /// succeeded.
    fn gathered(&mut self) -> Result<Result<Option<Checkpoint>, HybridError>, HybridError> {
        if self.over {
            return Err(HybridError::Over);
        }
        let own = self.part.contents().map_err(HybridError::from);
        let Some(parts) = saved::gathered(&mut *self.transport, own)? else { return Ok(Ok(None)) };
        let ranks = self.transport.ranks();
        let lps = |own| range(self.part.lps(), (own, ranks)).len();
        let order: Vec<_> = (0..ranks).map(|own| (own as usize, lps(own))).collect();
        let made = self.part.checkpoint(&self.progress(), &parts, &order);
        Ok(made.map(Some).map_err(HybridError::from))
    }
}

impl<M: Model> Checkpointed for GpuPart<M> {
    fn check_own(&self, saved: &Checkpoint) -> Result<(), CheckpointError> {
        self.part.simulation().is_saved_in(saved)
    }

    fn executed(&mut self) -> Result<u64, HybridError> {
        Ok(self.progress().events)
    }

    fn may_save(&mut self, autosave: &Autosave<'_>) -> Result<(), HybridError> {
        let events = self.executed()?;
        // The first rank writes.
        let found = if self.transport.rank() == 0 { self.claim(autosave, events) } else { Ok(()) };
        saved::writable(&mut *self.transport, found)
    }

    fn save(&mut self, path: &Path) -> Result<Result<(), HybridError>, HybridError> {
        let made = self.gathered()?;
        saved::written(&mut *self.transport, made, path)
    }

    fn reason(error: &HybridError) -> Option<&CheckpointError> {
        saved::reason(error)
    }

    fn stopped(&mut self, here: bool) -> Result<bool, HybridError> {
        saved::stopped(&mut *self.transport, here)
    }
}
