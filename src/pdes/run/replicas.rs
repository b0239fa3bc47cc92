//! Many runs of a model at once: an experiment over the points of a design, each with many runs
//! with different random numbers, mapped to the device by [`Mapping`].
//!
//! `mapping.rs` has the kernels, `prepared.rs` the validated models, `memory.rs` the memory of a
//! batch of runs that share the device. `driver.rs` builds batches and runs them to their ends,
//! `results.rs` has the results, `run.rs` describes runs. This file has the engines that users
//! call.

#[cfg(not(target_arch = "wasm32"))]
mod any;
mod batch_memory;
mod cores;
mod driver;
mod maker;
mod mapping;
mod memory;
mod options;
mod prepared;
mod results;
mod run;
mod slice_tuner;

use std::ops::ControlFlow;

use crate::gpu::Gpu;
use crate::statistics::{AnalysisError, Design, Experiment, Pairing, Point, check_room};

use crate::pdes::contract::error::SimulationError;
use crate::pdes::sequential::functions::MakeFunctions;
use crate::pdes::sequential::{native, reference};
use crate::pdes::{CpuModel, Mapping, Model, Replica, Until};
#[cfg(not(target_arch = "wasm32"))]
pub use any::AnyEngine;
pub(crate) use cores::{CORES, Reports, WatchRuns, on_cores};
use maker::{Driver, Fastest};
pub(super) use mapping::{handler_kernels, kernels};
use memory::Job;
pub use options::EngineOptions;
use prepared::{Build, Prepared, check_contract};
use results::Runs;
pub(crate) use results::fingerprint_row;
pub use results::{Results, RunResult};
pub use run::{ExperimentRun, SequentialRun};

/// Runs experiments over a simulation model, as [`replication::Engine`](crate::replication::Engine)
/// does over a replication model. Each point of the design has as many runs as the [`Experiment`]
/// requests, each with its own random streams ([`Replica`]).
pub struct Engine<M> {
    gpu: Gpu,
    build: Build<M>,
    options: EngineOptions,
    /// The models of the last design.
    prepared: Option<(Design, Prepared<M>)>,
    fastest: Fastest,
}

/// The same experiments as [`Engine`] on the CPU: runs on all cores, one run per core at a time, as
/// [`CpuSimulation`](crate::pdes::CpuSimulation) makes them.
pub struct CpuEngine<M> {
    build: Build<M>,
    /// The functions for the models of a design, which share their WGSL.
    functions: fn(&M) -> Result<MakeFunctions<M>, SimulationError>,
    /// Only the options about results apply.
    options: EngineOptions,
}

/// Checks the parts of an experiment that concern the engines. Returns its runs, by number and then
/// by point: the first of them are the same runs of all points.
fn jobs(experiment: &Experiment, replications: &std::ops::Range<u32>) -> Result<Vec<Job>, SimulationError> {
    let count = replications.end.saturating_sub(replications.start);
    Experiment { replications: count, ..experiment.clone() }.check()?;
    if experiment.pairing != Pairing::Independent {
        return Err(SimulationError::Antithetic);
    }
    let points = experiment.design.len();
    if (points as u64).checked_mul(count.into()).is_none_or(|runs| runs > u32::MAX.into()) {
        return Err(AnalysisError::TooMany { points, replications: count }.into());
    }
    // Memory for each run: its job, its result, and the totals of some columns.
    check_room(points, count, size_of::<Job>() + size_of::<RunResult>() + 512)?;
    let point = |point: usize| u32::try_from(point).expect("the points were counted");
    Ok(replications
        .clone()
        .flat_map(|replication| (0..points).map(move |number| (point(number), replication)))
        .map(|(point, replication)| job(experiment, point, replication))
        .collect())
}

/// A run of a point.
fn job(experiment: &Experiment, point: u32, replication: u32) -> Job {
    let key = experiment.stream(point, replication);
    Job { point, replica: Replica { point: key.point, number: key.replication } }
}

