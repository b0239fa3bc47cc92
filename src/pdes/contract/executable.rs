//! What the engines on the CPU call: the reference implementation of a model, or the model's WGSL.

use crate::gpu::is_words;
use crate::random::Stream;
use crate::time::Ticks;

use super::error::{FaultKind, SimulationError};
use super::event::{Event, Payload};
use super::model::{Context, CpuModel, Model};

/// A model that the engines on the CPU execute: one with a reference implementation in Rust
/// ([`CpuModel`]), or any model from its WGSL ([`NativeModel`](crate::pdes::NativeModel)).
///
/// Only the library implements it.
pub trait Executable: Model + Sized {
    /// The functions of the model with their memory, for one simulation.
    #[doc(hidden)]
    type Functions: Functions<Self>;

    /// The functions for a run with these constants.
    #[doc(hidden)]
    fn functions(&self, run: RunConstants) -> Result<Self::Functions, SimulationError>;
}

/// The constants of a run that a model sees.
#[derive(Debug, Clone, Copy)]
pub struct RunConstants {
    /// The key of its random streams.
    pub(crate) seed: u64,
    pub(crate) replica: u32,
    pub(crate) lps: u32,
    pub(crate) lookahead: Ticks,
}

/// A call of a function of the model for an LP.
#[derive(Debug)]
pub struct Call<'c, P: Payload> {
    pub(crate) lp: u32,
    /// The number of the event at this LP; 0 while it is initialised.
    pub(crate) number: u64,
    pub(crate) now: Ticks,
    /// The rows of the LP.
    pub(crate) memory: &'c mut [[u32; 4]],
    /// Receives the events that the function schedules.
    pub(crate) sent: &'c mut Vec<(u32, Event<P>)>,
    /// Set by a function that fails.
    pub(crate) fault: Option<FaultKind>,
}

/// The functions of a model. States and outputs are one value each, or all their
/// [`Word`](crate::gpu::Word)s.
pub trait Functions<M: Model> {
    /// The number of values of a state.
    fn state_values(&self) -> usize;

    /// WGSL: `init`.
    fn init(&mut self, model: &M, call: &mut Call<'_, M::Payload>, state: &mut [M::State]);

    /// WGSL: `handle`.
    fn handle(
        &mut self,
        model: &M,
        call: &mut Call<'_, M::Payload>,
        event: &Event<M::Payload>,
        state: &mut [M::State],
    );

    /// WGSL: `output`. Whatever it does to `call.memory` is ignored.
    fn output(
        &mut self,
        model: &M,
        call: &mut Call<'_, M::Payload>,
        state: &[M::State],
        output: &mut [M::Output],
    );
}

/// The functions of a reference implementation.
#[derive(Debug)]
pub struct ReferenceFunctions(RunConstants);

impl<M: CpuModel> Executable for M {
    type Functions = ReferenceFunctions;

    fn functions(&self, run: RunConstants) -> Result<ReferenceFunctions, SimulationError> {
        match is_words::<M::State>() || is_words::<M::Params>() || is_words::<M::Output>() {
            true => Err(SimulationError::NoReference { model: self.name().to_owned() }),
            false => Ok(ReferenceFunctions(run)),
        }
    }
}

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
