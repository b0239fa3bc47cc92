//! Runs of the points of a design: networks that differ in numbers.

use std::fmt;
use std::future::Future;
use std::ops::{ControlFlow, Range};

use web_time::Instant;

use super::{Facility, FacilityError, Report, Share, Study};
use crate::Backend;
use crate::gpu::Verdict;
use crate::pdes::{EngineOptions, SimulationError};
use crate::statistics::{
    self, AnalysisError, Decision, Design, Experiment, Observations, Pairing, Partial, Round, Sequential,
};
#[cfg(not(target_arch = "wasm32"))]
use crate::statistics::{Allocated, Allocation, Selected, Selection};

/// A network that runs at the points of a design: [`Facility`], or one that may run as a process
/// model ([`NetworkForm`](crate::process::NetworkForm)).
pub trait PointNetwork {
    /// The names of the measures that have to reach the precision of a study.
    ///
    /// # Errors
    /// [`FacilityError`] of the times of the study.
    fn deciding(&self, study: &Study) -> Result<Vec<String>, FacilityError>;

    /// Makes replications of a study, from `run.first` on. Where `watch` returns
    /// [`ControlFlow::Break`], fewer.
    ///
    /// # Errors
    /// [`FacilityError`].
    fn replicate(
        &self,
        study: &Study,
        run: PointRun<'_>,
        watch: WatchPoint<'_>,
    ) -> impl Future<Output = Result<Report, FacilityError>>;
}

/// How replications of a [`PointNetwork`] run.
#[derive(Debug, Clone, Copy)]
pub struct PointRun<'r> {
    /// The shares that are reported besides the measures.
    pub shares: &'r [Share],
    /// Where to run.
    pub backend: Backend<'r>,
    /// How a device runs them.
    pub options: EngineOptions,
    /// The first replication.
    pub first: u32,
}

/// Gets the numbers of replications that ended, and of events.
pub type WatchPoint<'r> = &'r mut (dyn FnMut(usize, u64) -> ControlFlow<()> + Send);

impl PointNetwork for Facility {
    fn deciding(&self, study: &Study) -> Result<Vec<String>, FacilityError> {
        self.deciding_of(study)
    }

    async fn replicate(
        &self,
        study: &Study,
        run: PointRun<'_>,
        watch: WatchPoint<'_>,
    ) -> Result<Report, FacilityError> {
        let PointRun { shares, backend, options, first } = run;
        let run = self.study(study).shares(shares).backend(backend).options(options);
        run.from_replication(first).watch(watch).run_async().await
    }
}

/// The compiled networks of the points of a design.
///
/// ```
/// use eventhorizon::facility::{FacilityDesign, NetworkDescription, Study};
///
/// let mut description = NetworkDescription::from_toml(r#"
/// name = "M/M/c"
/// source.arrivals = { interarrival = { exponential = 1.0 }, to = "server" }
/// station.server = { service = { exponential = 1.5 }, servers = 2, to = "out" }
/// sink.out = {}
/// "#)?;
/// description.set("station.server.servers=2,3")?;
/// let networks = description.networks()?;
/// let facilities = networks.iter().map(|network| network.compile()).collect::<Result<_, _>>()?;
/// let design = FacilityDesign::new(description.design()?, facilities);
/// let results = design.study(&Study::new(16, 500.0, 50.0)).run()?;
/// // Replication r has the same random numbers at both points, so differences are precise.
/// println!("{}", results.report(0.95)?);
/// # Ok::<(), eventhorizon::facility::FacilityError>(())
/// ```
#[derive(Debug, Clone)]
pub struct FacilityDesign<P = Facility> {
    design: Design,
    facilities: Vec<P>,
}

/// Replications of all points, which [`run`](Self::run), `select` or `allocate` starts: made by
/// [`FacilityDesign::study`].
#[must_use = "a run starts with `run`, `select` or `allocate`"]
pub struct DesignRun<'r, W = fn(usize, u64), P = Facility> {
    points: &'r FacilityDesign<P>,
    study: &'r Study,
    shares: &'r [Share],
    derive: Option<Derive<'r>>,
    backend: Backend<'r>,
    options: EngineOptions,
    watch: W,
}