impl<M: Model> Engine<M> {
    /// Creates an engine for the models that `build` returns for the points of a design. They may
    /// differ in their parameters, lookaheads and capacities.
    ///
    /// # Errors
    /// [`SimulationError::GroupSize`].
    pub fn new<E: Into<Box<dyn std::error::Error + Send + std::marker::Sync>>>(
        gpu: &Gpu,
        build: impl Fn(&Point<'_>) -> Result<M, E> + 'static,
        options: EngineOptions,
    ) -> Result<Self, SimulationError> {
        let max = gpu.limits().max_compute_invocations_per_workgroup;
        if let Some(group_size) = options.group_size
            && (!group_size.is_power_of_two() || group_size > max)
        {
            return Err(SimulationError::GroupSize { group_size, max });
        }
        Ok(Self {
            gpu: gpu.clone(),
            build: Box::new(move |point| build(point).map_err(Into::into)),
            options,
            prepared: None,
            fastest: Fastest::default(),
        })
    }

    /// Makes the runs of an experiment, each up to the end that `until` names. Results are those at
    /// [`Until::time`]. [`Engine::experiment`] describes a run that is watched, or of some
    /// replications, or to a precision.
    ///
    /// # Errors
    /// [`SimulationError`] where the experiment cannot be run. A run that fails is not an error:
    /// its [`Fault`](crate::pdes::Fault) is in the results.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn run(
        &mut self,
        experiment: &Experiment,
        until: Until,
    ) -> Result<Results<M::Output>, SimulationError> {
        self.experiment(experiment, until).run()
    }

    async fn make(
        &mut self,
        experiment: &Experiment,
        replications: std::ops::Range<u32>,
        until: Until,
        watch: &mut impl FnMut(usize, u64) -> ControlFlow<()>,
    ) -> Result<Results<M::Output>, SimulationError> {
        let jobs = jobs(experiment, &replications)?;
        let (runs, mapping) = self.execute(experiment, &jobs, until, watch).await?;
        let (_, prepared) = self.prepared.as_ref().expect("it was just prepared");
        Results::new(&prepared.models, prepared.columns.as_deref(), replications.start, runs, mapping)
    }

    /// The results of some runs of an experiment, each named by its point and its replication, in
    /// this order; of the first ones if `watch` stopped it.
    pub(crate) async fn run_list(
        &mut self,
        experiment: &Experiment,
        runs: &[(u32, u32)],
        until: Until,
        watch: &mut impl FnMut(usize, u64) -> ControlFlow<()>,
    ) -> Result<(Runs<M::Output>, Mapping), SimulationError> {
        let jobs: Vec<_> =
            runs.iter().map(|&(point, replication)| job(experiment, point, replication)).collect();
        self.execute(experiment, &jobs, until, watch).await
    }

    async fn execute(
        &mut self,
        experiment: &Experiment,
        jobs: &[Job],
        until: Until,
        watch: &mut impl FnMut(usize, u64) -> ControlFlow<()>,
    ) -> Result<(Runs<M::Output>, Mapping), SimulationError> {
        if self.prepared.as_ref().is_none_or(|(design, _)| *design != experiment.design) {
            let mut prepared = Prepared::new(&experiment.design, &self.build)?;
            prepared.room.state_bytes = check_contract(&prepared.models[0])?;
            self.prepared = Some((experiment.design.clone(), prepared));
            self.fastest.clear();
        }
        let Some((_, prepared)) = &mut self.prepared else { unreachable!("it was just prepared") };
        prepared.check_end(until)?;
        let mut driver = Driver {
            gpu: &self.gpu,
            options: self.options,
            prepared,
            fastest: &mut self.fastest,
            seed: experiment.seed,
            until,
            shorter: 1,
        };
        driver.run(jobs, watch).await
    }
}

