//! Runs on parts that are saved, and gone on with by any number of parts.

use std::path::Path;

use super::{GpuPart, agreed};
use crate::gpu::Gpu;
use crate::hybrid::{HybridError, Transport, saved};
use crate::pdes::checkpoint::Checkpointed;
use crate::pdes::part::range;
use crate::pdes::{Autosave, Checkpoint, CheckpointError, Model, Options};

impl<M: Model> GpuPart<M> {
    /// Goes on where a run was saved, by whichever engine and any number of parts: this rank's part
    /// of it. All ranks are given the same checkpoint. What `options` say of speed and capacity
    /// holds; seed and replica are the checkpoint's.
    ///
    /// # Errors
    /// [`CheckpointError::Foreign`] for another model's; as [`GpuPart::on`].
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

    /// The run as it is between two runs, to go on from there later, on whichever engine and any
    /// number of parts: all ranks ask for it, and the first one has it. For that it holds in its
    /// memory what all parts do, and the file.
    ///
    /// # Errors
    /// [`HybridError::Over`] after a run that failed; the device's error, on all ranks, as of
    /// [`GpuPart::run`]; what [`Transport`] says of ranks that are gone.
    pub fn checkpoint(&mut self) -> Result<Option<Checkpoint>, HybridError> {
        let made = self.gathered()?;
        agreed(&mut *self.transport, made)
    }

    /// What the first rank makes of what all hold. The others do not know yet whether it could.
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