/// Adds columns to the observations of a point.
type Derive<'r> = &'r dyn Fn(usize, &mut Observations) -> Result<(), AnalysisError>;

/// The results of all points.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct DesignResults {
    /// The points.
    pub design: Design,
    /// By point: a column for each measure, named `wait(server)`, or `wait(server, urgent)` where a
    /// node has several classes.
    pub observations: Vec<Observations>,
    /// By point: why the run ended, if it ran to a precision.
    pub decisions: Vec<Decision>,
    /// The point that was selected with a guarantee.
    #[cfg(not(target_arch = "wasm32"))]
    pub selected: Option<Selected>,
    /// The point that was selected with a budget.
    #[cfg(not(target_arch = "wasm32"))]
    pub allocated: Option<Allocated>,
    /// By point: the measures with an exact value.
    pub theory: Vec<Vec<(String, f64)>>,
    /// Reasons to doubt the results, in sentences.
    pub warnings: Vec<String>,
    /// `cpu` or `gpu`.
    pub engine: &'static str,
    /// How replications were mapped to the device.
    pub mapping: String,
    /// The device.
    pub adapter: String,
    /// Services that ended after the warm-up, in all replications.
    pub customers: u64,
    /// Events of all replications.
    pub events: u64,
    /// The sum of the fingerprints of all replications of all points.
    pub fingerprint: u64,
    /// Wall-clock time.
    pub seconds: f64,
}

impl DesignResults {
    /// The point that differences are from: the selected one, or the first.
    pub fn reference(&self) -> usize {
        #[cfg(not(target_arch = "wasm32"))]
        {
            let selected = self.selected.as_ref().and_then(|selected| selected.best);
            selected.or(self.allocated.as_ref().map(|allocated| allocated.best)).unwrap_or(0)
        }
        #[cfg(target_arch = "wasm32")]
        0
    }

    /// The table of all points, with the paired differences from the
    /// [reference](Self::reference).
    ///
    /// # Errors
    /// [`FacilityError::Analysis`].
    pub fn report(&self, level: f64) -> Result<statistics::Report, FacilityError> {
        let mut report = statistics::Report::default();
        for (point, observations) in self.observations.iter().enumerate() {
            let known = &self.theory[point];
            let theory = |name: &str| known.iter().find(|(known, _)| known == name).map(|(_, value)| *value);
            report.add(&self.design, point, observations, level, theory)?;
        }
        report.compare(&self.observations, self.reference(), level)?;
        Ok(report)
    }
}

impl<P> FacilityDesign<P> {
    /// The networks of a design's points, in their order.
    ///
    /// # Panics
    /// If there are not as many as points.
    pub fn new(design: Design, facilities: Vec<P>) -> Self {
        assert_eq!(design.len(), facilities.len(), "a network for each point");
        Self { design, facilities }
    }

    /// The points.
    pub fn design(&self) -> &Design {
        &self.design
    }

    /// The network of each point.
    pub fn facilities(&self) -> &[P] {
        &self.facilities
    }

    /// Describes replications of all points, with common random numbers: replication r draws the
    /// same numbers at each node of all points. Points that differ in numbers share their code.
    pub fn study<'r>(&'r self, study: &'r Study) -> DesignRun<'r, fn(usize, u64), P> {
        let (backend, options) = (Backend::default(), EngineOptions::default());
        DesignRun { points: self, study, shares: &[], derive: None, backend, options, watch: |_, _| {} }
    }
}

impl<'r, W, P> DesignRun<'r, W, P> {
    /// Where to run. Default: [`Backend::Cpu`].
    pub fn backend(self, backend: Backend<'r>) -> Self {
        Self { backend, ..self }
    }

    /// Reports these shares of times, too.
    pub fn shares(self, shares: &'r [Share]) -> Self {
        Self { shares, ..self }
    }

    /// Adds columns that are computed from others, such as costs, to the observations of each
    /// point: `derive` gets its number.
    pub fn derive(self, derive: &'r dyn Fn(usize, &mut Observations) -> Result<(), AnalysisError>) -> Self {
        Self { derive: Some(derive), ..self }
    }