impl<M: Model + std::marker::Sync> CpuEngine<M> {
    /// Creates an engine for the models that `build` returns for the points of a design.
    /// Only [`EngineOptions::outputs`] and [`EngineOptions::memory`] apply.
    pub fn new<E: Into<Box<dyn std::error::Error + Send + std::marker::Sync>>>(
        build: impl Fn(&Point<'_>) -> Result<M, E> + 'static,
        options: EngineOptions,
    ) -> Self {
        let build = Box::new(move |point: &Point<'_>| build(point).map_err(Into::into));
        Self { build, options, functions: native::functions }
    }

    /// The same with the models' functions in Rust instead of their WGSL.
    pub fn in_rust<E: Into<Box<dyn std::error::Error + Send + std::marker::Sync>>>(
        build: impl Fn(&Point<'_>) -> Result<M, E> + 'static,
        options: EngineOptions,
    ) -> Self
    where
        M: CpuModel,
    {
        Self { functions: reference::functions, ..Self::new(build, options) }
    }

    /// Makes the runs of an experiment: see [`Engine::run`].
    ///
    /// # Errors
    /// As [`Engine::run`].
    pub fn run(&self, experiment: &Experiment, until: Until) -> Result<Results<M::Output>, SimulationError> {
        self.experiment(experiment, until).run()
    }

    fn make(
        &self,
        experiment: &Experiment,
        replications: std::ops::Range<u32>,
        until: Until,
        watch: &mut (impl FnMut(usize, u64) -> ControlFlow<()> + Send),
    ) -> Result<Results<M::Output>, SimulationError> {
        let jobs = jobs(experiment, &replications)?;
        let (runs, prepared) = self.execute(experiment, &jobs, until, watch)?;
        Results::new(&prepared.models, prepared.columns.as_deref(), replications.start, runs, Mapping::Auto)
    }

    /// The models of a design, and their functions.
    fn prepare(&self, design: &Design) -> Result<(Prepared<M>, MakeFunctions<M>), SimulationError> {
        let prepared = Prepared::new(design, &self.build)?;
        let functions = (self.functions)(&prepared.models[0])?;
        Ok((prepared, functions))
    }

    fn execute(
        &self,
        experiment: &Experiment,
        jobs: &[Job],
        until: Until,
        watch: &mut (impl FnMut(usize, u64) -> ControlFlow<()> + Send),
    ) -> Result<(Runs<M::Output>, Prepared<M>), SimulationError> {
        let (prepared, functions) = self.prepare(&experiment.design)?;
        prepared.check_end(until)?;
        let columns = prepared.columns.as_ref();
        let models = (&prepared.models[..], &functions);
        let runs = results::on_cpu(models, columns, jobs, experiment.seed, until, self.options, watch)?;
        Ok((runs, prepared))
    }
}

impl<M> std::fmt::Debug for Engine<M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Engine")
            .field("gpu", &self.gpu)
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

impl<M> std::fmt::Debug for CpuEngine<M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CpuEngine").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::prepared::events;
    use super::*;
    use crate::models::{Phold, Torus};
    use crate::pdes::Capacity;
    use crate::time::Resolution;

    #[test]
    fn runs_have_room_for_what_their_models_say_that_they_hold() {
        let units = Resolution::default();
        let phold = |population| Phold::new(64, population, 0.1, 10.0, units).unwrap();
        // One slot for each event and four spare ones, for the point with the most events.
        assert_eq!(events(&[phold(1), phold(5), phold(4)]), 64 * 5 + 4);
        let tiny = Capacity { queue: 1, mailbox: 1 };
        assert!(events(&[phold(4).with_capacity(tiny)]) < 64 * 4);
    }

    /// An LP of a torus schedules two events at one, or none: slots of a team in workgroup memory
    /// move between its lists, and collect in some of them.
    #[test]
    fn near_teams_do_not_run_short_of_slots_that_are_free() {
        let gpu = Gpu::for_test();
        for travel in [2.0, 10.0, 80.0] {
            let torus = move |_: &Point<'_>| Torus::new(8, 8, 64, 0.1, travel, Resolution::default());
            let options = EngineOptions::default().mapping(Mapping::Team);
            let mut engine = Engine::new(&gpu, torus, options).unwrap();
            let end = Resolution::default().ticks(100.0 * travel.max(10.0)).unwrap();
            engine.run(&Experiment::new(Design::default(), 3, 42), Until::time(end)).unwrap();
            // Otherwise runs would have been repeated with more slots.
            let prepared = &engine.prepared.as_ref().unwrap().1;
            assert_eq!(prepared.room.events, events(&prepared.models), "{travel}");
        }
    }
}
