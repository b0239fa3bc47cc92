//! Where the replications of a study run: on a device, or on the CPU. There, a network that the
//! compiled form covers runs as machine code of its own, and others in the interpreter.

use std::ops::{ControlFlow, Range};

use crate::Backend;
use crate::gpu::Gpu;
use crate::pdes::{
    CpuEngine, Engine, EngineOptions, Fault, Mapping, Results, RunResult, SimulationError, Until,
};
use crate::statistics::Experiment;
use crate::time::Ticks;

use super::compiled::{CompiledNetwork, NativeNetwork, Recorded};
use super::{Facility, FacilityError, FacilityOutput};

/// Faults of a range up to which the next range is compiled, however many of its replications
/// fault.
const FEW: usize = 8;

/// Where replications run.
pub(super) enum Runner<'g> {
    Cpu(Box<Cpu>),
    Gpu(&'g Gpu, Box<Engine<Facility>>),
}

/// The interpreter on the CPU, and the network as machine code if it is covered.
pub(super) struct Cpu {
    interpreter: CpuEngine<Facility>,
    compiled: Option<NativeNetwork>,
    name: String,
    warm_up: Ticks,
    /// The most that may wait at a station.
    room: u32,
}

/// The result of a replication.
pub(super) enum Replication {
    Interpreted(RunResult<FacilityOutput>),
    Compiled(Recorded),
}

/// The results of a range of replications, fewer if they were stopped.
pub(super) struct Replications {
    pub(super) runs: Vec<Result<Replication, Fault>>,
    pub(super) mapping: Mapping,
}

impl Replication {
    /// The output by node.
    pub(super) fn rows(&self) -> &[FacilityOutput] {
        match self {
            Self::Interpreted(ran) => ran.outputs.as_ref().map_or(&[], |outputs| outputs.rows()),
            Self::Compiled(made) => &made.rows,
        }
    }

    /// The histograms, as rows of memory by node.
    pub(super) fn memory(&self) -> &[[u32; 4]] {
        match self {
            Self::Interpreted(ran) => &ran.memory,
            Self::Compiled(made) => &made.histograms,
        }
    }
}

impl From<Results<FacilityOutput>> for Replications {
    fn from(results: Results<FacilityOutput>) -> Self {
        let runs = results.runs.into_iter().flatten();
        Self { runs: runs.map(|run| run.map(Replication::Interpreted)).collect(), mapping: results.mapping }
    }
}

impl<'g> Runner<'g> {
    /// `room` is the most that may wait at a station.
    pub(super) fn new(
        backend: Backend<'g>,
        options: EngineOptions,
        facility: &Facility,
        room: u32,
    ) -> Result<Self, SimulationError> {
        let (model, memory) = (facility.clone(), facility.histogram_rows());
        let build = move |_: &crate::statistics::Point<'_>| Ok::<_, FacilityError>(model.clone());
        let options = options.outputs(true).memory(memory);
        Ok(match backend.gpu() {
            None => Self::Cpu(Box::new(Cpu {
                interpreter: CpuEngine::in_rust(build, options),
                compiled: compiled(facility, room),
                name: facility.network().name.clone(),
                warm_up: facility.params_warm_up(),
                room,
            })),
            Some(gpu) => Self::Gpu(gpu, Box::new(Engine::new(gpu, build, options)?)),
        })
    }

    /// Makes a range of the replications of an experiment of one point.
    pub(super) async fn run(
        &mut self,
        experiment: &Experiment,
        range: Range<u32>,
        until: Ticks,
        watch: impl FnMut(usize, u64) -> ControlFlow<()>,
    ) -> Result<Replications, SimulationError> {
        match self {
            Self::Cpu(cpu) => cpu.run(experiment, range, until),
            Self::Gpu(_, engine) => {
                let run = engine.experiment(experiment, Until::time(until)).range(range).watch(watch);
                Ok(run.run_async().await?.into())
            }
        }
    }
}

/// The network as machine code. Otherwise the log says why the interpreter runs it.
fn compiled(facility: &Facility, room: u32) -> Option<NativeNetwork> {
    let refused = |why: &str| {
        log::info!("the network `{}` is interpreted: {why}", facility.network().name);
        None
    };
    let made = CompiledNetwork::new(facility).and_then(|network| NativeNetwork::new(&network));
    match made {
        Err(error) => refused(&error.to_string()),
        Ok(network) if !network.is_machine_code() => refused("this build or platform has no machine code"),
        Ok(network) if !network.fits(room) => refused("few customers may wait"),
        Ok(network) => Some(network),
    }
}

impl Cpu {
    fn run(
        &mut self,
        experiment: &Experiment,
        range: Range<u32>,
        until: Ticks,
    ) -> Result<Replications, SimulationError> {
        let Self { interpreter, compiled, name, warm_up, room } = self;
        let interpret = |range: Range<u32>| -> Result<Replications, SimulationError> {
            Ok(interpreter.experiment(experiment, Until::time(until)).range(range).run()?.into())
        };
        let Some(network) = compiled else { return interpret(range) };
        let mut made = network.replications(experiment.seed, range.clone(), [*warm_up, until], *room);
        let faults = made.iter().filter(|made| made.is_err()).count();
        if faults > 0 {
            log::info!(
                "{faults} of {} replications of the network `{name}` are interpreted, as they exceed its \
                compiled form",
                made.len()
            );
        }
        if faults > FEW && 2 * faults > made.len() {
            *compiled = None;
            return interpret(range);
        }
        let mut runs = Vec::with_capacity(made.len());
        while let Some(run) = made.pop_front() {
            let number = range.start + u32::try_from(runs.len()).expect("numbers have 32 bits");
            match run {
                Ok(made) => runs.push(Ok(Replication::Compiled(made))),
                Err(_) => runs.extend(interpret(number..number + 1)?.runs),
            }
        }
        Ok(Replications { runs, mapping: Mapping::Auto })
    }
}
