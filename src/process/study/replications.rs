//! Runs replications of points in parts that fit memory, and again with more room those whose
//! entities did not fit.

use std::ops::Range;
use std::sync::Arc;

use web_time::Instant;

use crate::backend::{Backend, Chooser, Kind, Place};
use crate::facility::FacilityError;
use crate::gpu::Gpu;
use crate::pdes::{
    Autosave, CORES, CpuSimulation, Engine, EngineOptions, Fault, FaultKind, Mapping, Options, Replica,
    Reports, RunResult, SimulationError, Stop, Until, WatchRuns, fingerprint_row, on_cores,
};
use crate::statistics::quantiles::Histograms;
use crate::statistics::{Experiment, Observations, Point, check_room};
use crate::time::Ticks;

use super::super::compiled::CompiledProcess;
use super::super::error::{ProcessError, Replication};
use super::super::ir;
use super::super::model::{ProcessRun, Rows, Sized3};
use super::super::program::{HEADER, LIVE, MOST_ENTITIES};
use super::super::run::{DeviceProgram, Job, Made, NativeWorker, Trouble};
use super::diagnosis::Snapshot;
use super::measures::Measures;
use super::plan::Study;
use super::saved::{Record, SavedStudy, Saving};

/// Bytes of results stored at once.
const PART: usize = if cfg!(target_arch = "wasm32") { 128 << 20 } else { 512 << 20 };

/// Room for entities in the first part.
const FIRST_ROOM: u32 = 128;

/// The share of runs of a part that fit the room of the next part.
const FITTING: f64 = 0.95;

/// Replications of the first part of a long study on a device: they show which room the others
/// need.
const PILOT: u32 = 1024;

/// What was run so far.
#[derive(Debug, Clone, Default)]
pub(super) struct Done {
    pub(super) runs: usize,
    pub(super) events: u64,
    pub(super) fingerprint: u64,
    /// How a device made replications, and its name.
    pub(super) on_device: Option<(Mapping, String)>,
    /// Whether the watcher stopped it.
    pub(super) stopped: bool,
}

/// Why a run has no results.
#[derive(Debug, Clone)]
enum Failure {
    Fault,
    Deadlock,
    /// These stations of a network wait for each other.
    Stuck(String),
    Full,
    Engine(Fault),
}

/// A run that ended.
struct Ended {
    numbers: Vec<f64>,
    events: u64,
    fingerprint: u64,
    /// Slots of entities that were used.
    entities: u32,
    /// The rows of its results, if there are histograms.
    rows: Vec<[u32; 4]>,
}

impl Ended {
    /// Of a saved study.
    fn of((events, fingerprint, numbers): Record) -> Self {
        Self { numbers, events, fingerprint, entities: 0, rows: Vec::new() }
    }
}

/// Runs replications of the points of a study.
pub(super) struct Replications<'r, S: Sized3> {
    compiled: &'r CompiledProcess,
    study: &'r Study,
    backend: Backend<'r>,
    chooser: Chooser<'r>,
    /// The device of the present part; none for the cores.
    gpu: Option<&'r Gpu>,
    options: EngineOptions,
    experiment: Experiment,
    warm_up: Ticks,
    until: Ticks,
    pub(super) measures: Measures,
    /// By room, for a mapping of the general engine.
    engines: Vec<(u32, Engine<ProcessRun<S>>)>,
    device: Option<DeviceProgram>,
    room: u32,
    pub(super) done: Done,
    saving: Option<Saving<'r>>,
    /// The histograms of tallies, by point.
    pub(super) histograms: Vec<Histograms>,
}

impl<'r, S: Sized3> Replications<'r, S> {
    pub(super) fn new(
        compiled: &'r CompiledProcess,
        study: &'r Study,
        backend: Backend<'r>,
        options: EngineOptions,
        [warm_up, until]: [Ticks; 2],
    ) -> Self {
        // Mappings are ways to use a device.
        let backend = backend.for_wgsl().on_device_if(options.mapping != Mapping::Auto);
        let (printed, points) = (Arc::clone(compiled.printed()), compiled.design().len());
        let chooser = Chooser::new(backend, Kind::Process).compiling(move |gpu| {
            // What fails here fails again when it is used, and is reported then.
            let _ = DeviceProgram::new(gpu, &printed, points);
        });
        let measures = Measures::new(compiled.program(), warm_up, until);
        let histograms = vec![Histograms::new(measures.with_histograms().len()); compiled.design().len()];
        let experiment = Experiment::new(compiled.design().clone(), study.replications, study.seed);
        Self {
            compiled,
            study,
            backend,
            chooser,
            gpu: None,
            options: options.outputs(true),
            experiment: experiment.with_common_random_numbers(),
            warm_up,
            until,
            measures,
            engines: Vec::new(),
            device: None,
            room: FIRST_ROOM.min(study.most()),
            done: Done::default(),
            saving: None,
            histograms,
        }
    }

