//! Where the replications of a study run: on a device, or on the CPU. A network that the compiled
//! form covers runs as a kernel or as machine code of its own, and others in the interpreter.

use std::ops::{ControlFlow, Range};

use crate::Backend;
use crate::pdes::{
    CpuEngine, Engine, EngineOptions, Fault, Mapping, Results, RunResult, SimulationError, Until,
};
use crate::statistics::Experiment;
use crate::time::Ticks;

use super::compiled::{CompiledError, CompiledNetwork, DeviceNetwork, Form, NativeNetwork, Recorded};
use super::{Facility, FacilityError, FacilityOutput};

/// Faults of a range up to which the next range is compiled, however many of its replications
/// fault.
const FEW: usize = 8;

/// Where replications run.
pub(super) enum Runner<'g> {
    Cpu(Box<Cpu>),
    Gpu(Box<Device<'g>>),
}

/// The network of a study.
struct Studied {
    name: String,
    warm_up: Ticks,
    /// The most that may wait at a station.
    room: u32,
}

/// The interpreter on the CPU, and the network as machine code if it is covered.
pub(super) struct Cpu {
    network: Studied,
    interpreter: CpuEngine<Facility>,
    compiled: Option<NativeNetwork>,
}

/// The interpreter on a device, and the network's own kernel if it is covered.
pub(super) struct Device<'g> {
    network: Studied,
    interpreter: Engine<Facility>,
    compiled: Option<DeviceNetwork<'g>>,
    /// Makes single replications, for which the interpreter on the device would be compiled.
    on_cores: CpuEngine<Facility>,
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
    /// `room` is the most that may wait at a station. A mapping is one of the interpreter.
    pub(super) fn new(
        backend: Backend<'g>,
        options: EngineOptions,
        facility: &Facility,
        room: u32,
    ) -> Result<Self, SimulationError> {
        let network =
            Studied { name: facility.network().name.clone(), warm_up: facility.params_warm_up(), room };
        let (model, memory) = (facility.clone(), facility.rows_of_histograms());
        let build = move |_: &crate::statistics::Point<'_>| Ok::<_, FacilityError>(model.clone());
        let options = options.outputs(true).memory(memory);
        let on_cores = CpuEngine::in_rust(build.clone(), options);
        Ok(match backend.gpu() {
            None => Self::Cpu(Box::new(Cpu {
                interpreter: on_cores,
                compiled: network.compiled(facility, |compiled| {
                    let native = NativeNetwork::new(compiled)?;
                    match native.is_machine_code() {
                        true => Ok(native),
                        false => Err(not_covered("networks: this build or platform has no machine code")),
                    }
                }),
                network,
            })),
            Some(gpu) => Self::Gpu(Box::new(Device {
                interpreter: Engine::new(gpu, build, options)?,
                compiled: match options.mapping {
                    // (Not tried in browsers.)
                    Mapping::Auto if !cfg!(target_arch = "wasm32") => network
                        .compiled(facility, |compiled| {
                            DeviceNetwork::with_form(gpu, compiled, Form::Uniform)
                        }),
                    _ => None,
                },
                network,
                on_cores,
            })),
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
            Self::Gpu(device) => device.run(experiment, range, until, watch).await,
        }
    }
}

fn not_covered(what: &str) -> CompiledError {
    CompiledError::NotCovered { what: what.to_owned() }
}

impl Studied {
    /// The network's own code. Otherwise the log says why the interpreter runs it.
    fn compiled<C>(
        &self,
        facility: &Facility,
        make: impl FnOnce(&CompiledNetwork) -> Result<C, CompiledError>,
    ) -> Option<C> {
        let made = CompiledNetwork::new(facility).and_then(|network| match network.fits(self.room) {
            true => make(&network),
            false => Err(not_covered("lines in which few customers may wait")),
        });
        made.inspect_err(|error| log::info!("the network `{}` is interpreted: {error}", self.name)).ok()
    }

    /// Whether the interpreter should make the next range, too, after a range with this result.
    /// (Single replications are cheap.)
    fn exceeds(&self, made: &[Result<Recorded, u32>]) -> bool {
        let faults = made.iter().filter(|made| made.is_err()).count();
        if faults > 0 {
            log::info!(
                "{faults} of {} replications of the network `{}` are interpreted, as they exceed its \
                compiled form",
                made.len(),
                self.name
            );
        }
        faults > FEW && 2 * faults > made.len()
    }
}

/// The results of compiled replications, where `interpret` makes those with faults.
fn completed(
    made: impl IntoIterator<Item = Result<Recorded, u32>>,
    range: &Range<u32>,
    mapping: Mapping,
    interpret: impl Fn(Range<u32>) -> Result<Replications, SimulationError>,
) -> Result<Replications, SimulationError> {
    let mut runs = Vec::new();
    for (number, run) in range.clone().zip(made) {
        match run {
            Ok(made) => runs.push(Ok(Replication::Compiled(made))),
            Err(_) => runs.extend(interpret(number..number + 1)?.runs),
        }
    }
    Ok(Replications { runs, mapping })
}

impl Cpu {
    fn run(
        &mut self,
        experiment: &Experiment,
        range: Range<u32>,
        until: Ticks,
    ) -> Result<Replications, SimulationError> {
        let Self { network, interpreter, compiled } = self;
        let interpret = |range: Range<u32>| -> Result<Replications, SimulationError> {
            Ok(interpreter.experiment(experiment, Until::time(until)).range(range).run()?.into())
        };
        let Some(native) = compiled else { return interpret(range) };
        let times = [network.warm_up, until];
        let made = native.replications(experiment.seed, range.clone(), times, network.room);
        if network.exceeds(&made) {
            *compiled = None;
            return interpret(range);
        }
        completed(made, &range, Mapping::Auto, interpret)
    }
}

impl Device<'_> {
    async fn run(
        &mut self,
        experiment: &Experiment,
        range: Range<u32>,
        until: Ticks,
        mut watch: impl FnMut(usize, u64) -> ControlFlow<()>,
    ) -> Result<Replications, SimulationError> {
        let Self { network, interpreter, compiled, on_cores, .. } = self;
        if let Some(device) = compiled {
            let times = [network.warm_up, until];
            // Events follow from the rows (`study::events`).
            let watch = &mut |done| watch(done, 0);
            let made =
                device.replications(experiment.seed, range.clone(), times, network.room, watch).await?;
            if made.is_empty() {
                return Err(SimulationError::Stopped);
            }
            if !network.exceeds(&made) {
                return completed(made, &range, Mapping::Thread, |range| {
                    Ok(on_cores.experiment(experiment, Until::time(until)).range(range).run()?.into())
                });
            }
            *compiled = None;
        }
        let run = interpreter.experiment(experiment, Until::time(until)).range(range).watch(watch);
        Ok(run.run_async().await?.into())
    }
}
