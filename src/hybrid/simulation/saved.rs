//! Models of `pdes` on the host engine: saved and resumed. (Other entities are not supported,
//! because the state of an async process cannot be saved.)

use std::path::Path;

use super::{Options, Part, Simulation, agreed};
use crate::hybrid::lp::Compiled;
use crate::hybrid::transport::SingleRank;
use crate::hybrid::{HybridError, Lp, Message, Transport, saved};
#[cfg(doc)]
use crate::pdes::CpuSimulation;
use crate::pdes::checkpoint::{Checkpointed, Contents, Identity, RunHeader};
use crate::pdes::{Autosave, Checkpoint, CheckpointError, Event, Model, Progress, SimulationError};

impl<M: Model + Send + Sync + 'static> Lp<M>
where
    M::State: Send,
    M::Payload: Message,
{
    /// Resumes a run saved by any engine, alone or as one rank of several, which must all have the
    /// same checkpoint. Seed and replica come from the checkpoint.
    ///
    /// # Errors
    /// [`CheckpointError::Foreign`] for a checkpoint of another model; else as [`Simulation::on`].
    pub fn resume(
        model: M,
        transport: Option<Box<dyn Transport>>,
        options: Options,
        checkpoint: &Checkpoint,
    ) -> Result<Simulation<Self>, HybridError> {
        let mut transport = transport.unwrap_or_else(|| Box::new(SingleRank));
        saved::known(&mut *transport, &model, checkpoint)?;
        let options = options.seed(checkpoint.seed()).replica(checkpoint.replica());
        let compiled = agreed(&mut *transport, Compiled::new(model))?;
        let (model, all) = (&compiled.model, checkpoint.lps());
        let (states, memory) = (checkpoint.states::<M::State>(&all), checkpoint.memory(&all));
        let (values, rows) = (compiled.values, model.memory_rows() as usize);
        let make = |name: u32| {
            let name = name as usize;
            compiled.lp(&states[name * values..][..values], &memory[name * rows..][..rows])
        };
        let mut simulation = Simulation::begin(transport, model.lps(), model.lookahead(), make, options)?;
        let put = simulation.put(checkpoint);
        agreed(&mut *simulation.transport, put)?;
        Ok(simulation.of(model))
    }
}

impl<M: Model + Send + Sync + 'static> Simulation<Lp<M>>
where
    M::State: Send,
    M::Payload: Message,
{
    /// The current state of the run, from which any engine and any number of ranks can continue
    /// later. All ranks must call this; the first one gets it, and needs memory for the contents of
    /// all. It has the same bytes as [`CpuSimulation::checkpoint`] at that time, except the count
    /// of windows.
    ///
    /// # Errors
    /// [`HybridError::Over`] after a run that failed; errors of [`Transport`] about ranks that are
    /// gone.
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
        let own = Ok(self.contents());
        let events = self.sum(self.events)?;
        let parts = saved::gathered(&mut *self.transport, own)?;
        let (Some(parts), Some(identity)) = (parts, &self.identity) else { return Ok(Ok(None)) };
        let reported = RunHeader {
            identity,
            seed: self.seed.0,
            replica: self.seed.1,
            course: self.course,
            windows: self.windows,
            events,
        };
        let order: Vec<_> = self.shared.addresses.iter().map(|address| (address.rank as usize, 1)).collect();
        let made = Checkpoint::new(&reported, &parts, &order).map_err(SimulationError::from);
        Ok(made.map(Some).map_err(HybridError::from))
    }

    /// The same simulation, marked as one of this model.
    pub(in crate::hybrid) fn of(self, model: &M) -> Self {
        Self { identity: Some(Identity::of(model)), ..self }
    }

    /// The contents of this rank's LPs, by name.
    fn contents(&self) -> Contents {
        let mut rows: Vec<_> = self.parts.iter().flat_map(Part::rows).collect();
        rows.sort_unstable_by_key(|&(name, ..)| name);
        let mut pending: Vec<_> = self
            .parts
            .iter()
            .flat_map(Part::messages)
            .map(|(name, time, &payload)| (name, Event { time, payload }))
            .collect();
        pending.sort_unstable();
        let names = rows.iter().map(|&(name, ..)| name);
        let states: Vec<_> = rows.iter().flat_map(|(_, lp, _)| lp.state.iter().copied()).collect();
        let memory: Vec<_> = rows.iter().flat_map(|(_, lp, _)| lp.memory.iter().copied()).collect();
        let executed: Vec<_> = rows.iter().map(|&(.., executed)| executed).collect();
        let digest = self.parts.iter().map(Part::digest).fold(0, u64::wrapping_add);
        Contents::of(names, &states, &memory, (&executed, digest), &pending)
    }

    /// Loads this rank's LPs from a checkpoint. Sums over all LPs count for the first rank.
    fn put(&mut self, checkpoint: &Checkpoint) -> Result<(), HybridError> {
        let (all, Progress { events, windows, .. }) = (checkpoint.lps(), checkpoint.progress());
        let mut pending = checkpoint.events::<M::Payload>(all.clone());
        let counts = checkpoint.executed(all.clone()).zip(checkpoint.held(all));
        for (address, (executed, held)) in self.shared.addresses.iter().zip(counts) {
            let theirs = pending.by_ref().take(held as usize).map(|event| (event.time, event.payload));
            match address.rank == self.shared.rank {
                true => self.parts[address.part as usize].put(address.slot, executed, theirs)?,
                false => theirs.for_each(drop),
            }
        }
        if self.shared.rank == 0 {
            self.parts[0].put_sums(events, checkpoint.digest());
            self.events = events;
        }
        (self.windows, self.course) = (windows, checkpoint.course());
        Ok(())
    }
}

impl<M: Model + Send + Sync + 'static> Checkpointed for Simulation<Lp<M>>
where
    M::State: Send,
    M::Payload: Message,
{
    fn check_own(&self, saved: &Checkpoint) -> Result<(), CheckpointError> {
        let own = |identity| saved.check_run(identity, self.seed);
        self.identity.as_ref().map_or(Ok(()), own)
    }

    fn executed(&mut self) -> Result<u64, HybridError> {
        if self.over {
            return Err(HybridError::Over);
        }
        self.sum(self.events)
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