    /// Resumes a saved study, and saves this one.
    pub(super) fn with_files(
        mut self,
        from: Option<&'r SavedStudy>,
        to: Option<Autosave<'r>>,
    ) -> Result<Self, ProcessError> {
        if from.is_some() || to.is_some() {
            let (times, measures) =
                ([self.warm_up, self.until], (self.measures.names(), self.measures.width()));
            let model = self.model(0, 1)?;
            let files = (from, to);
            let on_host = self.backend.is_cpu();
            let saving = Saving::new(self.compiled, self.study, times, measures, &model, files, on_host)?;
            saving.restore(&mut self.histograms)?;
            self.saving = Some(saving);
        }
        Ok(self)
    }

    /// Saves the study at its end, if it is saved: why it could not be written.
    pub(super) fn last(&mut self) -> Result<Option<String>, ProcessError> {
        let histograms = &self.histograms;
        self.saving.as_mut().map_or(Ok(None), |saving| saving.last(histograms))
    }

    #[cfg(not(target_arch = "wasm32"))]
    pub(super) fn experiment(&self) -> &Experiment {
        &self.experiment
    }

    fn model(&self, point: usize, room: u32) -> Result<ProcessRun<S>, ProcessError> {
        ProcessRun::new(Arc::clone(self.compiled.printed()), self.compiled.values(point), self.warm_up, room)
    }

    /// The engine for a room.
    fn engine(&mut self, gpu: &Gpu, room: u32) -> Result<&mut Engine<ProcessRun<S>>, ProcessError> {
        let place = match self.engines.iter().position(|(of, _)| *of == room) {
            Some(place) => place,
            None => {
                let points = 0..self.compiled.design().len();
                let models = points.map(|point| self.model(point, room)).collect::<Result<Vec<_>, _>>()?;
                let build = move |point: &Point<'_>| Ok::<_, String>(models[point.number()].clone());
                let engine = Engine::new(gpu, build, self.options);
                self.engines.push((room, engine.map_err(|error| ProcessError::of_code(error, true))?));
                self.engines.len() - 1
            }
        };
        Ok(&mut self.engines[place].1)
    }

    /// Makes runs, named by point and replication, in this room; the first ones if `watch` stopped
    /// it.
    async fn runs(
        &mut self,
        room: u32,
        jobs: &[(u32, u32)],
        watch: WatchRuns<'_>,
    ) -> Result<Vec<Result<Made, Trouble>>, ProcessError> {
        let Some(gpu) = self.gpu else { return self.on_cores(room, jobs, watch) };
        if self.options.mapping == Mapping::Auto {
            return self.on_device(gpu, room, jobs, watch).await;
        }
        let (experiment, until) = (self.experiment.clone(), Until::time(self.until));
        let watch = &mut |runs, events| watch(runs, events);
        let (runs, mapping) = self.engine(gpu, room)?.run_list(&experiment, jobs, until, watch).await?;
        self.done.on_device.get_or_insert_with(|| (mapping, gpu.info().name.clone()));
        Ok(runs.into_iter().map(made_of::<S>).collect())
    }

    /// Compiles the program for a device, once.
    fn compile_for(&mut self, gpu: &Gpu) -> Result<(), ProcessError> {
        if self.device.is_none() && self.options.mapping == Mapping::Auto {
            let points = self.compiled.design().len();
            let made = DeviceProgram::new(gpu, self.compiled.printed(), points);
            self.device = Some(made.map_err(|error| ProcessError::of_code(error, true))?);
        }
        Ok(())
    }

