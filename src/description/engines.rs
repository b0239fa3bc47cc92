//! The engines of a backend: a device, or all cores of the CPU.

use std::ops::{ControlFlow, Range};

use crate::Backend;
use crate::gpu::{Gpu, Word};
use crate::pdes::{self, EngineOptions, Payload, SimulationError, Until};
use crate::replication::{self, ReplicationError};
use crate::statistics::{Experiment, Point, Sequential, Stopping};

use super::model::{WgslModel, WgslReplication};

/// The device to run on. Without machine code, a software adapter is faster than the CPU engines.
fn device(backend: Backend<'_>) -> Option<&Gpu> {
    match backend {
        Backend::Auto(gpu) if !cfg!(feature = "native") => Some(gpu),
        _ => backend.gpu(),
    }
}

/// Receives the numbers of runs that ended and of executed events.
pub(super) type WatchRuns<'w> = &'w mut (dyn FnMut(usize, u64) -> ControlFlow<()> + Send);

/// Runs models of logical processes.
pub(super) enum Simulations<P: Payload> {
    Gpu(Box<pdes::Engine<WgslModel<P>>>),
    Cpu(pdes::CpuEngine<WgslModel<P>>),
}

impl<P: Payload> Simulations<P> {
    /// An engine for these models. `of_point` is the number of the model of a point.
    pub(super) fn new(
        backend: Backend<'_>,
        models: Vec<WgslModel<P>>,
        of_point: impl Fn(&Point<'_>) -> usize + 'static,
        options: EngineOptions,
    ) -> Result<Self, SimulationError> {
        let build = move |point: &Point<'_>| Ok::<_, String>(models[of_point(point)].clone());
        match device(backend) {
            Some(gpu) => Ok(Self::Gpu(pdes::Engine::new(gpu, build, options)?.into())),
            None => Ok(Self::Cpu(pdes::CpuEngine::new(build, options))),
        }
    }

    pub(super) fn run(
        &mut self,
        experiment: &Experiment,
        range: Range<u32>,
        until: Until,
        watch: WatchRuns<'_>,
    ) -> Result<pdes::Results<Word>, SimulationError> {
        match self {
            Self::Gpu(engine) => engine.experiment(experiment, until).range(range).watch(watch).run(),
            Self::Cpu(engine) => engine.experiment(experiment, until).range(range).watch(watch).run(),
        }
    }

    pub(super) fn run_precisely(
        &mut self,
        experiment: &Experiment,
        (stopping, columns): (&Stopping, &[&str]),
        until: Until,
        watch: WatchRuns<'_>,
    ) -> Result<Sequential, SimulationError> {
        match self {
            Self::Gpu(engine) => {
                engine.experiment(experiment, until).precision(stopping, columns).watch(watch).run()
            }
            Self::Cpu(engine) => {
                engine.experiment(experiment, until).precision(stopping, columns).watch(watch).run()
            }
        }
    }

    /// The name of the mapping of results: `chosen`, or that of the CPU.
    pub(super) fn mapping(&self, chosen: impl ToString) -> String {
        match self {
            Self::Gpu(_) => chosen.to_string(),
            Self::Cpu(_) => CORES.to_owned(),
        }
    }
}

/// The name of the mapping on the CPU.
const CORES: &str = "cores";

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
        match device(backend) {
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