    /// How a device runs the replications.
    pub fn options(self, options: EngineOptions) -> Self {
        Self { options, ..self }
    }

    /// Calls `watch` with the number of replications that have ended, of all points, and of events.
    /// Where it returns [`ControlFlow::Break`], the run ends after the present round, or with
    /// [`SimulationError::Stopped`] before the first one.
    pub fn watch<V: Verdict, F: FnMut(usize, u64) -> V + Send>(self, watch: F) -> DesignRun<'r, F, P> {
        let Self { points, study, shares, derive, backend, options, .. } = self;
        DesignRun { points, study, shares, derive, backend, options, watch }
    }
}

impl<V: Verdict, W: FnMut(usize, u64) -> V + Send, P: PointNetwork> DesignRun<'_, W, P> {
    /// Makes the replications of the study; with [`Study::stopping`], as many as the point with the
    /// least precise measure needs, the same number for all points.
    ///
    /// # Errors
    /// [`FacilityError`]; [`FacilityError::Point`] names the point.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn run(self) -> Result<DesignResults, FacilityError> {
        pollster::block_on(self.run_async())
    }

    /// [`DesignRun::run`] without blocking, except on the CPU.
    ///
    /// # Errors
    /// As [`DesignRun::run`].
    pub async fn run_async(self) -> Result<DesignResults, FacilityError> {
        let mut runs = Runs::new(self);
        let all: Vec<usize> = (0..runs.points.facilities.len()).collect();
        let Some(stopping) = runs.study.stopping else {
            return match runs.rounds(&all).await {
                Ok((observations, decisions)) => {
                    Ok(DesignResults { decisions, ..runs.results(observations) })
                }
                Err(error) => runs.stopped(error, Partial::new(all.len()), None),
            };
        };
        let deciding = runs.points.facilities[0].deciding(runs.study)?;
        let deciding: Vec<&str> = deciding.iter().map(String::as_str).collect();
        let run = async |range: Range<u32>| {
            let (first, before) = (range.start, runs.events);
            match runs.observe(&all, range).await {
                Ok(observations) => {
                    Ok(Some(Round { observations, fingerprint: 0, events: runs.events.wrapping_sub(before) }))
                }
                Err(FacilityError::Simulation(SimulationError::Stopped)) if first > 0 => Ok(None),
                Err(error) => Err(error),
            }
        };
        match Sequential::run(&stopping, Pairing::Independent, &deciding, run).await {
            Ok(found) => Ok(DesignResults { decisions: found.decisions, ..runs.results(found.observations) }),
            Err(error) => runs.stopped(error, Partial::new(all.len()), None),
        }
    }

    /// Selects the point with the largest mean of a measure (the smallest, if `selection` says so),
    /// with the guarantee of [`Selection`]. Points that are clearly worse get no more replications.
    ///
    /// # Errors
    /// As [`DesignRun::run`]; [`FacilityError::Analysis`] for an unknown measure.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn select(self, selection: &Selection, measure: &str) -> Result<DesignResults, FacilityError> {
        let mut runs = Runs::new(self);
        let design = runs.points.design.clone();
        let experiment = Experiment::new(design.clone(), 0, runs.study.seed).with_common_random_numbers();
        let mut partial = Partial::new(design.len());
        let found = selection.run(&experiment, measure, |some, range| {
            runs.observe_into(&mut partial, &design.numbers_of(&some.design), range)
        });
        match found {
            Ok(found) => {
                Ok(DesignResults { selected: Some(found.clone()), ..runs.results(found.observations) })
            }
            Err(error) => runs.stopped(error, partial, Some(BEST)),
        }
    }

    /// Selects the point with the largest mean of a measure (the smallest, if `allocation` says so)
    /// with a budget of replications.
    ///
    /// # Errors
    /// As [`DesignRun::select`].
    #[cfg(not(target_arch = "wasm32"))]
    pub fn allocate(self, allocation: &Allocation, measure: &str) -> Result<DesignResults, FacilityError> {
        let mut runs = Runs::new(self);
        let mut partial = Partial::new(runs.points.facilities.len());
        let found = allocation.run(runs.points.facilities.len(), measure, |points, range| {
            runs.observe_into(&mut partial, points, range)
        });
        match found {
            Ok(found) => {
                Ok(DesignResults { allocated: Some(found.clone()), ..runs.results(found.observations) })
            }
            Err(error) => runs.stopped(error, partial, Some(BEST)),
        }
    }
}