    /// The same on a device, an invocation for each.
    async fn on_device(
        &mut self,
        gpu: &Gpu,
        room: u32,
        jobs: &[(u32, u32)],
        watch: WatchRuns<'_>,
    ) -> Result<Vec<Result<Made, Trouble>>, ProcessError> {
        let (params, until) = (self.params(room)?, self.until);
        let jobs: Vec<_> = jobs.iter().map(|&(point, replication)| self.job(point, replication)).collect();
        self.done.on_device.get_or_insert_with(|| (Mapping::Thread, gpu.info().name.clone()));
        self.compile_for(gpu)?;
        let device = self.device.as_mut().expect("it is compiled");
        Ok(device.run(&params, &jobs, room, until, watch).await.map_err(SimulationError::from)?)
    }

    /// The words of `Params` of all points.
    fn params(&self, room: u32) -> Result<Vec<Vec<u32>>, ProcessError> {
        let points = 0..self.compiled.design().len();
        let params = |point| self.compiled.program().params(self.compiled.values(point), self.warm_up, room);
        points.map(params).collect()
    }

    fn job(&self, point: u32, replication: u32) -> Job {
        let stream = self.experiment.stream(point, replication);
        let replica = Replica { point: stream.point, number: stream.replication };
        Job { point, key: replica.key(self.study.seed) }
    }

    /// The same on all cores.
    fn on_cores(
        &self,
        room: u32,
        jobs: &[(u32, u32)],
        watch: WatchRuns<'_>,
    ) -> Result<Vec<Result<Made, Trouble>>, ProcessError> {
        let (params, until) = (self.params(room)?, self.until);
        let native = self.compiled.native()?;
        let make = |worker: &mut NativeWorker<'_>, &Job { point, key }: &Job, reports: &Reports<'_>| {
            let mut reported = 0;
            let watch = &mut |events| {
                reports.add(0, events);
                reported += events;
                reports.flow()
            };
            let made = worker.make(&params[point as usize], key, until, watch);
            let made = made.ok_or(SimulationError::Stopped)?;
            reports.add(1, made.as_ref().map_or(0, |made| made.events.saturating_sub(reported)));
            Ok(made)
        };
        let jobs: Vec<_> = jobs.iter().map(|&(point, replication)| self.job(point, replication)).collect();
        Ok(on_cores(&jobs, watch, || NativeWorker::new(&native, room), make)?)
    }

    /// The name of the mapping of the runs.
    pub(super) fn mapping(&self) -> String {
        self.done.on_device.as_ref().map_or_else(|| CORES.to_owned(), |(mapping, _)| mapping.to_string())
    }

    /// The adapter, if a device made replications.
    pub(super) fn adapter(&self) -> Option<String> {
        self.done.on_device.as_ref().map(|(_, name)| name.clone())
    }

