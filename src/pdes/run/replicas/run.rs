//! Runs of experiments: which replications, to which precision and who watches them, described and
//! then started.

use std::fmt;
use std::ops::{ControlFlow, Range};

use crate::gpu::Verdict;
#[cfg(doc)]
use crate::statistics::AnalysisError;
use crate::statistics::{Experiment, Round, Sequential, Stopping};

use super::results::Results;
use super::{CpuEngine, Engine};
use crate::pdes::contract::error::SimulationError;
use crate::pdes::{Model, Until};

/// A run of an experiment that is described and not yet started: [`Engine::experiment`],
/// [`CpuEngine::experiment`].
///
/// ```
/// use std::convert::Infallible;
///
/// use eventhorizon::models::Phold;
/// use eventhorizon::pdes::{CpuEngine, EngineOptions, Until};
/// use eventhorizon::statistics::{Design, Experiment, Point};
/// use eventhorizon::time::Resolution;
///
/// let seconds = Resolution::default();
/// let model = Phold::new(20, 4, 0.1, 10.0, seconds)?;
/// let engine = CpuEngine::new(move |_: &Point<'_>| Ok::<_, Infallible>(model), EngineOptions::default());
///
/// let experiment = Experiment::new(Design::default(), 100, 42);
/// let end = Until::time(seconds.ticks(100.0)?);
/// let watch = |ended: usize, events: u64| println!("{ended} runs, {events} events");
/// let late = engine.experiment(&experiment, end).range(90..100).watch(watch).run()?;
/// assert_eq!(late.runs[0].len(), 10);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "nothing runs before `run` or `run_async`"]
pub struct ExperimentRun<'a, E, W = fn(usize, u64)> {
    engine: E,
    experiment: &'a Experiment,
    until: Until,
    range: Option<Range<u32>>,
    watch: W,
}

/// A run of an experiment that makes more and more replications until the means of some columns
/// are precise, described and not yet started: [`ExperimentRun::precision`].
///
/// ```
/// use std::convert::Infallible;
///
/// use eventhorizon::models::Phold;
/// use eventhorizon::pdes::{CpuEngine, EngineOptions, Until};
/// use eventhorizon::statistics::{Budget, Decision, Design, Experiment, Point, Precision, Stopping};
/// use eventhorizon::time::Resolution;
///
/// let seconds = Resolution::default();
/// let model = Phold::new(20, 4, 0.1, 10.0, seconds)?;
/// let engine = CpuEngine::new(move |_: &Point<'_>| Ok::<_, Infallible>(model), EngineOptions::default());
///
/// let experiment = Experiment::new(Design::default(), 1, 42);
/// let end = Until::time(seconds.ticks(100.0)?);
/// let stopping = Stopping::new(Precision::relative(0.05), Budget::default());
/// let found = engine.experiment(&experiment, end).precision(&stopping, &["events"]).run()?;
/// assert_eq!(found.decisions, [Decision::Reached]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "nothing runs before `run` or `run_async`"]
pub struct SequentialRun<'a, E, W = fn(usize, u64)> {
    run: ExperimentRun<'a, E, W>,
    stopping: &'a Stopping,
    columns: &'a [&'a str],
}

impl<M: Model> Engine<M> {
    /// Describes a run of an experiment, each of its runs up to the end that `until` names:
    /// [`ExperimentRun`].
    pub fn experiment<'a>(
        &'a mut self,
        experiment: &'a Experiment,
        until: Until,
    ) -> ExperimentRun<'a, &'a mut Self> {
        ExperimentRun::new(self, experiment, until)
    }
}

impl<M: Model + Sync> CpuEngine<M> {
    /// Describes a run of an experiment: see [`Engine::experiment`].
    pub fn experiment<'a>(&'a self, experiment: &'a Experiment, until: Until) -> ExperimentRun<'a, &'a Self> {
        ExperimentRun::new(self, experiment, until)
    }
}

impl<'a, E> ExperimentRun<'a, E> {
    fn new(engine: E, experiment: &'a Experiment, until: Until) -> Self {
        Self { engine, experiment, until, range: None, watch: |_, _| {} }
    }
}

impl<'a, E, W> ExperimentRun<'a, E, W> {
    /// Makes these replications of each point: the same as they are in any other range. By default
    /// all of the experiment.
    pub fn range(self, replications: Range<u32>) -> Self {
        Self { range: Some(replications), ..self }
    }