/// What a stopped selection does not have.
#[cfg(not(target_arch = "wasm32"))]
const BEST: &str = "the best point";

/// Rounds of a run on the CPU, after each of which it can be stopped with results.
const ROUNDS: u32 = 8;

/// The state of a run between rounds.
struct Runs<'r, W, P> {
    points: &'r FacilityDesign<P>,
    study: &'r Study,
    shares: &'r [Share],
    derive: Option<Derive<'r>>,
    backend: Backend<'r>,
    options: EngineOptions,
    watch: W,
    begun: Instant,
    done: usize,
    events: u64,
    customers: u64,
    fingerprint: u64,
    theory: Vec<Vec<(String, f64)>>,
    warnings: Vec<String>,
    ran: Option<(&'static str, String, String)>,
    /// Whether the watcher has stopped the run, and what the points have of the present round.
    is_stopped: bool,
    present: Vec<(usize, Observations)>,
}

impl<'r, V: Verdict, W: FnMut(usize, u64) -> V + Send, P: PointNetwork> Runs<'r, W, P> {
    fn new(run: DesignRun<'r, W, P>) -> Self {
        let DesignRun { points, study, shares, derive, backend, options, watch } = run;
        Self {
            points,
            study,
            shares,
            derive,
            backend,
            options,
            watch,
            begun: Instant::now(),
            done: 0,
            events: 0,
            customers: 0,
            fingerprint: 0,
            theory: vec![Vec::new(); points.facilities.len()],
            warnings: Vec::new(),
            ran: None,
            is_stopped: false,
            present: Vec::new(),
        }
    }

    /// Makes the replications of the study. If the watcher stops it, the results are of the rounds
    /// that all points have.
    async fn rounds(&mut self, all: &[usize]) -> Result<(Vec<Observations>, Vec<Decision>), FacilityError> {
        let count = self.study.replications;
        Experiment::new(Design::default(), count, self.study.seed).check()?;
        // A device is faster with all of them at once.
        let rounds = if self.backend.gpu().is_some() { 1 } else { ROUNDS };
        let (mut made, mut done): (Vec<Observations>, u32) = (Vec::new(), 0);
        while done < count {
            let end = count.min(done + count.div_ceil(rounds));
            let new = match self.observe(all, done..end).await {
                Err(FacilityError::Simulation(SimulationError::Stopped)) if done > 0 => {
                    return Ok((made, vec![Decision::Stopped; all.len()]));
                }
                new => new?,
            };
            done = end;
            if made.is_empty() {
                made = new;
                continue;
            }
            for (known, new) in made.iter_mut().zip(new) {
                known.append(new)?;
            }
        }
        Ok((made, Vec::new()))
    }

    /// The same as [`Runs::observe`], and adds them to what the points have.
    #[cfg(not(target_arch = "wasm32"))]
    fn observe_into(
        &mut self,
        partial: &mut Partial,
        points: &[usize],
        range: Range<u32>,
    ) -> Result<Vec<Observations>, FacilityError> {
        let made = pollster::block_on(self.observe(points, range))?;
        points.iter().zip(&made).try_for_each(|(&point, made)| partial.add(point, made.clone()))?;
        Ok(made)
    }

    /// The results of a run that ended with an error: those of the points that have replications,
    /// if the watcher stopped it.
    fn stopped(
        mut self,
        error: FacilityError,
        mut partial: Partial,
        goal: Option<&str>,
    ) -> Result<DesignResults, FacilityError> {
        if !matches!(error, FacilityError::Simulation(SimulationError::Stopped)) {
            return Err(error);
        }
        for (point, made) in std::mem::take(&mut self.present) {
            partial.add(point, made)?;
        }
        let Some(stopped) = partial.stopped(&self.points.design, goal) else { return Err(error) };
        let theory = stopped.points.iter().map(|&point| self.theory[point].clone()).collect();
        let mut results = self.results(stopped.observations);
        results.warnings.push(stopped.missing);
        let decisions = vec![Decision::Stopped; stopped.points.len()];
        Ok(DesignResults { design: stopped.design, theory, decisions, ..results })
    }