    /// The observations of some replications of some points; of the first ones, the same for all
    /// points, if `watch` stopped it.
    pub(super) async fn observe(
        &mut self,
        points: &[usize],
        range: Range<u32>,
        watch: WatchRuns<'_>,
    ) -> Result<Vec<Observations>, ProcessError> {
        let count = range.end.saturating_sub(range.start);
        if self.options.mapping != Mapping::Auto && !self.compiled.program().histograms.is_empty() {
            return Err(ProcessError::Setting {
                place: ir::Place::default(),
                what: "the mapping of a model with histograms".to_owned(),
                value: self.options.mapping.to_string(),
                remedy: "choose auto: the general engine does not return histograms".to_owned(),
            });
        }
        Experiment { replications: count, ..self.experiment.clone() }.check()?;
        check_room(points.len(), count, 2 * size_of::<f64>() * self.measures.width())?;
        let rows = self.compiled.program().histograms.len() * size_of::<[u32; 4]>();
        let each = points.len() * (size_of::<S::Output>() + rows + 2 * size_of::<RunResult>());
        let most = u32::try_from(PART / each).unwrap_or(u32::MAX).max(1);
        // Of each point.
        let (mut numbers, mut made): (Vec<Vec<f64>>, usize) = (vec![Vec::new(); points.len()], 0);
        let mut next = range.start;
        while next < range.end && !self.done.stopped {
            // A device is faster with all of a short study at once.
            let pilot = self.backend.is_device() && self.done.runs == 0 && count / 8 > PILOT;
            let most = if pilot { most.min(PILOT) } else { most };
            let most = self.saving.as_mut().map_or(most, |saving| most.min(saving.plan().part()));
            let known = self.saving.as_ref().and_then(|saving| saving.known(next, range.end));
            let (place, chosen) = self.chooser.next(range.end - next, points.len());
            let end = match &known {
                Some(known) => known.end,
                None => next + chosen.min(most),
            };
            let began = Instant::now();
            self.gpu = match place {
                _ if known.is_some() => None,
                Place::Host => {
                    // Its time does not count for each replication.
                    self.compiled.native()?;
                    None
                }
                Place::Device(gpu) => {
                    match self.compile_for(gpu) {
                        // What drivers refuse runs on the CPU, unless a device was chosen.
                        Err(ProcessError::TooLarge { .. }) if !self.backend.is_device() => {
                            self.chooser.stay_on_host("the model is too large for drivers of GPUs");
                            continue;
                        }
                        compiled => compiled?,
                    }
                    Some(gpu)
                }
            };
            // A device's time has that of compilation, which the chooser knows.
            let began = if self.gpu.is_some() { began } else { Instant::now() };
            let number = |point: usize| u32::try_from(point).expect("points are counted");
            let jobs = (next..end)
                .flat_map(|replication| points.iter().map(move |&point| (number(point), replication)));
            let ended: Vec<Ended> = match (&self.saving, &known) {
                (Some(saving), Some(known)) => saving.records(known.clone()).map(Ended::of).collect(),
                _ => self.part(&jobs.collect::<Vec<_>>(), watch).await?,
            };
            let whole = ended.len() - ended.len() % points.len();
            made += whole / points.len();
            if known.is_none() {
                self.chooser.took(place, whole, began.elapsed());
            }
            for (number, ended) in ended.into_iter().take(whole).enumerate() {
                if let (Some(saving), None) = (&mut self.saving, &known) {
                    saving.add((ended.events, ended.fingerprint, &ended.numbers));
                }
                if known.is_none() && self.measures.with_histograms().len() > 0 {
                    let point = points[number % points.len()];
                    self.histograms[point].add(self.measures.histograms(&ended.rows));
                }
                numbers[number % points.len()].extend(ended.numbers);
                self.done.runs += 1;
                self.done.events = self.done.events.wrapping_add(ended.events);
                self.done.fingerprint = self.done.fingerprint.wrapping_add(ended.fingerprint);
            }
            self.done.stopped |= watch(self.done.runs, self.done.events).is_break();
            next = end;
            if let (Some(saving), None) = (&mut self.saving, known) {
                saving.plan().took(began.elapsed());
                saving.save_if_due(&self.histograms)?;
            }
        }
        if made == 0 {
            return Err(SimulationError::Stopped.into());
        }
        let observed = points.iter().zip(&numbers).map(|(&point, numbers)| {
            let costs = self.compiled.program().costs_at(self.compiled.values(point))?;
            Ok(self.measures.observations(numbers, made, &costs)?)
        });
        observed.collect()
    }

    /// The results of runs, named by point and replication; of the first ones if `watch` stopped
    /// it.
    async fn part(&mut self, jobs: &[(u32, u32)], watch: WatchRuns<'_>) -> Result<Vec<Ended>, ProcessError> {
        let most = self.study.most();
        let mut found: Vec<Option<Result<Ended, (Failure, u32)>>> = jobs.iter().map(|_| None).collect();
        let mut waiting: Vec<usize> = (0..jobs.len()).collect();
        // A core maps the memory that runs use.
        let (mut room, mut executed) = (if self.gpu.is_some() { self.room } else { most }, 0);
        while !waiting.is_empty() && !self.done.stopped {
            let list: Vec<_> = waiting.iter().map(|&number| jobs[number]).collect();
            let before =
                (self.done.runs + jobs.len() - list.len(), self.done.events.saturating_add(executed));
            let mut last = 0;
            let report = &mut |runs: usize, events: u64| {
                last = events;
                watch(before.0 + runs, before.1.saturating_add(events))
            };
            let runs = self.runs(room, &list, report).await?;
            executed += last;
            self.done.stopped |= runs.len() < list.len();
            let mut again = Vec::new();
            for (&number, run) in waiting.iter().zip(runs) {
                found[number] = match self.ended(jobs[number], run) {
                    Err(Failure::Full) if room < most => {
                        again.push(number);
                        None
                    }
                    ended => Some(ended.map_err(|failure| (failure, room))),
                };
            }
            if !again.is_empty() {
                log::info!("{} of {} runs are repeated with more room than {room}", again.len(), list.len());
            }
            waiting = again;
            room = room.saturating_mul(2).min(most);
        }
        let mut ended = Vec::with_capacity(jobs.len());
        for (&job, found) in jobs.iter().zip(found) {
            match found {
                Some(Ok(run)) => ended.push(run),
                Some(Err((failure, room))) => return Err(self.diagnose(job, failure, room)?),
                None => break,
            }
        }
        self.fit_room(&ended);
        Ok(ended)
    }

