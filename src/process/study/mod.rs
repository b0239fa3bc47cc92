//! Studies: replications of all points of a model, and their results.

mod course;
mod diagnosis;
mod measures;
mod notes;
mod occupation;
mod plan;
mod replications;
mod results;
mod saved;

use std::ops::{ControlFlow, Range};

use web_time::Instant;

use crate::Backend;
use crate::gpu::Verdict;
use crate::pdes::{Autosave, EngineOptions, Fingerprint, Progress, SimulationError, WatchRuns};
#[cfg(not(target_arch = "wasm32"))]
use crate::statistics::{Allocation, Partial, Selection};
use crate::statistics::{Decision, Intervals, Observations, Pairing, Profile, Round, Sequential};
use crate::time::Ticks;

use super::compiled::CompiledProcess;
use super::error::ProcessError;
#[cfg(not(target_arch = "wasm32"))]
use super::ir::Place;
use super::model::{Large, Medium, Sized3, Small};
use super::program::Size;
pub(super) use course::Note;
#[cfg(feature = "plot")]
pub use course::draw_timeline;
pub use course::{Change, Timeline, write_changes};
use course::{Course, OfIntervals};
use measures::Measures;
pub(super) use measures::share_of_bin;
pub use occupation::{Holding, Occupation, Occupied};
pub use plan::Study;
use replications::Replications;
pub use results::StudyResults;
pub use saved::SavedStudy;

/// Replications of a model, which [`run`](Self::run) or [`run_async`](Self::run_async) starts: made
/// by [`CompiledProcess::study`].
#[must_use = "a run starts with `run` or `run_async`"]
pub struct StudyRun<'r, W = fn(usize, u64)> {
    compiled: &'r CompiledProcess,
    study: &'r Study,
    backend: Backend<'r>,
    options: EngineOptions,
    first: u32,
    from: Option<&'r SavedStudy>,
    to: Option<Autosave<'r>>,
    watch: W,
}

impl CompiledProcess {
    /// Describes replications of the model, of which each measure has an interval. Replication r
    /// has the same random numbers at all points.
    pub fn study<'r>(&'r self, study: &'r Study) -> StudyRun<'r> {
        let (backend, options) = (Backend::default(), EngineOptions::default());
        StudyRun { compiled: self, study, backend, options, first: 0, from: None, to: None, watch: |_, _| {} }
    }

    /// End of the warm-up and end of a valid study.
    fn times(&self, study: &Study) -> Result<[Ticks; 2], ProcessError> {
        let until = self.program().end(study.until)?;
        let warm_up = self
            .resolution()
            .ticks(study.warm_up)
            .map_err(|source| ProcessError::Time { what: "the end of the warm-up", source })?;
        if warm_up >= until {
            return Err(ProcessError::WarmUp { until: study.until, warm_up: study.warm_up });
        }
        Ok([warm_up, until])
    }

    /// The first replication of a study at a point, on the CPU: averages of `parts` parts of equal
    /// length, from time zero.
    ///
    /// # Errors
    /// [`ProcessError`]; [`ProcessError::Setting`] for no parts, or more than there are ticks.
    ///
    /// # Panics
    /// If there is no such point.
    pub fn timeline(&self, study: &Study, point: usize, parts: u32) -> Result<Timeline, ProcessError> {
        let [_, until] = self.times(study)?;
        match self.program().size {
            Size::Small => Course::<Small>::new(self, study, point, until)?.timeline(parts),
            Size::Medium => Course::<Medium>::new(self, study, point, until)?.timeline(parts),
            Size::Large => Course::<Large>::new(self, study, point, until)?.timeline(parts),
        }
    }

    /// The measures of each interval of the replications of a study at a point, on all cores of the
    /// CPU: those whose names `is_wanted` accepts, such as `queue(bed)`, without smallest and
    /// largest observations. Observations count in the interval in which they are made. The number
    /// of replications is that of the study, also with a stopping rule.
    ///
    /// # Errors
    /// [`ProcessError`]; [`AnalysisError::Setting`](crate::statistics::AnalysisError::Setting) for
    /// invalid intervals.
    ///
    /// # Panics
    /// If there is no such point.
    pub fn profile(
        &self,
        study: &Study,
        point: usize,
        intervals: Intervals,
        level: f64,
        is_wanted: impl Fn(&str) -> bool + Sync,
    ) -> Result<Profile, ProcessError> {
        let [_, until] = self.times(study)?;
        let wanted = &is_wanted;
        match self.program().size {
            Size::Small => Course::<Small>::new(self, study, point, until)?.profile(intervals, level, wanted),
            Size::Medium => {
                Course::<Medium>::new(self, study, point, until)?.profile(intervals, level, wanted)
            }
            Size::Large => Course::<Large>::new(self, study, point, until)?.profile(intervals, level, wanted),
        }
    }

