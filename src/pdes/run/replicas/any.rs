//! An engine of experiments that runs wherever results are expected first.

use std::ops::{ControlFlow, Range};
use std::rc::Rc;

use web_time::Instant;

use super::cores::{CORES, WatchRuns};
use super::prepared::Prepared;
use super::results::{Results, Runs};
use super::run::Rounds;
use super::{CpuEngine, Engine, EngineOptions, jobs, results};
use crate::backend::{Backend, Chooser, FEW_LPS, Kind, Place};
use crate::gpu::Gpu;
use crate::pdes::contract::error::SimulationError;
use crate::pdes::sequential::functions::MakeFunctions;
use crate::pdes::{Mapping, Model, Until};
use crate::statistics::{Design, Experiment, Point, Sequential, Stopping};
use crate::time::Ticks;

/// The same experiments as [`Engine`] and [`CpuEngine`], on the device, the CPU, or first on the
/// CPU and then on a device that a thread opens meanwhile: see [`Backend`]. Results are the same
/// bits.
pub struct AnyEngine<'g, M> {
    chooser: Chooser<'g>,
    options: EngineOptions,
    build: Rc<BuildModel<M>>,
    cpu: CpuEngine<M>,
    /// The models of the last design, and their functions.
    prepared: Option<(Design, Prepared<M>, MakeFunctions<M>)>,
    device: Option<Engine<M>>,
    /// How the device ran, once it did.
    mapping: Option<Mapping>,
}

