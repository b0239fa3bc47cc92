//! The engine of replications of a backend: a device, or all cores of the CPU.

use std::ops::{ControlFlow, Range};

use crate::Backend;
use crate::gpu::Word;
use crate::pdes::CORES;
use crate::replication::{self, ReplicationError};
use crate::statistics::{Experiment, Sequential, Stopping};

use super::model::WgslReplication;

/// Runs models of replications.
pub(super) enum Replications {
    Gpu(Box<replication::Engine<WgslReplication>>),
    Cpu(Box<replication::CpuEngine<WgslReplication>>),
}

impl Replications {
    pub(super) fn new(
        backend: Backend<'_>,
        model: WgslReplication,
        options: replication::Options,
    ) -> Result<Self, ReplicationError> {
        match backend.gpu_for_wgsl() {
            Some(gpu) => Ok(Self::Gpu(replication::Engine::new(gpu, model, options)?.into())),
            None => Ok(Self::Cpu(replication::CpuEngine::new(model, options)?.into())),
        }
    }

    pub(super) fn run(
        &mut self,
        experiment: &Experiment,
        range: Range<u32>,
        watch: impl FnMut(u64) -> ControlFlow<()>,
    ) -> Result<replication::Results<Word>, ReplicationError> {
        let params = &Word::default();
        match self {
            Self::Gpu(engine) => engine.experiment(params, experiment).range(range).watch(watch).run(),
            Self::Cpu(engine) => engine.experiment(params, experiment).range(range).watch(watch).run(),
        }
    }

    pub(super) fn run_precisely(
        &mut self,
        experiment: &Experiment,
        (stopping, columns): (&Stopping, &[&str]),
        watch: impl FnMut(u64) -> ControlFlow<()>,
    ) -> Result<Sequential, ReplicationError> {
        let params = &Word::default();
        match self {
            Self::Gpu(engine) => {
                engine.experiment(params, experiment).precision(stopping, columns).watch(watch).run()
            }
            Self::Cpu(engine) => {
                engine.experiment(params, experiment).precision(stopping, columns).watch(watch).run()
            }
        }
    }

    /// The name of the mapping that was chosen last; at first `requested`.
    pub(super) fn mapping(&self, requested: replication::Mapping) -> String {
        match self {
            Self::Gpu(engine) => engine.chosen().map_or(requested, |chosen| chosen.mapping).to_string(),
            Self::Cpu(_) => CORES.to_owned(),
        }
    }
}