    /// Chooses the room of the next part.
    fn fit_room(&mut self, ended: &[Ended]) {
        let mut used: Vec<_> = ended.iter().map(|run| run.entities).collect();
        used.sort_unstable();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a place in the list")]
        #[expect(clippy::cast_precision_loss, reason = "a share")]
        let place = (FITTING * used.len() as f64) as usize;
        if let Some(used) = used.get(place.min(used.len().saturating_sub(1))) {
            let wanted = used.saturating_add(used / 4).next_multiple_of(FIRST_ROOM / 4);
            // Engines for few rooms: kernels and buffers are made for each.
            if wanted > self.room || wanted < self.room / 2 {
                self.room = wanted.clamp(1, self.study.most());
                self.engines.clear();
            }
        }
    }

    /// The results of a run.
    fn ended(&self, (point, replication): (u32, u32), run: Result<Made, Trouble>) -> Result<Ended, Failure> {
        let Made { events, fingerprint, is_empty, rows } = run.map_err(|trouble| match trouble {
            Trouble::Full => Failure::Full,
            Trouble::Engine(fault) => Failure::Engine(fault),
        })?;
        let fingerprint = fingerprint_row(point, replication, Ok(fingerprint));
        let word = |word: u32| rows[(word / 4) as usize][(word % 4) as usize];
        if word(HEADER.fault) != 0 {
            return Err(Failure::Fault);
        }
        let stuck = self.compiled.blocking().stuck(&rows);
        if let Some(nodes) = stuck.filter(|_| !self.study.allow_deadlock) {
            return Err(Failure::Stuck(nodes));
        }
        if is_empty && word(LIVE) > 0 && !self.study.allow_deadlock {
            return Err(Failure::Deadlock);
        }
        let entities = word(HEADER.fresh);
        Ok(Ended {
            numbers: self.measures.numbers(&rows).collect(),
            events,
            fingerprint,
            entities,
            rows: if self.measures.with_histograms().len() > 0 { rows } else { Vec::new() },
        })
    }

    /// Repeats a failed run on the CPU, to say why it failed.
    fn diagnose(
        &self,
        (point, replication): (u32, u32),
        failure: Failure,
        room: u32,
    ) -> Result<ProcessError, ProcessError> {
        if let Failure::Stuck(nodes) = failure {
            return Ok(FacilityError::Deadlock { nodes, replication }.into());
        }
        let design = &self.experiment.design;
        let (point, number) = (point as usize, replication);
        let replication = Replication { number, seed: self.study.seed, point: design.describe(point) };
        if let Failure::Engine(fault) = failure {
            return Ok(ProcessError::Engine { replication, fault });
        }
        let model = self.model(point, room)?;
        let options = Options::default().seed(self.study.seed).replica(Replica { point: 0, number });
        let (mut state, mut memory) = (Vec::new(), Vec::new());
        // A run without room for those that enter first has no memory.
        if let Ok(mut simulation) = CpuSimulation::new(&model, options) {
            // The failure is known.
            let _ = simulation.run(Until::time(self.until));
            state = simulation.states()[0].rows().to_vec();
            memory = simulation.memory().to_vec();
        }
        let unit = self.compiled.model().unit.clone();
        let snapshot = Snapshot { program: self.compiled.program(), state, memory, unit, replication };
        Ok(match failure {
            Failure::Fault => snapshot.fault(),
            Failure::Deadlock => snapshot.deadlock(),
            Failure::Full | Failure::Engine(_) | Failure::Stuck(_) => snapshot.full(room.min(MOST_ENTITIES)),
        })
    }
}

/// What a study needs of a run of the general engine.
fn made_of<S: Sized3>(run: Result<RunResult<S::Output>, Fault>) -> Result<Made, Trouble> {
    let ran = run.map_err(|fault| match fault.kind {
        FaultKind::MemoryFull => Trouble::Full,
        _ => Trouble::Engine(fault),
    })?;
    let output = &ran.outputs.as_ref().expect("the options ask for outputs").rows()[0];
    Ok(Made {
        events: ran.progress.events,
        fingerprint: ran.fingerprint,
        is_empty: ran.progress.stop == Some(Stop::Empty),
        rows: output.rows().to_vec(),
    })
}