type BuildModel<M> = dyn Fn(&Point<'_>) -> Result<M, Box<dyn std::error::Error + Send + std::marker::Sync>>;

impl<'g, M: Model<Output: Send> + Clone + Send + std::marker::Sync + 'static> AnyEngine<'g, M> {
    /// Creates an engine for the models that `build` returns for the points of a design: see
    /// [`Engine::new`]. A mapping is a way to use a device.
    pub fn new<E: Into<Box<dyn std::error::Error + Send + std::marker::Sync>>>(
        backend: Backend<'g>,
        build: impl Fn(&Point<'_>) -> Result<M, E> + 'static,
        options: EngineOptions,
    ) -> Self {
        let backend = backend.for_wgsl().on_device_if(options.mapping != Mapping::Auto);
        let build: Rc<BuildModel<M>> = Rc::new(move |point: &Point<'_>| build(point).map_err(Into::into));
        let of_cpu = Rc::clone(&build);
        Self {
            chooser: Chooser::new(backend, Kind::Model),
            options,
            cpu: CpuEngine::new(move |point: &Point<'_>| of_cpu(point), options),
            build,
            prepared: None,
            device: None,
            mapping: None,
        }
    }

    /// The name of the mapping of the last runs, which is that of the CPU if it made all.
    pub fn mapping(&self) -> String {
        self.mapping.map_or_else(|| CORES.to_owned(), |mapping| mapping.to_string())
    }

    /// Whether a device made runs.
    pub fn used_device(&self) -> bool {
        self.mapping.is_some()
    }

    /// Makes some replications of each point of an experiment, up to the end that `until` names.
    /// `watch` gets the runs that have ended, of all points, and the executed events. If it stops
    /// them, the results are those of the first replications.
    ///
    /// # Errors
    /// As [`Engine::run`], and [`SimulationError::Stopped`] where `watch` stops it before a
    /// replication of all points has ended.
    pub fn run(
        &mut self,
        experiment: &Experiment,
        range: Range<u32>,
        until: Until,
        watch: WatchRuns<'_>,
    ) -> Result<Results<M::Output>, SimulationError> {
        let width = experiment.design.len();
        // Checks the whole range before its first part.
        jobs(experiment, &range)?;
        self.prepare(experiment, range.len() * width)?;
        let (mut made, mut next, mut events) = (Runs::new(), range.start, 0);
        while next < range.end {
            let (place, count) = self.chooser.next(range.end - next, width);
            let jobs = jobs(experiment, &(next..next + count))?;
            let (begun, mut last, mut stopped, mut leaves) = (Instant::now(), 0, false, false);
            let watch = &mut |runs: usize, executed: u64| {
                last = executed;
                let flow = watch(made.len() + runs, events + executed);
                stopped |= flow.is_break();
                flow
            };
            let some = match place {
                Place::Host => {
                    let (_, prepared, functions) = self.prepared.as_ref().expect("it was just prepared");
                    prepared.check_end(until)?;
                    let columns = prepared.columns.as_ref();
                    let models = (&prepared.models[..], functions);
                    let has_many = prepared.models[0].lps() as usize >= FEW_LPS;
                    let chooser = &mut self.chooser;
                    let watch = &mut |runs: usize, executed: u64| {
                        leaves = leaves || has_many && chooser.leaves_host(begun.elapsed());
                        if leaves { ControlFlow::Break(()) } else { watch(runs, executed) }
                    };
                    results::on_cpu(models, columns, &jobs, experiment.seed, until, self.options, watch)?
                }
                Place::Device(gpu) => {
                    let engine = match &mut self.device {
                        Some(engine) => engine,
                        none => {
                            let build = Rc::clone(&self.build);
                            let build = move |point: &Point<'_>| build(point);
                            none.insert(Engine::new(gpu, build, self.options)?)
                        }
                    };
                    let (some, mapping) =
                        pollster::block_on(engine.execute(experiment, &jobs, until, watch))?;
                    self.mapping = Some(mapping);
                    some
                }
            };
            let whole = some.len() - some.len() % width;
            if !leaves {
                self.chooser.took(place, whole, begun.elapsed());
            }
            stopped |= !leaves && some.len() < jobs.len();
            made.extend(some.into_iter().take(whole));
            next += u32::try_from(whole / width).expect("a part of the range");
            events += last;
            if stopped {
                break;
            }
        }
        let (_, prepared, _) = self.prepared.as_ref().expect("it was just prepared");
        let mapping = self.mapping.unwrap_or(Mapping::Auto);
        Results::new(&prepared.models, prepared.columns.as_deref(), range.start, made, mapping)
    }

    /// The same with as many replications as the columns need to be as precise as `stopping`
    /// requires.
    ///
    /// # Errors
    /// As [`AnyEngine::run`].
    pub fn run_precisely(
        &mut self,
        experiment: &Experiment,
        (stopping, columns): (&Stopping, &[&str]),
        until: Until,
        watch: WatchRuns<'_>,
    ) -> Result<Sequential, SimulationError> {
        let mut rounds = Rounds::new(watch);
        // Nothing in it waits.
        pollster::block_on(Sequential::run(
            stopping,
            experiment.pairing,
            columns,
            async |range: Range<u32>| {
                let report = &mut |ended, events| rounds.report(ended, events);
                let results = self.run(experiment, range.clone(), until, report);
                rounds.end(results, range.start)
            },
        ))
    }

    /// Prepares the models of a design, and what compiles their kernels for this number of runs.
    fn prepare(&mut self, experiment: &Experiment, runs: usize) -> Result<(), SimulationError> {
        let design = &experiment.design;
        if self.prepared.as_ref().is_some_and(|(known, ..)| known == design) {
            return Ok(());
        }
        let (prepared, functions) = self.cpu.prepare(design)?;
        let (models, options) = (prepared.models.clone(), self.options);
        let points = u32::try_from(models.len()).unwrap_or(u32::MAX);
        let few = Experiment::new(design.clone(), u32::try_from(runs).unwrap_or(u32::MAX) / points, 0);
        self.chooser.compile_by(move |gpu: &Gpu| {
            let models = models.clone();
            let build = move |point: &Point<'_>| Ok::<_, String>(models[point.number()].clone());
            // Runs that end at once need the kernels. What fails here fails again with the runs.
            if let Ok(mut engine) = Engine::new(gpu, build, options) {
                let _ = engine.run(&few, Until::time(Ticks::ZERO));
            }
        });
        self.prepared = Some((design.clone(), prepared, functions));
        Ok(())
    }
}

impl<M> std::fmt::Debug for AnyEngine<'_, M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AnyEngine").field("chooser", &self.chooser).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::OnDemand;
    use crate::models::Phold;
    use crate::time::Resolution;

    fn model(point: &Point<'_>) -> Result<Phold, crate::models::PholdError> {
        Phold::new(20, 4, 0.1, point.real("lookahead", 10.0), Resolution::default())
    }

    #[test]
    fn runs_move_to_the_device_after_any_number_and_stay_the_same() {
        let gpu = Gpu::for_test();
        let design = Design::default().cross("lookahead", [10.0, 20.0]).unwrap();
        let experiment = Experiment::new(design, 9, 3);
        let until = Until::time(Resolution::default().ticks(100.0).unwrap());
        let expected = CpuEngine::new(model, EngineOptions::default()).run(&experiment, until).unwrap();
        let bits = |results: &Results| {
            let runs = results.runs.iter().flatten().map(|run| run.as_ref().unwrap());
            runs.map(|run| (run.fingerprint, run.progress.events)).collect::<Vec<_>>()
        };
        let events = bits(&expected).iter().map(|run| run.1).sum::<u64>();
        for after in [0, 1, 2, 5, 17, 18] {
            let device = OnDemand::from(gpu.clone()).handing_over_after(after);
            let mut engine = AnyEngine::new(Backend::Auto(&device), model, EngineOptions::default());
            let mut last = (0, 0);
            let watch = &mut |runs, events| {
                last = (runs, events);
                ControlFlow::Continue(())
            };
            let found = engine.run(&experiment, 0..9, until, watch).unwrap();
            assert_eq!(engine.used_device(), after < 17, "whole replications move: {after}");
            assert_eq!(bits(&found), bits(&expected), "{after}");
            assert_eq!(found.fingerprint, expected.fingerprint, "{after}");
            assert_eq!(
                format!("{:?}", found.observations),
                format!("{:?}", expected.observations),
                "{after}"
            );
            assert_eq!(last, (18, events), "{after}");
        }
    }

    #[test]
    fn a_watcher_keeps_the_first_replications() {
        let gpu = Gpu::for_test();
        let experiment = Experiment::new(Design::default(), 40, 3);
        let until = Until::time(Resolution::default().ticks(100.0).unwrap());
        let all = CpuEngine::new(model, EngineOptions::default()).run(&experiment, until).unwrap();
        let device = OnDemand::from(gpu).handing_over_after(7);
        let mut engine = AnyEngine::new(Backend::Auto(&device), model, EngineOptions::default());
        let watch = &mut |runs, _| if runs < 7 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) };
        let found = engine.run(&experiment, 0..40, until, watch);
        let found = found.unwrap();
        let made = found.runs[0].len();
        assert!((1..40).contains(&made), "{made}");
        for (found, expected) in found.runs[0].iter().zip(&all.runs[0]) {
            assert_eq!(found.as_ref().unwrap().fingerprint, expected.as_ref().unwrap().fingerprint);
        }
    }
}
