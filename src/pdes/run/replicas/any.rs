//! An engine of experiments with a model that is only WGSL: on a device, or on all cores of a CPU.

use std::ops::Range;

use super::cores::{CORES, WatchRuns};
use super::results::Results;
use super::{CpuEngine, Engine, EngineOptions};
use crate::gpu::Gpu;
use crate::pdes::contract::error::SimulationError;
use crate::pdes::{Model, Until};
use crate::statistics::{Experiment, Point, Sequential, Stopping};

/// An engine of a device, or of the CPU with the model's WGSL as machine code.
pub(crate) enum AnyEngine<M: Model> {
    Gpu(Box<Engine<M>>),
    Cpu(CpuEngine<M>),
}

impl<M: Model<Output: Send> + Clone + Send + std::marker::Sync + 'static> AnyEngine<M> {
    /// An engine for these models, on a device or on the CPU. `of_point` is the number of the model
    /// of a point.
    pub(crate) fn new(
        gpu: Option<&Gpu>,
        models: Vec<M>,
        of_point: impl Fn(&Point<'_>) -> usize + 'static,
        options: EngineOptions,
    ) -> Result<Self, SimulationError> {
        let build = move |point: &Point<'_>| Ok::<_, String>(models[of_point(point)].clone());
        match gpu {
            Some(gpu) => Ok(Self::Gpu(Engine::new(gpu, build, options)?.into())),
            None => Ok(Self::Cpu(CpuEngine::new(build, options))),
        }
    }
}

impl<M: Model<Output: Send> + Clone + Send + std::marker::Sync + 'static> AnyEngine<M> {
    /// The name of the mapping of results: `chosen`, or that of the CPU.
    pub(crate) fn mapping(&self, chosen: impl ToString) -> String {
        match self {
            Self::Gpu(_) => chosen.to_string(),
            Self::Cpu(_) => CORES.to_owned(),
        }
    }

    pub(crate) fn run(
        &mut self,
        experiment: &Experiment,
        range: Range<u32>,
        until: Until,
        watch: WatchRuns<'_>,
    ) -> Result<Results<M::Output>, SimulationError> {
        match self {
            Self::Gpu(engine) => engine.experiment(experiment, until).range(range).watch(watch).run(),
            Self::Cpu(engine) => engine.experiment(experiment, until).range(range).watch(watch).run(),
        }
    }

    pub(crate) fn run_precisely(
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
}
