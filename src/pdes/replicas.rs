//! Many runs of a model at once: an experiment over points of a design, each run many times with other random numbers, mapped to the device as
//! [`Mapping`] says.
//!
//! `replicas/mapping.rs` are the kernels, `replicas/memory.rs` the memory of a batch of runs that are on the device together, `replicas/results.rs` what comes
//! out; here batches are made, driven slice by slice, and made again with more room where a run found too little.

mod mapping;
mod memory;
mod results;

use std::sync::Arc;

use web_time::Instant;

use crate::gpu::{Download, Gpu, Kernel, Pace, Plan};
use crate::queue::QueueDesign;
use crate::statistics::{AnalysisError, Design, Experiment, Pairing, Point, Sequential, Stopping};

use super::contract;
use super::cut::{group_size_at_most, mean_of};
use super::error::{Fault, FaultKind, SimulationError};
use super::memory::Part;
use super::output::Columns;
use super::recipes::{Choice, Way, Windows};
use super::{Capacity, CpuModel, Model, Options, Replica, Simulation, Until, auto};
use mapping::{Crowd, Recipes, plain_group};
pub use mapping::{Mapping, UnknownMapping};
use memory::{Job, Memory, Points, Room};
pub use results::{Ran, Results};

/// Choices that change how fast an experiment runs, and nothing else.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EngineOptions {
    /// How runs are mapped to invocations.
    pub mapping: Mapping,
    /// The queues of LPs, where runs are mapped to teams or to the grid; `None` takes one by the model's capacities.
    pub queue: Option<QueueDesign>,
    /// Invocations per workgroup, a power of two within the device's limits; `None` takes a good one.
    pub group_size: Option<u32>,
    /// Whether capacities stay what the model says. Otherwise a run that finds too little room is made again with more.
    pub fixed: bool,
}

type Build<M> = Box<dyn Fn(&Point<'_>) -> Result<M, Box<dyn std::error::Error + Send + std::marker::Sync>>>;

/// Runs experiments over a simulation model, as [`replication::Engine`](crate::replication::Engine) does over a replication model: the points of a
/// design, each with as many runs as the [`Experiment`] says, all with streams of their own ([`Replica`]).
pub struct Engine<M> {
    gpu: Gpu,
    build: Build<M>,
    options: EngineOptions,
    /// The models of the design that was run last.
    prepared: Option<(Design, Prepared<M>)>,
}

/// The same on the host, one run after the other on every core: what [`Engine`] means.
pub struct CpuEngine<M> {
    build: Build<M>,
}

/// The models of a design's points, checked.
struct Prepared<M> {
    models: Vec<M>,
    /// None for a model without results.
    columns: Option<Arc<Columns>>,
    room: Room,
}

impl<M: Model> Prepared<M> {
    fn new(design: &Design, build: &Build<M>) -> Result<Self, SimulationError> {
        let models = (0..design.len()).map(|point| {
            build(&design.point(point)).map_err(|error| SimulationError::Point {
                place: design.place(point),
                reason: error.to_string(),
            })
        });
        let models: Vec<M> = models.collect::<Result<_, _>>()?;
        let first = &models[0];
        for model in &models {
            super::cpu::check(model)?;
            for (differ, what) in [
                (model.lps() != first.lps(), "numbers of LPs"),
                (model.source() != first.source(), "WGSL files"),
                (model.data() != first.data(), "data"),
                (model.memory_rows() != first.memory_rows(), "rows of LP memory"),
            ] {
                if differ {
                    return Err(SimulationError::Points { what });
                }
            }
            for (what, size) in [("queue", model.capacity().queue), ("mailbox", model.capacity().mailbox)] {
                if size == 0 {
                    return Err(SimulationError::NoCapacity { what });
                }
            }
        }
        let most =
            |of: fn(&Capacity) -> u32| models.iter().map(|model| of(&model.capacity())).max().unwrap_or(1);
        let capacity =
            Capacity { queue: most(|capacity| capacity.queue), mailbox: most(|capacity| capacity.mailbox) };
        Ok(Self {
            columns: contract::columns(first)?,
            room: Room { capacity, events: events(first.lps(), capacity) },
            models,
        })
    }

    /// Refuses runs whose results nobody could ask for, before they are made (which might take for ever).
    fn check_end(&self, until: Until) -> Result<(), SimulationError> {
        match self.columns {
            Some(_) => results::at(until).map(|_| ()),
            None => Ok(()),
        }
    }
}

/// The events that a run of so many LPs is likely to hold, whose queues have such room.
fn events(lps: u32, capacity: Capacity) -> u32 {
    let mean = f64::from(lps) * mean_of(capacity.queue);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it saturates")]
    let likely = (1.25 * mean + 8.0 * mean.sqrt()) as u32;
    likely.max(lps).saturating_add(16)
}

/// Checks what of an experiment concerns the engines. Returns its runs, by point and then by number.
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
    let point = |point: usize| u32::try_from(point).expect("the points were counted");
    Ok((0..points)
        .flat_map(|number| replications.clone().map(move |replication| (point(number), replication)))
        .map(|(point, replication)| {
            let key = experiment.stream(point, replication);
            Job { point, replica: Replica { point: key.point, number: key.replication } }
        })
        .collect())
}

