//! Models of `pdes` on the host engine.

use std::sync::Arc;

use super::{Context, Digest, Entity};
use crate::pdes::{self, CpuModel, Event};

/// An LP of a model of [`pdes`]. Its reference implementation in Rust runs on all cores and ranks,
/// to the same fingerprint as the sequential engine and the GPU.
///
/// Without a lookahead this holds as long as no LP executes more than 128 events in a round, which
/// is the budget of the engine's windows.
///
/// Its runs are saved ([`Simulation::checkpoint`](super::Simulation::checkpoint)) and resumed
/// ([`Lp::resume`]) by any engine and any number of ranks.
pub struct Lp<M: CpuModel> {
    pub(super) model: Arc<M>,
    pub(super) state: M::State,
    pub(super) memory: Box<[[u32; 4]]>,
}

impl<M: CpuModel + Send + Sync + 'static> Lp<M>
where
    M::State: Send,
    M::Payload: super::Message,
{
    /// Creates a simulation of all LPs of a model, alone or as one rank of several.
    ///
    /// # Errors
    /// As [`Simulation::on`](super::Simulation::on).
    pub fn simulation(
        model: M,
        transport: Option<Box<dyn super::Transport>>,
        options: super::Options,
    ) -> Result<super::Simulation<Self>, super::HybridError> {
        let model = Arc::new(model);
        let transport = transport.unwrap_or_else(|| Box::new(super::transport::SingleRank));
        let rows = model.memory_rows() as usize;
        let make = |_| Self {
            model: Arc::clone(&model),
            state: bytemuck::Zeroable::zeroed(),
            memory: vec![[0; 4]; rows].into(),
        };
        let simulation = super::Simulation::on(transport, model.lps(), model.lookahead(), make, options)?;
        Ok(simulation.of(&*model))
    }

    fn call(
        &mut self,
        context: &mut Context<Self>,
        function: impl FnOnce(&M, &mut M::State, &mut pdes::Context<'_, M::Payload>),
    ) {
        let mut sent = Vec::new();
        let mut theirs = pdes::Context {
            stream: context.stream().clone(),
            lps: context.entities(),
            replica: context.replica(),
            lookahead: context.lookahead(),
            now: context.now(),
            sent: &mut sent,
            memory: &mut self.memory,
            memory_full: false,
        };
        function(&self.model, &mut self.state, &mut theirs);
        if theirs.memory_full {
            context.fail("its LP memory is full: give the model more rows");
        }
        for (to, event) in sent {
            context.send(to, event.time, event.payload);
        }
    }
}

impl<M: CpuModel + Send + Sync + 'static> Entity for Lp<M>
where
    M::State: Send,
    M::Payload: super::Message,
{
    type Message = M::Payload;

    fn start(&mut self, context: &mut Context<Self>) {
        let lp = context.name();
        self.call(context, |model, state, theirs| model.init(lp, state, theirs));
    }

    fn receive(&mut self, payload: M::Payload, context: &mut Context<Self>) {
        let (lp, event) = (context.name(), Event { time: context.now(), payload });
        self.call(context, |model, state, theirs| model.handle(lp, &event, state, theirs));
    }

    fn state(&self, digest: &mut Digest) {
        let bytes = bytemuck::bytes_of(&self.state);
        digest.words(bytes.chunks_exact(4).map(bytemuck::pod_read_unaligned));
    }

    fn rows(&self, name: u32) -> u64 {
        let mut fingerprint = pdes::Fingerprint::default();
        fingerprint.memory(name, &self.memory);
        fingerprint.0
    }
}

impl<M: CpuModel> std::fmt::Debug for Lp<M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Lp").field("model", &self.model.name()).finish_non_exhaustive()
    }
}