    /// What `of` makes of each replication: it gets the measures of the intervals that end at these
    /// times, as if each were a replication.
    pub(super) fn by_interval<T: Send>(
        &self,
        study: &Study,
        ends: &[Ticks],
        of: OfIntervals<'_, T>,
    ) -> Result<Vec<T>, ProcessError> {
        let [_, until] = self.times(study)?;
        match self.program().size {
            Size::Small => Course::<Small>::new(self, study, 0, until)?.by_interval(ends, of),
            Size::Medium => Course::<Medium>::new(self, study, 0, until)?.by_interval(ends, of),
            Size::Large => Course::<Large>::new(self, study, 0, until)?.by_interval(ends, of),
        }
    }

    /// One long run, the first replication: the measures of its parts between these times, as if
    /// each were a replication, its events and its fingerprint.
    pub(super) fn long_run(
        &self,
        study: &Study,
        ends: &[Ticks],
        watch: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
    ) -> Result<(Observations, u64, Fingerprint), ProcessError> {
        let [_, until] = self.times(study)?;
        match self.program().size {
            Size::Small => Course::<Small>::new(self, study, 0, until)?.long_run(ends, watch),
            Size::Medium => Course::<Medium>::new(self, study, 0, until)?.long_run(ends, watch),
            Size::Large => Course::<Large>::new(self, study, 0, until)?.long_run(ends, watch),
        }
    }

    /// What entities do in the first replication of a study at a point: the first `most` changes.
    /// Of several changes of an entity at one time, the last is listed, and all its notes.
    ///
    /// # Errors
    /// [`ProcessError`].
    ///
    /// # Panics
    /// If there is no such point.
    pub fn trace(&self, study: &Study, point: usize, most: usize) -> Result<Vec<Change>, ProcessError> {
        let [_, until] = self.times(study)?;
        let noting = self.noting(u32::try_from(most).unwrap_or(u32::MAX).clamp(1, 1 << 24))?;
        match noting.program().size {
            Size::Small => Course::<Small>::new(&noting, study, point, until)?.changes(most),
            Size::Medium => Course::<Medium>::new(&noting, study, point, until)?.changes(most),
            Size::Large => Course::<Large>::new(&noting, study, point, until)?.changes(most),
        }
    }

    /// Who holds which units of resources in the first replication of a study at a point, between
    /// two times: at most about `most` holdings, and an earlier end where there are more.
    ///
    /// # Errors
    /// [`ProcessError`].
    ///
    /// # Panics
    /// If there is no such point.
    pub fn occupation(
        &self,
        study: &Study,
        point: usize,
        [from, until]: [f64; 2],
        most: usize,
    ) -> Result<Occupation, ProcessError> {
        let [_, end] = self.times(study)?;
        match self.program().size {
            Size::Small => Course::<Small>::new(self, study, point, end)?.occupation(from, until, most),
            Size::Medium => Course::<Medium>::new(self, study, point, end)?.occupation(from, until, most),
            Size::Large => Course::<Large>::new(self, study, point, end)?.occupation(from, until, most),
        }
    }

    /// The names of all measures, in the order of results.
    pub fn measures(&self) -> Vec<String> {
        Measures::new(self.program(), Ticks::ZERO, Ticks::new(1)).names()
    }

    /// The units of all measures, in the same order: none for shares and numbers.
    pub fn units(&self) -> Vec<Option<String>> {
        let measures = Measures::new(self.program(), Ticks::ZERO, Ticks::new(1));
        measures.names().iter().map(|name| measures.unit(name, &self.model().unit)).collect()
    }
}

impl<'r, W> StudyRun<'r, W> {
    /// Where to run. Default: [`Backend::Cpu`], with the model as machine code on all cores.
    pub fn backend(self, backend: Backend<'r>) -> Self {
        Self { backend, ..self }
    }

    /// How a device runs the replications. By default, [`Mapping::Auto`](crate::pdes::Mapping),
    /// each is an invocation without the general engine; other mappings use that engine. Results
    /// are the same bits. (The library sets [`EngineOptions::outputs`] itself.)
    pub fn options(self, options: EngineOptions) -> Self {
        Self { options, ..self }
    }

    /// Makes the replications of the study from this one on, without a stopping rule.
    pub(super) fn with_first(self, first: u32) -> Self {
        Self { first, ..self }
    }

    /// Resumes a saved study, with the results of an uninterrupted one.
    pub fn resume(self, from: impl Into<Option<&'r SavedStudy>>) -> Self {
        Self { from: from.into(), ..self }
    }

    /// Saves the study at its end, when it is stopped, and at intervals. Replications then run in
    /// parts that take about as long as an interval.
    pub fn save(self, to: impl Into<Option<Autosave<'r>>>) -> Self {
        Self { to: to.into(), ..self }
    }