    /// Makes the same replications of some points. If the watcher stops it, those that were made
    /// are `present`.
    async fn observe(
        &mut self,
        points: &[usize],
        range: Range<u32>,
    ) -> Result<Vec<Observations>, FacilityError> {
        let study = Study { stopping: None, replications: range.end, details: false, ..*self.study };
        let mut made = Vec::with_capacity(points.len());
        for &point in points {
            let (done, events) = (self.done, self.events);
            let (watch, is_stopped) = (&mut self.watch, &mut self.is_stopped);
            if *is_stopped {
                break;
            }
            let run = PointRun {
                shares: self.shares,
                backend: self.backend,
                options: self.options,
                first: range.start,
            };
            let report: WatchPoint<'_> = &mut |runs, executed| {
                let runs = done + runs.saturating_sub(range.start as usize);
                let flow = watch(runs, events.saturating_add(executed)).flow();
                *is_stopped |= flow.is_break();
                flow
            };
            let report = match self.points.facilities[point].replicate(&study, run, report).await {
                Err(FacilityError::Simulation(SimulationError::Stopped)) => break,
                report => report.map_err(|error| self.points.at(point, error))?,
            };
            let mut observations = report.observations()?;
            if let Some(derive) = self.derive {
                derive(point, &mut observations)?;
            }
            made.push(observations);
            self.add(point, report);
        }
        let is_whole = |made: &Observations| made.replications() == range.len();
        if made.len() == points.len() && made.iter().all(is_whole) {
            return Ok(made);
        }
        self.present = points.iter().copied().zip(made).collect();
        Err(SimulationError::Stopped.into())
    }

    fn add(&mut self, point: usize, report: Report) {
        self.done += report.replications as usize;
        self.events = self.events.wrapping_add(report.events);
        self.customers = self.customers.wrapping_add(report.customers);
        self.fingerprint = self.fingerprint.wrapping_add(report.fingerprint);
        if self.theory[point].is_empty() {
            let names = report.names();
            let known = names.into_iter().zip(&report.rows);
            self.theory[point] = known.filter_map(|(name, row)| Some((name, row.theory?))).collect();
        }
        for warning in report.warnings {
            let place = self.points.place(point);
            let warning = if place.is_empty() { warning } else { format!("{place}: {warning}") };
            if !self.warnings.contains(&warning) {
                self.warnings.push(warning);
            }
        }
        self.ran = Some((report.engine, report.mapping, report.adapter));
    }

    fn results(self, observations: Vec<Observations>) -> DesignResults {
        let (engine, mapping, adapter) = self.ran.unwrap_or_default();
        DesignResults {
            design: self.points.design.clone(),
            observations,
            decisions: Vec::new(),
            #[cfg(not(target_arch = "wasm32"))]
            selected: None,
            #[cfg(not(target_arch = "wasm32"))]
            allocated: None,
            theory: self.theory,
            warnings: self.warnings,
            engine,
            mapping,
            adapter,
            customers: self.customers,
            events: self.events,
            fingerprint: self.fingerprint,
            seconds: self.begun.elapsed().as_secs_f64(),
        }
    }
}

impl<P> FacilityDesign<P> {
    fn place(&self, point: usize) -> String {
        self.design.describe(point)
    }

    /// An error at a point.
    fn at(&self, point: usize, error: FacilityError) -> FacilityError {
        match error {
            FacilityError::Simulation(SimulationError::Stopped) => error,
            error if self.design.len() == 1 => error,
            error => FacilityError::Point { point: self.place(point), source: Box::new(error) },
        }
    }
}

impl<W, P> fmt::Debug for DesignRun<'_, W, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { study, backend, options, .. } = self;
        let mut run = f.debug_struct("DesignRun");
        run.field("study", study).field("backend", backend).field("options", options).finish_non_exhaustive()
    }
}