    /// Calls `watch` with the number of runs that have ended, of all points, and of events that
    /// were executed: on the GPU after each submission, on the CPU after each run. A run that
    /// overflows is repeated with more room. It counts as ended until the runs beside it have
    /// ended, and the events of both attempts count. On the CPU a thread of rayon's pool calls it,
    /// so it must not wait for other work of that pool.
    ///
    /// If `watch` returns [`ControlFlow::Break`], the results are those of the first replications,
    /// the same number for each point. Replications that shared the device with one that has not
    /// ended are left out, since the short ones end first and would bias the means.
    pub fn watch<V: Verdict, F: FnMut(usize, u64) -> V>(self, watch: F) -> ExperimentRun<'a, E, F> {
        let Self { engine, experiment, until, range, watch: _ } = self;
        ExperimentRun { engine, experiment, until, range, watch }
    }

    /// Makes as many replications as it takes until the means of these columns are as precise as
    /// `stopping` requires, or its budget is spent. The experiment's number of replications is
    /// ignored, and a range is refused.
    pub fn precision(self, stopping: &'a Stopping, columns: &'a [&'a str]) -> SequentialRun<'a, E, W> {
        SequentialRun { run: self, stopping, columns }
    }

    fn replications(&self) -> Range<u32> {
        self.range.clone().unwrap_or(0..self.experiment.replications)
    }
}

impl<M: Model, V: Verdict, W: FnMut(usize, u64) -> V> ExperimentRun<'_, &mut Engine<M>, W> {
    /// Makes the runs, and returns when all are over.
    ///
    /// # Errors
    /// As [`Engine::run`], and [`SimulationError::Stopped`] where the watcher stops it before a
    /// replication of all points has ended.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn run(self) -> Result<Results<M::Output>, SimulationError> {
        pollster::block_on(self.run_async())
    }

    /// [`ExperimentRun::run`] without blocking, for browsers.
    ///
    /// # Errors
    /// As [`ExperimentRun::run`].
    pub async fn run_async(self) -> Result<Results<M::Output>, SimulationError> {
        let replications = self.replications();
        let Self { engine, experiment, until, mut watch, .. } = self;
        let watch = &mut |ended, events| watch(ended, events).flow();
        engine.make(experiment, replications, until, watch).await
    }
}

impl<M, V, W> ExperimentRun<'_, &CpuEngine<M>, W>
where
    M: Model + Sync,
    V: Verdict,
    W: FnMut(usize, u64) -> V + Send,
{
    /// Makes the runs, and returns when all are over.
    ///
    /// # Errors
    /// As [`CpuEngine::run`], and [`SimulationError::Stopped`] where the watcher stops it before a
    /// replication of all points has ended.
    pub fn run(self) -> Result<Results<M::Output>, SimulationError> {
        let replications = self.replications();
        let Self { engine, experiment, until, mut watch, .. } = self;
        engine.make(experiment, replications, until, &mut |ended, events| watch(ended, events).flow())
    }
}

impl<'a, E, W> SequentialRun<'a, E, W> {
    /// As [`ExperimentRun::watch`], of all that was run so far. Where `watch` stops the run, the
    /// decisions are [`Decision::Stopped`](crate::statistics::Decision::Stopped).
    pub fn watch<V: Verdict, F: FnMut(usize, u64) -> V>(self, watch: F) -> SequentialRun<'a, E, F> {
        SequentialRun { run: self.run.watch(watch), stopping: self.stopping, columns: self.columns }
    }
}

impl<M: Model, V: Verdict, W: FnMut(usize, u64) -> V> SequentialRun<'_, &mut Engine<M>, W> {
    /// Makes the runs, and returns when they are precise enough, or the budget is spent.
    ///
    /// # Errors
    /// As [`ExperimentRun::run`], and [`AnalysisError::Setting`] where a range was chosen.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn run(self) -> Result<Sequential, SimulationError> {
        pollster::block_on(self.run_async())
    }

    /// [`SequentialRun::run`] without blocking, for browsers.
    ///
    /// # Errors
    /// As [`SequentialRun::run`].
    pub async fn run_async(self) -> Result<Sequential, SimulationError> {
        Stopping::without_range(self.run.range.as_ref())?;
        let Self { run: ExperimentRun { engine, experiment, until, watch, .. }, stopping, columns } = self;
        let mut rounds = Rounds::new(watch);
        Sequential::run(stopping, experiment.pairing, columns, async |range: Range<u32>| {
            let report = &mut |ended, events| rounds.report(ended, events);
            let results = engine.make(experiment, range.clone(), until, report).await;
            rounds.end(results, range.start)
        })
        .await
    }
}