impl<M: Model> Engine<M> {
    /// An engine for the models that `build` makes of the points of a design. They may differ in their parameters, lookaheads and capacities.
    pub fn new<E: Into<Box<dyn std::error::Error + Send + std::marker::Sync>>>(
        gpu: &Gpu,
        build: impl Fn(&Point<'_>) -> Result<M, E> + 'static,
        options: EngineOptions,
    ) -> Self {
        Self {
            gpu: gpu.clone(),
            build: Box::new(move |point| build(point).map_err(Into::into)),
            options,
            prepared: None,
        }
    }

    /// Makes the runs of an experiment, each up to the end that `until` names. Results are those at [`Until::time`].
    ///
    /// # Errors
    /// [`SimulationError`] where the experiment cannot be run. A run that fails is none: its [`Fault`] is in the results.
    pub fn run(&mut self, experiment: &Experiment, until: Until) -> Result<Results, SimulationError> {
        self.run_range(experiment, 0..experiment.replications, until)
    }

    /// Makes some of the runs of each point: the same as these are in any other range.
    ///
    /// # Errors
    /// As [`Engine::run`].
    pub fn run_range(
        &mut self,
        experiment: &Experiment,
        replications: std::ops::Range<u32>,
        until: Until,
    ) -> Result<Results, SimulationError> {
        pollster::block_on(self.run_async(experiment, replications, until, |_, _| {}))
    }

    /// [`Engine::run`], telling `watch` after each submission how many of the runs have ended, and how many events were executed. (A run that is
    /// made again with more room has not ended, and its events count again.)
    ///
    /// # Errors
    /// As [`Engine::run`].
    pub fn run_watched(
        &mut self,
        experiment: &Experiment,
        until: Until,
        watch: impl FnMut(usize, u64),
    ) -> Result<Results, SimulationError> {
        pollster::block_on(self.run_async(experiment, 0..experiment.replications, until, watch))
    }

    /// Makes more and more runs of each point until the `columns` are as precise as `stopping` asks for, or its budget ends. Of `experiment`, the
    /// number of replications does not count.
    ///
    /// # Errors
    /// As [`Engine::run`].
    pub fn run_until(
        &mut self,
        experiment: &Experiment,
        until: Until,
        stopping: &Stopping,
        columns: &[&str],
    ) -> Result<Sequential, SimulationError> {
        self.run_until_watched(experiment, until, stopping, columns, |_, _| {})
    }

    /// [`Engine::run_until`], telling `watch` what [`Engine::run_watched`] does: of all points, and of all that was run so far.
    ///
    /// # Errors
    /// As [`Engine::run`].
    pub fn run_until_watched(
        &mut self,
        experiment: &Experiment,
        until: Until,
        stopping: &Stopping,
        columns: &[&str],
        mut watch: impl FnMut(usize, u64),
    ) -> Result<Sequential, SimulationError> {
        let (mut ended, mut events) = (0, 0);
        Sequential::run(stopping, experiment.pairing, columns, |range| {
            let mut last = (ended, events);
            let told = |more: usize, executed: u64| {
                last = (ended + more, events + executed);
                watch(last.0, last.1);
            };
            let results = pollster::block_on(self.run_async(experiment, range, until, told))?;
            (ended, events) = last;
            Ok((results.observations, results.fingerprint))
        })
    }

    /// [`Engine::run_range`] for browsers, where nothing may block; `watch` is told what [`Engine::run_watched`] tells.
    ///
    /// # Errors
    /// As [`Engine::run`].
    pub async fn run_async(
        &mut self,
        experiment: &Experiment,
        replications: std::ops::Range<u32>,
        until: Until,
        mut watch: impl FnMut(usize, u64),
    ) -> Result<Results, SimulationError> {
        let jobs = jobs(experiment, &replications)?;
        let max = self.gpu.limits().max_compute_invocations_per_workgroup;
        if let Some(group_size) = self.options.group_size
            && (!group_size.is_power_of_two() || group_size > max)
        {
            return Err(SimulationError::GroupSize { group_size, max });
        }
        if self.prepared.as_ref().is_none_or(|(design, _)| *design != experiment.design) {
            let prepared = Prepared::new(&experiment.design, &self.build)?;
            check_contract(&prepared.models[0])?;
            self.prepared = Some((experiment.design.clone(), prepared));
        }
        let Some((_, prepared)) = &mut self.prepared else { unreachable!("it was made") };
        prepared.check_end(until)?;
        let mut driver =
            Driver { gpu: &self.gpu, options: self.options, prepared, seed: experiment.seed, until };
        let (runs, mapping) = driver.run(&jobs, &mut watch).await?;
        Results::new(&prepared.models, prepared.columns.as_deref(), runs, replications.len(), mapping)
    }
}

impl<M: CpuModel + std::marker::Sync> CpuEngine<M> {
    /// An engine for the models that `build` makes of the points of a design.
    pub fn new<E: Into<Box<dyn std::error::Error + Send + std::marker::Sync>>>(
        build: impl Fn(&Point<'_>) -> Result<M, E> + 'static,
    ) -> Self {
        Self { build: Box::new(move |point| build(point).map_err(Into::into)) }
    }

    /// Makes the runs of an experiment: see [`Engine::run`].
    ///
    /// # Errors
    /// As [`Engine::run`].
    pub fn run(&self, experiment: &Experiment, until: Until) -> Result<Results, SimulationError> {
        self.run_range(experiment, 0..experiment.replications, until)
    }

    /// Makes some of the runs of each point: see [`Engine::run_range`].
    ///
    /// # Errors
    /// As [`Engine::run`].
    pub fn run_range(
        &self,
        experiment: &Experiment,
        replications: std::ops::Range<u32>,
        until: Until,
    ) -> Result<Results, SimulationError> {
        let jobs = jobs(experiment, &replications)?;
        let prepared = Prepared::new(&experiment.design, &self.build)?;
        prepared.check_end(until)?;
        let columns = prepared.columns.as_ref();
        let runs = results::on_cpu(&prepared.models, columns, &jobs, experiment.seed, until)?;
        Results::new(&prepared.models, prepared.columns.as_deref(), runs, replications.len(), Mapping::Auto)
    }

    /// Makes more and more runs: see [`Engine::run_until`].
    ///
    /// # Errors
    /// As [`Engine::run`].
    pub fn run_until(
        &self,
        experiment: &Experiment,
        until: Until,
        stopping: &Stopping,
        columns: &[&str],
    ) -> Result<Sequential, SimulationError> {
        Sequential::run(stopping, experiment.pairing, columns, |range| {
            let results = self.run_range(experiment, range, until)?;
            Ok((results.observations, results.fingerprint))
        })
    }
}

/// Refuses a model whose file does not keep the contract of [`Model`].
fn check_contract<M: Model>(model: &M) -> Result<(), SimulationError> {
    let way = Way { queue: QueueDesign::Heap, windows: Windows::Yawns };
    let recipes = |declared| {
        super::recipes::Recipes::new::<M::Payload>(
            model.name(),
            &model.source(),
            Choice::usual(way, declared),
        )
    };
    let declared = contract::declared(model, &recipes(contract::Declared::default()).start)?;
    contract::check(&recipes(declared), model, declared)?;
    Ok(())
}

/// A run's end, by job.
type Runs = Vec<Result<Ran, Fault>>;

/// Makes the runs of an experiment.
struct Driver<'e, M> {
    gpu: &'e Gpu,
    options: EngineOptions,
    prepared: &'e mut Prepared<M>,
    seed: u64,
    until: Until,
}

/// The kernels of a mapping.
struct Kernels {
    start: Kernel,
    settle: Kernel,
    slice: Kernel,
    digest: Kernel,
    output: Option<Kernel>,
}

/// Steps of a slice at the most. Drivers on the processor may end the loops of an invocation that makes 65,535 iterations: a step of a team are perhaps
/// 100, one of a thread 30.
fn most_steps(gpu: &Gpu, crowd: Crowd) -> u32 {
    match (gpu.info().device_type, crowd) {
        (wgpu::DeviceType::Cpu, Crowd::Team { .. }) => 128,
        (wgpu::DeviceType::Cpu, Crowd::Thread { .. }) => 1024,
        _ => 1 << 24,
    }
}

impl<M: Model> Driver<'_, M> {
    async fn run(
        &mut self,
        jobs: &[Job],
        watch: &mut impl FnMut(usize, u64),
    ) -> Result<(Runs, Mapping), SimulationError> {
        let mapping = match self.options.mapping {
            Mapping::Auto => self.guess(jobs.len()),
            chosen => chosen,
        };
        let crowd = match mapping {
            Mapping::Grid => return Ok((self.grid(jobs, watch).await?, mapping)),
            Mapping::Thread if self.until.events != Until::EMPTY.events => {
                return Err(SimulationError::ThreadEvents);
            }
            Mapping::Thread => self.thread(),
            Mapping::Team | Mapping::Auto => self.team()?,
        };
        let mut runs = self.crowds(crowd, jobs, watch).await?;
        if mapping == Mapping::Thread {
            self.tell_faults(jobs, &mut runs).await?;
        }
        Ok((runs, mapping))
    }

