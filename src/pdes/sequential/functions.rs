//! What the engines on the CPU call: the functions of a model, from its WGSL or in Rust.

use std::sync::Arc;

use crate::time::Ticks;

use crate::pdes::contract::error::FaultKind;
use crate::pdes::contract::event::{Event, LpEvent, Payload};
use crate::pdes::contract::model::Model;

/// Makes the functions of a model for a run.
pub(crate) type MakeFunctions<M> = Arc<dyn Fn(&M, RunConstants) -> Box<dyn Functions<M>> + Send + Sync>;

/// The constants of a run that a model sees.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RunConstants {
    /// The key of its random streams.
    pub(crate) seed: u64,
    pub(crate) replica: u32,
    pub(crate) lps: u32,
    pub(crate) lookahead: Ticks,
}

/// A call of a function of the model for an LP.
#[derive(Debug)]
pub(crate) struct Call<'c, P: Payload> {
    pub(crate) lp: u32,
    /// The number of the event at this LP; 0 while it is initialised.
    pub(crate) number: u64,
    pub(crate) now: Ticks,
    /// The rows of the LP.
    pub(crate) memory: &'c mut [[u32; 4]],
    /// Receives the events that the function schedules.
    pub(crate) sent: &'c mut Vec<LpEvent<P>>,
    /// Set by a function that fails.
    pub(crate) fault: Option<FaultKind>,
}

/// The functions of a model with their memory. States and outputs are one value each, or all their
/// [`Word`](crate::gpu::Word)s.
pub(crate) trait Functions<M: Model>: Send {
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