impl<M, V, W> SequentialRun<'_, &CpuEngine<M>, W>
where
    M: Model + Sync,
    V: Verdict,
    W: FnMut(usize, u64) -> V + Send,
{
    /// Makes the runs, and returns when they are precise enough, or the budget is spent.
    ///
    /// # Errors
    /// As [`ExperimentRun::run`], and [`AnalysisError::Setting`] where a range was chosen.
    pub fn run(self) -> Result<Sequential, SimulationError> {
        Stopping::without_range(self.run.range.as_ref())?;
        let Self { run: ExperimentRun { engine, experiment, until, watch, .. }, stopping, columns } = self;
        let mut rounds = Rounds::new(watch);
        // Nothing in it waits.
        pollster::block_on(Sequential::run(
            stopping,
            experiment.pairing,
            columns,
            async |range: Range<u32>| {
                let report = &mut |ended, events| rounds.report(ended, events);
                let results = engine.make(experiment, range.clone(), until, report);
                rounds.end(results, range.start)
            },
        ))
    }
}

/// What the rounds of a sequential run have come to.
pub(super) struct Rounds<W> {
    watch: W,
    /// Runs and events of the rounds that have ended.
    before: (usize, u64),
    /// The same with those of the present round.
    now: (usize, u64),
}

impl<V: Verdict, W: FnMut(usize, u64) -> V> Rounds<W> {
    pub(super) fn new(watch: W) -> Self {
        Self { watch, before: (0, 0), now: (0, 0) }
    }

    /// Reports runs and events of the present round together with those before it.
    pub(super) fn report(&mut self, ended: usize, events: u64) -> ControlFlow<()> {
        self.now = (self.before.0 + ended, self.before.1 + events);
        (self.watch)(self.now.0, self.now.1).flow()
    }

    /// Ends a round, whose first replication is `first`. Returns the replications that were made
    /// until a watcher stopped them, if there are any.
    pub(super) fn end<O>(
        &mut self,
        results: Result<Results<O>, SimulationError>,
        first: u32,
    ) -> Result<Option<Round>, SimulationError> {
        self.before = self.now;
        match results {
            Ok(Results { runs, observations, fingerprint, .. }) => {
                let events = runs.iter().flatten().flatten().map(|ran| ran.progress.events).sum();
                Ok(Some(Round { observations, fingerprint, events }))
            }
            Err(SimulationError::Stopped) if first > 0 => Ok(None),
            Err(error) => Err(error),
        }
    }
}

impl<E, W> fmt::Debug for ExperimentRun<'_, E, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExperimentRun")
            .field("experiment", self.experiment)
            .field("until", &self.until)
            .field("range", &self.range)
            .finish_non_exhaustive()
    }
}

impl<E, W> fmt::Debug for SequentialRun<'_, E, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SequentialRun")
            .field("run", &self.run)
            .field("stopping", self.stopping)
            .field("columns", &self.columns)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorKind;
    use crate::models::Phold;
    use crate::pdes::EngineOptions;
    use crate::statistics::{Budget, Design, Point, Precision};
    use crate::time::Resolution;

    #[test]
    fn a_range_of_a_run_to_a_precision_is_refused() {
        let build = |_: &Point<'_>| Phold::new(8, 2, 0.1, 10.0, Resolution::default());
        let engine = CpuEngine::new(build, EngineOptions::default());
        let experiment = Experiment::new(Design::default(), 10, 1);
        let stopping = Stopping::new(Precision::relative(0.5), Budget::default());
        let run = || engine.experiment(&experiment, Until::time(Resolution::default().ticks(50.0).unwrap()));
        let refused = run().range(3..5).precision(&stopping, &["events"]).run().unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Usage);
        assert!(refused.to_string().contains("3..5"), "{refused}");
        assert!(run().precision(&stopping, &["events"]).run().is_ok());
    }
}
