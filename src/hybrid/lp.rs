//! Models of `pdes` on the host engine.

use std::sync::Arc;

use super::{Context, Digest, Entity, HybridError, Options};
use crate::pdes::{self, Call, Event, Functions, LpEvent, MakeFunctions, Model, RunConstants};

/// An LP of a model of [`pdes`]. Its WGSL runs on all cores and ranks, as
/// [`CpuSimulation`](crate::pdes::CpuSimulation) runs it, to the same fingerprint as there and on
/// the GPU.
///
/// Without a lookahead this holds as long as no LP executes more than 128 events in a round, which
/// is the budget of the engine's windows.
///
/// Its runs are saved ([`Simulation::checkpoint`](super::Simulation::checkpoint)) and resumed
/// ([`Lp::resume`]) by any engine and any number of ranks.
pub struct Lp<M: Model> {
    model: Arc<Compiled<M>>,
    /// One value, or all its [`Word`](crate::gpu::Word)s.
    pub(super) state: Box<[M::State]>,
    pub(super) memory: Box<[[u32; 4]]>,
}

/// A model and its functions.
pub(super) struct Compiled<M: Model> {
    pub(super) model: M,
    functions: MakeFunctions<M>,
    /// The number of values of a state.
    pub(super) values: usize,
}

impl<M: Model> Compiled<M> {
    pub(super) fn new(model: M) -> Result<Arc<Self>, HybridError> {
        let functions = pdes::functions_of(&model)?;
        let run = RunConstants { seed: 0, replica: 0, lps: model.lps(), lookahead: model.lookahead() };
        let values = functions(&model, run).state_values();
        Ok(Arc::new(Self { model, functions, values }))
    }

    /// The LP with these values and rows.
    pub(super) fn lp(self: &Arc<Self>, state: &[M::State], memory: &[[u32; 4]]) -> Lp<M> {
        Lp { model: Arc::clone(self), state: state.into(), memory: memory.into() }
    }
}

impl<M: Model + Send + Sync + 'static> Lp<M>
where
    M::State: Send,
    M::Payload: super::Message,
{
    /// Creates a simulation of all LPs of a model, alone or as one rank of several.
    ///
    /// # Errors
    /// As [`Simulation::on`](super::Simulation::on); an error of the model's WGSL.
    pub fn simulation(
        model: M,
        transport: Option<Box<dyn super::Transport>>,
        options: Options,
    ) -> Result<super::Simulation<Self>, HybridError> {
        let mut transport = transport.unwrap_or_else(|| Box::new(super::transport::SingleRank));
        let compiled = super::simulation::agreed(&mut *transport, Compiled::new(model))?;
        let model = &compiled.model;
        let memory = vec![[0; 4]; model.memory_rows() as usize];
        let state = vec![bytemuck::Zeroable::zeroed(); compiled.values];
        let make = |_| compiled.lp(&state, &memory);
        let simulation = super::Simulation::on(transport, model.lps(), model.lookahead(), make, options)?;
        Ok(simulation.of(model))
    }

    fn call(
        &mut self,
        context: &mut Context<Self>,
        function: impl FnOnce(&mut dyn Functions<M>, &M, &mut Call<'_, M::Payload>, &mut [M::State]),
    ) {
        let Compiled { model, functions, .. } = &*self.model;
        // The functions of the LP's partition, with the memory of their code.
        let known =
            context.scratch.take().and_then(|scratch| scratch.downcast::<Box<dyn Functions<M>>>().ok());
        let mut functions = known.unwrap_or_else(|| {
            let run = RunConstants {
                seed: context.seed,
                replica: context.replica(),
                lps: context.entities(),
                lookahead: context.lookahead(),
            };
            Box::new(functions(model, run))
        });
        let mut sent = Vec::new();
        let mut call = Call {
            lp: context.name(),
            number: context.number,
            now: context.now(),
            memory: &mut self.memory,
            sent: &mut sent,
            fault: None,
        };
        function(&mut **functions, model, &mut call, &mut self.state);
        if let Some(kind) = call.fault {
            context.fail(kind.to_string());
        }
        context.scratch = Some(functions);
        for LpEvent { lp: to, event } in sent {
            context.send(to, event.time, event.payload);
        }
    }
}

impl<M: Model + Send + Sync + 'static> Entity for Lp<M>
where
    M::State: Send,
    M::Payload: super::Message,
{
    type Message = M::Payload;

    fn start(&mut self, context: &mut Context<Self>) {
        self.call(context, |functions, model, call, state| functions.init(model, call, state));
    }

    fn receive(&mut self, payload: M::Payload, context: &mut Context<Self>) {
        let event = Event { time: context.now(), payload };
        self.call(context, |functions, model, call, state| functions.handle(model, call, &event, state));
    }

    fn state(&self, digest: &mut Digest) {
        let bytes = bytemuck::cast_slice::<_, u8>(&self.state);
        digest.words(bytes.chunks_exact(4).map(bytemuck::pod_read_unaligned));
    }

    fn rows(&self, name: u32) -> u64 {
        let mut fingerprint = pdes::Fingerprint::default();
        fingerprint.memory(name, &self.memory);
        fingerprint.0
    }
}

impl<M: Model> std::fmt::Debug for Lp<M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Lp").field("model", &self.model.model.name()).finish_non_exhaustive()
    }
}
