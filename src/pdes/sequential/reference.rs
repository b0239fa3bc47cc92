//! The functions of models in Rust.

use std::sync::Arc;

use super::functions::{Call, Functions, MakeFunctions, RunConstants};
use crate::gpu::is_words;
use crate::pdes::contract::error::{FaultKind, SimulationError};
use crate::pdes::contract::event::{Event, Payload};
use crate::pdes::contract::model::{Context, CpuModel};
use crate::random::Stream;

/// The functions of a model in Rust.
///
/// # Errors
/// [`SimulationError::NoReference`] for a model that is loaded at run time.
pub(in crate::pdes) fn functions<M: CpuModel>(model: &M) -> Result<MakeFunctions<M>, SimulationError> {
    match is_words::<M::State>() || is_words::<M::Params>() || is_words::<M::Output>() {
        true => Err(SimulationError::NoReference { model: model.name().to_owned() }),
        false => Ok(Arc::new(|_, run| Box::new(ReferenceFunctions(run)))),
    }
}

/// The functions of a reference implementation.
struct ReferenceFunctions(RunConstants);

impl ReferenceFunctions {
    fn call<P: Payload, R>(
        &self,
        call: &mut Call<'_, P>,
        function: impl FnOnce(&mut Context<'_, P>) -> R,
    ) -> R {
        let RunConstants { seed, replica, lps, lookahead } = self.0;
        let mut context = Context {
            stream: Stream::new(seed, call.lp, call.number),
            lps,
            replica,
            lookahead,
            now: call.now,
            sent: call.sent,
            memory: call.memory,
            memory_full: false,
        };
        let result = function(&mut context);
        if context.memory_full {
            call.fault = Some(FaultKind::MemoryFull);
        }
        result
    }
}

impl<M: CpuModel> Functions<M> for ReferenceFunctions {
    fn state_values(&self) -> usize {
        1
    }

    fn init(&mut self, model: &M, call: &mut Call<'_, M::Payload>, state: &mut [M::State]) {
        let lp = call.lp;
        self.call(call, |context| model.init(lp, &mut state[0], context));
    }

    fn handle(
        &mut self,
        model: &M,
        call: &mut Call<'_, M::Payload>,
        event: &Event<M::Payload>,
        state: &mut [M::State],
    ) {
        let lp = call.lp;
        self.call(call, |context| model.handle(lp, event, &mut state[0], context));
    }

    fn output(
        &mut self,
        model: &M,
        call: &mut Call<'_, M::Payload>,
        state: &[M::State],
        output: &mut [M::Output],
    ) {
        let (lp, kept) = (call.lp, call.memory.to_vec());
        let drawn = self.call(call, |context| {
            output[0] = model.output(lp, &state[0], context);
            context.stream.position()
        });
        assert!(
            drawn == 0 && call.sent.is_empty() && *call.memory == *kept || call.fault.is_some(),
            "`CpuModel::output` must not schedule, draw, or write LP memory: it did, at LP {lp}"
        );
    }
}
