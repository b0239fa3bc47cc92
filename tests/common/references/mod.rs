//! The models that ship in Rust: the same behaviour as their WGSL, written independently.

#![allow(unreachable_pub, reason = "tests and benchmarks include this module")]

mod call_centre;
mod epidemic;
mod fifo_torus;
mod mm1;
mod mmck;
mod phold;
mod pi;
mod priorities;
mod torus;
mod walk;
mod workshop;

use std::borrow::Cow;

use eventhorizon::gpu::Source;
use eventhorizon::pdes::{Capacity, Model, Totals};
use eventhorizon::replication;
use eventhorizon::statistics::{AnalysisError, Observations};
use eventhorizon::time::Ticks;

/// A model that ships, with its implementation in Rust: a [`CpuModel`](eventhorizon::pdes::CpuModel)
/// or a [`ReferenceModel`](replication::ReferenceModel).
#[derive(Debug, Clone, Copy)]
pub struct Reference<M>(pub M);

impl<M: Model> Model for Reference<M> {
    type State = M::State;
    type Params = M::Params;
    type Payload = M::Payload;
    type Output = M::Output;

    fn name(&self) -> &str {
        self.0.name()
    }

    fn source(&self) -> Source {
        self.0.source()
    }

    fn lps(&self) -> u32 {
        self.0.lps()
    }

    fn lookahead(&self) -> Ticks {
        self.0.lookahead()
    }

    fn params(&self) -> M::Params {
        self.0.params()
    }

    fn data(&self) -> &[u32] {
        self.0.data()
    }

    fn memory_rows(&self) -> u32 {
        self.0.memory_rows()
    }

    fn capacity(&self) -> Capacity {
        self.0.capacity()
    }

    fn events_held(&self) -> Option<u32> {
        self.0.events_held()
    }

    fn measures(&self, totals: &Totals) -> Vec<(Cow<'static, str>, f64)> {
        self.0.measures(totals)
    }
}

impl<M: replication::Model> replication::Model for Reference<M> {
    type Params = M::Params;
    type Output = M::Output;

    fn source(&self) -> Source {
        self.0.source()
    }

    fn team_source(&self) -> Option<Source> {
        self.0.team_source()
    }

    fn check(&self, params: &M::Params) -> Result<(), String> {
        self.0.check(params)
    }

    fn derive(&self, params: &M::Params, observations: &mut Observations) -> Result<(), AnalysisError> {
        self.0.derive(params, observations)
    }
}