    /// Calls `watch` with the number of replications that have ended, of all points, and of events
    /// executed. Where it returns [`ControlFlow::Break`](std::ops::ControlFlow), the results are of
    /// the first replications, the same for all points.
    pub fn watch<V: Verdict, F: FnMut(usize, u64) -> V + Send>(self, watch: F) -> StudyRun<'r, F> {
        let Self { compiled, study, backend, options, first, from, to, .. } = self;
        StudyRun { compiled, study, backend, options, first, from, to, watch }
    }
}

impl<V: Verdict, W: FnMut(usize, u64) -> V + Send> StudyRun<'_, W> {
    /// Makes the replications.
    ///
    /// # Errors
    /// [`ProcessError`]: a fault of a statement, a deadlock and too many entities name the
    /// replication. A saved study of something else, and a place at which nothing can be saved, are
    /// [`SimulationError::Checkpoint`].
    #[cfg(not(target_arch = "wasm32"))]
    pub fn run(self) -> Result<StudyResults, ProcessError> {
        pollster::block_on(self.run_async())
    }

    /// [`StudyRun::run`] without blocking, except on the CPU.
    ///
    /// # Errors
    /// As [`StudyRun::run`].
    pub async fn run_async(self) -> Result<StudyResults, ProcessError> {
        match self.compiled.program().size {
            Size::Small => self.replicate::<Small>().await,
            Size::Medium => self.replicate::<Medium>().await,
            Size::Large => self.replicate::<Large>().await,
        }
    }

    /// Selects the point with the largest mean of a measure (the smallest, if `selection` says so),
    /// with the guarantee of [`Selection`]. Points that are clearly worse get no more replications.
    ///
    /// # Errors
    /// As [`StudyRun::run`], and [`ProcessError::Measure`].
    #[cfg(not(target_arch = "wasm32"))]
    pub fn select(self, selection: &Selection, measure: &str) -> Result<StudyResults, ProcessError> {
        self.best(Goal::Select(selection), measure)
    }

    /// Selects the point with the largest mean of a measure (the smallest, if `allocation` says so)
    /// with a budget of replications.
    ///
    /// # Errors
    /// As [`StudyRun::select`].
    #[cfg(not(target_arch = "wasm32"))]
    pub fn allocate(self, allocation: &Allocation, measure: &str) -> Result<StudyResults, ProcessError> {
        self.best(Goal::Allocate(allocation), measure)
    }

    #[cfg(not(target_arch = "wasm32"))]
    fn best(self, goal: Goal<'_>, measure: &str) -> Result<StudyResults, ProcessError> {
        match self.compiled.program().size {
            Size::Small => self.selected::<Small>(goal, measure),
            Size::Medium => self.selected::<Medium>(goal, measure),
            Size::Large => self.selected::<Large>(goal, measure),
        }
    }

    /// Makes the same replications of some points, and nothing else: for searches.
    ///
    /// # Errors
    /// As [`StudyRun::run`].
    ///
    /// # Panics
    /// If there is no such point, or none at all.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn observe(self, points: &[usize], range: Range<u32>) -> Result<Vec<Observations>, ProcessError> {
        match self.compiled.program().size {
            Size::Small => self.observed::<Small>(points, range),
            Size::Medium => self.observed::<Medium>(points, range),
            Size::Large => self.observed::<Large>(points, range),
        }
    }

    #[cfg(not(target_arch = "wasm32"))]
    fn observed<S: Sized3>(
        self,
        points: &[usize],
        range: Range<u32>,
    ) -> Result<Vec<Observations>, ProcessError> {
        let Self { compiled, study, backend, options, mut watch, .. } = self;
        let times = compiled.times(study)?;
        let mut replications = Replications::<S>::new(compiled, study, backend, options, times);
        let watch: WatchRuns<'_> = &mut |runs, events| watch(runs, events).flow();
        whole(pollster::block_on(replications.observe(points, range.clone(), watch))?, &range)
    }

    async fn replicate<S: Sized3>(self) -> Result<StudyResults, ProcessError> {
        let Self { compiled, study, backend, options, first, from, to, mut watch } = self;
        let begun = Instant::now();
        let times = compiled.times(study)?;
        let replications = Replications::<S>::new(compiled, study, backend, options, times);
        let mut replications = replications.with_files(from, to)?;
        let watch: WatchRuns<'_> = &mut |runs, events| watch(runs, events).flow();
        let all: Vec<usize> = (0..compiled.design().len()).collect();
        let Some(stopping) = &study.stopping else {
            let observations = replications.observe(&all, first..study.replications, watch).await?;
            let unsaved = replications.last()?;
            let results = StudyResults::new(compiled, study, &replications, observations, begun);
            let is_short = replications.done.stopped && results.replications < study.replications as usize;
            let decisions = if is_short { vec![Decision::Stopped; all.len()] } else { Vec::new() };
            return Ok(StudyResults { decisions, unsaved, ..results });
        };
        let deciding = replications.measures.deciding();
        if deciding.is_empty() {
            return Err(ProcessError::Unsupported {
                place: super::ir::Place::default(),
                what: "a precision of a model that measures nothing".to_owned(),
                remedy: "add a tally, a count or a resource",
            });
        }
        let deciding: Vec<_> = deciding.iter().map(String::as_str).collect();
        let run = async |range: Range<u32>| {
            let (first, before) = (range.start, replications.done.events);
            match replications.observe(&all, range, watch).await {
                Ok(observations) => {
                    let events = replications.done.events.wrapping_sub(before);
                    Ok(Some(Round { observations, fingerprint: 0, events }))
                }
                Err(ProcessError::Simulation(SimulationError::Stopped)) if first > 0 => Ok(None),
                Err(error) => Err(error),
            }
        };
        let found = Sequential::run(stopping, Pairing::Independent, &deciding, run).await?;
        let unsaved = replications.last()?;
        let results = StudyResults::new(compiled, study, &replications, found.observations, begun);
        Ok(StudyResults { decisions: found.decisions, unsaved, ..results })
    }

    #[cfg(not(target_arch = "wasm32"))]
    fn selected<S: Sized3>(self, goal: Goal<'_>, measure: &str) -> Result<StudyResults, ProcessError> {
        let Self { compiled, study, backend, options, from, to, mut watch, .. } = self;
        if from.is_some() || to.is_some() {
            return Err(ProcessError::Setting {
                place: Place::default(),
                what: "a study that selects the best".to_owned(),
                value: "saved or resumed".to_owned(),
                remedy: "run it from its begin to its end, or run a study of all points".to_owned(),
            });
        }
        let begun = Instant::now();
        let known = compiled.measures();
        if !known.iter().any(|name| name == measure) {
            return Err(ProcessError::Measure { name: measure.to_owned(), known });
        }
        let times = compiled.times(study)?;
        let mut replications = Replications::<S>::new(compiled, study, backend, options, times);
        let watch: WatchRuns<'_> = &mut |runs, events| watch(runs, events).flow();
        let experiment = replications.experiment().clone();
        let mut partial = Partial::new(compiled.design().len());
        let mut observe = |points: &[usize], range: Range<u32>| {
            let made = pollster::block_on(replications.observe(points, range.clone(), &mut *watch))?;
            points.iter().zip(&made).try_for_each(|(&point, made)| partial.add(point, made.clone()))?;
            whole(made, &range)
        };
        let found = match goal {
            Goal::Select(selection) => {
                let found = selection.run(&experiment, measure, |some, range| {
                    observe(&compiled.design().numbers_of(&some.design), range)
                });
                found.map(|found| (found.observations.clone(), Some(found), None))
            }
            Goal::Allocate(allocation) => {
                let found = allocation.run(compiled.design().len(), measure, observe);
                found.map(|found| (found.observations.clone(), None, Some(found)))
            }
        };
        match found {
            Ok((observations, selected, allocated)) => {
                let results = StudyResults::new(compiled, study, &replications, observations, begun);
                Ok(StudyResults { selected, allocated, ..results })
            }
            Err(ProcessError::Simulation(SimulationError::Stopped)) => {
                let stopped = partial.stopped(compiled.design(), Some("the best point"));
                let Some(mut stopped) = stopped else { return Err(SimulationError::Stopped.into()) };
                let observations = std::mem::take(&mut stopped.observations);
                let results = StudyResults::new(compiled, study, &replications, observations, begun);
                Ok(results.of_points(stopped.design, &stopped.points, stopped.missing))
            }
            Err(error) => Err(error),
        }
    }
}

/// How the best point is selected.
#[cfg(not(target_arch = "wasm32"))]
#[derive(Clone, Copy)]
enum Goal<'g> {
    Select(&'g Selection),
    Allocate(&'g Allocation),
}

/// All replications of a range; a part of a round cannot be compared.
#[cfg(not(target_arch = "wasm32"))]
fn whole(made: Vec<Observations>, range: &Range<u32>) -> Result<Vec<Observations>, ProcessError> {
    match made.iter().all(|made| made.replications() == range.len()) {
        true => Ok(made),
        false => Err(SimulationError::Stopped.into()),
    }
}

impl<W> std::fmt::Debug for StudyRun<'_, W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { study, backend, options, .. } = self;
        let mut run = f.debug_struct("StudyRun");
        run.field("study", study).field("backend", backend).field("options", options).finish_non_exhaustive()
    }
}