    /// Makes those runs of threads again that failed, by teams. A thread makes no windows, and where rules are broken more than once it need not be the
    /// first window's fault that it comes upon first.
    async fn tell_faults(&mut self, jobs: &[Job], runs: &mut Runs) -> Result<(), SimulationError> {
        let broke =
            |run: &Result<Ran, Fault>| run.as_ref().is_err_and(|fault| fault.kind != FaultKind::QueueFull);
        let failed: Vec<usize> = (0..jobs.len()).filter(|&number| broke(&runs[number])).collect();
        if failed.is_empty() {
            return Ok(());
        }
        let chosen = self.options;
        // What was chosen is for threads; and room is no matter here.
        self.options = EngineOptions { queue: None, group_size: None, fixed: false, ..chosen };
        let again: Vec<_> = failed.iter().map(|&number| jobs[number]).collect();
        let team = self.team()?;
        let told = self.crowds(team, &again, &mut |_, _| {}).await;
        self.options = chosen;
        match told {
            Ok(told) => {
                for (number, told) in failed.into_iter().zip(told) {
                    runs[number] = told;
                }
                Ok(())
            }
            // Then it is what the thread found.
            Err(SimulationError::ReplicaTooLarge { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }

    fn model(&self) -> &M {
        &self.prepared.models[0]
    }

    /// A mapping before anything is known.
    fn guess(&self, jobs: usize) -> Mapping {
        let lps = self.model().lps();
        if lps > 4096 && jobs < 64 {
            return Mapping::Grid;
        }
        if self.until.events == Until::EMPTY.events && self.gpu.info().device_type == wgpu::DeviceType::Cpu {
            return Mapping::Thread;
        }
        Mapping::Team
    }

    fn team(&self) -> Result<Crowd, SimulationError> {
        let queue = match self.options.queue {
            Some(QueueDesign::Calendar | QueueDesign::CbPar(_)) => return Err(SimulationError::TeamQueue),
            Some(queue) => queue,
            None => auto::plain(self.prepared.room.capacity.queue),
        };
        let lps = self.model().lps();
        let usual = lps.next_power_of_two().clamp(32, 256);
        let group_size = self.options.group_size.unwrap_or_else(|| group_size_at_most(self.gpu, usual));
        Ok(Crowd::Team { group_size, queue })
    }

    fn thread(&self) -> Crowd {
        let usual = if self.gpu.info().device_type == wgpu::DeviceType::Cpu { 64 } else { THREADS };
        Crowd::Thread {
            group_size: self.options.group_size.unwrap_or_else(|| group_size_at_most(self.gpu, usual)),
        }
    }

    /// One run after the other.
    async fn grid(
        &mut self,
        jobs: &[Job],
        watch: &mut impl FnMut(usize, u64),
    ) -> Result<Runs, SimulationError> {
        let (mut runs, mut events) = (Vec::with_capacity(jobs.len()), 0);
        for job in jobs {
            let options = Options {
                seed: self.seed,
                replica: job.replica,
                queue: self.options.queue,
                group_size: self.options.group_size,
                fixed: self.options.fixed,
                ..Options::default()
            };
            let made = match Simulation::new(self.gpu, &self.prepared.models[job.point as usize], options) {
                Ok(mut simulation) => match simulation.run_async(self.until, |_| {}).await {
                    Ok(progress) => {
                        let fingerprint = simulation.fingerprint_async().await?;
                        let totals = match self.prepared.columns {
                            Some(_) => Some(simulation.totals_async(results::at(self.until)?, None).await?),
                            None => None,
                        };
                        Ok(Ran { progress, fingerprint, totals })
                    }
                    Err(error) => Err(error),
                },
                Err(error) => Err(error),
            };
            runs.push(results::fault_apart(made)?);
            events += runs.last().and_then(|run| run.as_ref().ok()).map_or(0, |ran| ran.progress.events);
            watch(runs.len(), events);
        }
        Ok(runs)
    }

    /// Batches of runs, and then those again that found too little room.
    async fn crowds(
        &mut self,
        crowd: Crowd,
        jobs: &[Job],
        watch: &mut impl FnMut(usize, u64),
    ) -> Result<Runs, SimulationError> {
        let gpu = self.gpu;
        let plain = plain_group(gpu);
        let recipes = Recipes::new(self.model(), crowd, gpu.has(wgpu::Features::SHADER_INT64), plain);
        let kernels = Kernels {
            start: recipes.start.kernel(gpu)?,
            settle: recipes.settle.kernel(gpu)?,
            slice: recipes.slice.kernel(gpu)?,
            digest: recipes.digest.kernel(gpu)?,
            output: recipes.output.as_ref().map(|output| output.kernel(gpu)).transpose()?,
        };
        let points = Points::new(gpu, &self.prepared.models)?;
        let mut runs: Vec<Option<Result<Ran, Fault>>> = vec![None; jobs.len()];
        let mut pace = Pace::new(most_steps(gpu, crowd));
        let (mut ended, mut events) = (0, 0);
        let mut waiting: Vec<usize> = (0..jobs.len()).collect();
        while !waiting.is_empty() {
            let most = self.batch_size(crowd, waiting.len())?;
            let memory =
                Memory::<M::State, M::Payload>::new(gpu, self.model(), crowd, self.prepared.room, most)?;
            let mut again = Vec::new();
            let mut needed = self.prepared.room;
            for batch in waiting.chunks(most as usize) {
                let batch_jobs: Vec<_> = batch.iter().map(|&number| jobs[number]).collect();
                let mut told = |done: usize, more: u64| {
                    events += more;
                    watch(ended + done, events);
                };
                let found = self.batch(&kernels, &memory, &points, &batch_jobs, &mut pace, &mut told).await?;
                for (&number, found) in batch.iter().zip(found) {
                    match found {
                        Err(fault) if !self.options.fixed && takes_room(&mut needed, fault, crowd) => {
                            again.push(number)
                        }
                        found => {
                            ended += 1;
                            runs[number] = Some(found);
                        }
                    }
                }
            }
            log::debug!("{}: {} of {} runs again with {needed:?}", crowd.mapping(), again.len(), jobs.len());
            self.prepared.room = needed;
            waiting = again;
        }
        Ok(runs.into_iter().map(|run| run.expect("every job was made")).collect())
    }

    /// How many runs are on the device at once.
    fn batch_size(&self, crowd: Crowd, jobs: usize) -> Result<u32, SimulationError> {
        let (model, limit) = (self.model(), self.gpu.max_buffer_bytes());
        let bytes = memory::bytes(model, crowd, self.prepared.room);
        let widest = bytes.into_iter().max().unwrap_or(1);
        let whole: u64 = bytes.iter().sum();
        // A dispatch of rows has one dimension.
        let groups = u64::from(self.gpu.limits().max_compute_workgroups_per_dimension);
        let rows = groups * u64::from(plain_group(self.gpu)) / u64::from(model.lps());
        let together = match crowd {
            Crowd::Team { .. } => groups,
            Crowd::Thread { .. } => (CACHE / whole).max(LEAST_THREADS),
        };
        let most = (limit / widest).min(rows).min(together).min(MEMORY / whole).min(jobs as u64);
        if most == 0 {
            return Err(SimulationError::ReplicaTooLarge { lps: model.lps(), needed: widest, limit });
        }
        // Batches of about the same size.
        let batches = (jobs as u64).div_ceil(most);
        Ok(u32::try_from((jobs as u64).div_ceil(batches)).expect("no more than the runs"))
    }

    /// Makes the runs of a batch, to their ends.
    async fn batch(
        &self,
        kernels: &Kernels,
        memory: &Memory<M::State, M::Payload>,
        points: &Points,
        jobs: &[Job],
        pace: &mut Pace,
        watch: &mut impl FnMut(usize, u64),
    ) -> Result<Runs, SimulationError> {
        let (gpu, models) = (self.gpu, &self.prepared.models);
        let replicas = u32::try_from(jobs.len()).expect("a batch fits the device");
        let plain = plain_group(gpu);
        let mut run = memory.run(self.model(), replicas, self.until);
        memory.begin(gpu, &run, models, jobs, self.seed)?;
        memory.tell(gpu, &run)?;
        let bound = memory.bindings(points);
        let mut start = Plan::new("replicas: start");
        start.dispatch(gpu, &kernels.start, run.rows.div_ceil(plain), &bound)?;
        start.dispatch(gpu, &kernels.settle, replicas, &bound)?;
        start.submit(gpu)?;

        let mut slice = Plan::new("replicas: slice");
        slice.dispatch(gpu, &kernels.slice, memory.slice_groups(replicas), &bound)?;
        loop {
            let steps = pace.units();
            run.part = Part { slice: steps, ..run.part };
            memory.tell(gpu, &run)?;
            let begin = Instant::now();
            let mut encoder = gpu.encoder("replicas: slice");
            encoder.clear_buffer(memory.words().raw(), 0, Some(8));
            slice.record(&mut encoder);
            let download = Download::new(gpu, "replicas: progress", 8)?;
            download.record(&mut encoder, memory.words().raw(), 0);
            let submission = gpu.submit(encoder)?;
            let words = download.finish(gpu, submission).await?;
            let number = |at: usize| bytemuck::pod_read_unaligned::<u32>(&words[at..at + 4]);
            let (running, executed) = (number(0), number(4));
            watch((replicas - running) as usize, executed.into());
            if running == 0 {
                break;
            }
            pace.record(steps, begin.elapsed());
        }

        let mut digest = Plan::new("replicas: fingerprints");
        digest.dispatch(gpu, &kernels.digest, replicas, &bound)?;
        digest.submit(gpu)?;
        let ended = memory.ended(gpu, &run).await?;
        let digests = memory.digests(gpu, &run).await?;
        let totals = match (&kernels.output, &self.prepared.columns) {
            (Some(output), Some(columns)) => {
                let at = results::at(self.until)?;
                results::totals::<M>(gpu, memory, output, plain, &bound, &run, columns, at)
                    .await?
                    .into_iter()
                    .map(Some)
                    .collect()
            }
            _ => vec![None; jobs.len()],
        };
        let runs = ended.into_iter().zip(digests).zip(totals).map(|((ended, digest), totals)| {
            ended.map(|progress| Ran { progress, fingerprint: super::Fingerprint(digest), totals })
        });
        Ok(runs.collect())
    }
}

/// Invocations of a workgroup that serve a replica each, on a GPU. (A guess.)
const THREADS: u32 = 32;

/// Bytes of the runs that threads serve together: what is on the device at once should stay in its cache. (A guess.)
const CACHE: u64 = 64 << 20;

/// The fewest that are worth it.
const LEAST_THREADS: u64 = 4096;

/// Bytes of a batch.
const MEMORY: u64 = 4 << 30;

/// Takes in that a run failed for want of room, and says whether that is so.
fn takes_room(needed: &mut Room, fault: Fault, crowd: Crowd) -> bool {
    let larger = |size: &mut u32| *size = (*size).max(fault.needed.saturating_add(fault.needed / 2));
    match (fault.kind, crowd) {
        (FaultKind::QueueFull, Crowd::Thread { .. }) => larger(&mut needed.events),
        (FaultKind::QueueFull, Crowd::Team { .. }) => larger(&mut needed.capacity.queue),
        (FaultKind::MailboxFull, Crowd::Team { .. }) => larger(&mut needed.capacity.mailbox),
        _ => return false,
    }
    true
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
