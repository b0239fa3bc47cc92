//! The description of a run of an experiment.

use std::fmt;
#[cfg(doc)]
use std::ops::ControlFlow;
use std::ops::Range;

use super::results::some;
use super::{CpuEngine, Engine, Experiment, Model, ReplicationError, Results, Sequential, Stopping};
use crate::gpu::Verdict;

/// A run of an experiment, which [`run`](Self::run) or `run_async` starts. `E` is the engine.
///
/// ```
/// use std::ops::ControlFlow;
///
/// use eventhorizon::models::Mm1;
/// use eventhorizon::replication::{CpuEngine, Design, Experiment, Options};
///
/// let model = Mm1::default();
/// let engine = CpuEngine::new(model, Options::default())?;
/// let params = model.params(0.8, 1.0, 100)?;
/// let experiment = Experiment::new(Design::default(), 1000, 1);
/// // Replications 10 to 19; the others are the same whether these are run or not.
/// let part = engine.experiment(&params, &experiment).range(10..20).run()?;
/// assert_eq!(part.outputs.len(), 10);
/// // Stop as soon as 100 replications have ended.
/// let watch = |ended| if ended < 100 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) };
/// let some = engine.experiment(&params, &experiment).watch(watch).run()?;
/// assert!(some.outputs.len() >= 100);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "a run starts with `run` or `run_async`"]
pub struct ExperimentRun<'r, E, P, W = fn(u64)> {
    engine: E,
    params: &'r P,
    experiment: &'r Experiment,
    range: Option<Range<u32>>,
    watch: Option<W>,
}

/// A run of more and more replications until results are precise, which [`run`](Self::run) or
/// `run_async` starts: made by [`ExperimentRun::precision`].
///
/// ```
/// use eventhorizon::models::Mm1;
/// use eventhorizon::replication::{
///     Budget, CpuEngine, Design, Experiment, Options, Precision, Stopping,
/// };
///
/// let model = Mm1::default();
/// let engine = CpuEngine::new(model, Options::default())?;
/// let params = model.params(0.8, 1.0, 100)?;
/// let experiment = Experiment::new(Design::default(), 1, 1);
/// let budget = Budget { replications: Some(10_000), ..Budget::default() };
/// let stopping = Stopping::new(Precision::relative(0.05), budget);
/// let run = engine.experiment(&params, &experiment).precision(&stopping, &["time_in_queue"]).run()?;
/// println!("{:?} after {} replications", run.decisions[0], run.observations[0].replications());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "a run starts with `run` or `run_async`"]
pub struct SequentialRun<'r, E, P, W = fn(u64)> {
    run: ExperimentRun<'r, E, P, W>,
    stopping: &'r Stopping,
    columns: &'r [&'r str],
}

impl<M: Model> Engine<M> {
    /// Runs all of an experiment: `experiment(params, experiment).run()`.
    ///
    /// # Errors
    /// As [`ExperimentRun::run`].
    #[cfg(not(target_arch = "wasm32"))]
    pub fn run(
        &mut self,
        params: &M::Params,
        experiment: &Experiment,
    ) -> Result<Results<M::Output>, ReplicationError> {
        self.experiment(params, experiment).run()
    }

    /// Describes a run of an experiment. Parameters that are no factor of its design are those of
    /// `params`.
    pub fn experiment<'r>(
        &'r mut self,
        params: &'r M::Params,
        experiment: &'r Experiment,
    ) -> ExperimentRun<'r, &'r mut Self, M::Params> {
        ExperimentRun::new(self, params, experiment)
    }
}

impl<M: Model + Sync> CpuEngine<M> {
    /// Runs all of an experiment: `experiment(params, experiment).run()`.
    ///
    /// # Errors
    /// As [`ExperimentRun::run`].
    pub fn run(
        &self,
        params: &M::Params,
        experiment: &Experiment,
    ) -> Result<Results<M::Output>, ReplicationError> {
        self.experiment(params, experiment).run()
    }

    /// Describes a run of an experiment. Parameters that are no factor of its design are those of
    /// `params`.
    pub fn experiment<'r>(
        &'r self,
        params: &'r M::Params,
        experiment: &'r Experiment,
    ) -> ExperimentRun<'r, &'r Self, M::Params> {
        ExperimentRun::new(self, params, experiment)
    }
}

impl<'r, E, P> ExperimentRun<'r, E, P> {
    pub(super) fn new(engine: E, params: &'r P, experiment: &'r Experiment) -> Self {
        Self { engine, params, experiment, range: None, watch: None }
    }
}

impl<'r, E, P, W> ExperimentRun<'r, E, P, W> {
    /// Runs these replications of each point: the same as they are in any other range. Default: all
    /// of the experiment.
    pub fn range(self, range: Range<u32>) -> Self {
        Self { range: Some(range), ..self }
    }

    /// Calls `watch` some 30 times a second with the number of replications that have ended, of all
    /// points. Where it returns [`ControlFlow::Break`], the results are those of the first
    /// replications, the same number of each point.
    ///
    /// (Replications that are on the device then are left out: the short ones of them end first,
    /// and would bias the results.)
    pub fn watch<V: Verdict, F: FnMut(u64) -> V>(self, watch: F) -> ExperimentRun<'r, E, P, F> {
        let Self { engine, params, experiment, range, .. } = self;
        ExperimentRun { engine, params, experiment, range, watch: Some(watch) }
    }

    /// Runs more and more replications of each point until these columns are as precise as
    /// `stopping` requires, or its budget ends. The experiment's number of replications is
    /// ignored, and a range is refused.
    pub fn precision(self, stopping: &'r Stopping, columns: &'r [&'r str]) -> SequentialRun<'r, E, P, W> {
        SequentialRun { run: self, stopping, columns }
    }

    fn replications(&self) -> Range<u32> {
        self.range.clone().unwrap_or(0..self.experiment.replications)
    }
}

impl<'r, E, P, W> SequentialRun<'r, E, P, W> {
    /// As [`ExperimentRun::watch`]. Where `watch` stops the run, the decisions are
    /// [`Decision::Stopped`](super::Decision::Stopped).
    pub fn watch<V: Verdict, F: FnMut(u64) -> V>(self, watch: F) -> SequentialRun<'r, E, P, F> {
        let Self { run, stopping, columns } = self;
        SequentialRun { run: run.watch(watch), stopping, columns }
    }
}

impl<M: Model, V: Verdict, W: FnMut(u64) -> V> ExperimentRun<'_, &mut Engine<M>, M::Params, W> {
    /// Runs the replications.
    ///
    /// # Errors
    /// [`ReplicationError`] where the experiment cannot be run; [`ReplicationError::Stopped`] where
    /// the watcher stopped it before a replication of each point had ended. A replication that
    /// fails is not an error.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn run(self) -> Result<Results<M::Output>, ReplicationError> {
        pollster::block_on(self.run_async())
    }

    /// [`run`](Self::run) without blocking.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub async fn run_async(self) -> Result<Results<M::Output>, ReplicationError> {
        let replications = self.replications();
        let Self { engine, params, experiment, watch, .. } = self;
        let watch = watch.map(|mut watch| move |ended| watch(ended).flow());
        let results = engine.replicate(params, experiment, replications, watch).await?;
        results.ok_or(ReplicationError::Stopped)
    }
}

impl<M: Model, V: Verdict, W: FnMut(u64) -> V> SequentialRun<'_, &mut Engine<M>, M::Params, W> {
    /// Runs replications until the columns are precise.
    ///
    /// # Errors
    /// As [`ExperimentRun::run`], and [`AnalysisError::Setting`](super::AnalysisError::Setting)
    /// where a range was chosen.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn run(self) -> Result<Sequential, ReplicationError> {
        pollster::block_on(self.run_async())
    }

    /// [`run`](Self::run) without blocking.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub async fn run_async(self) -> Result<Sequential, ReplicationError> {
        Stopping::without_range(self.run.range.as_ref())?;
        let Self { run: ExperimentRun { engine, params, experiment, mut watch, .. }, stopping, columns } =
            self;
        let points = experiment.design.len() as u64;
        Sequential::run(stopping, experiment.pairing, columns, async |range: Range<u32>| {
            let (first, before) = (range.start, u64::from(range.start) * points);
            let watch = watch.as_mut().map(|watch| move |ended| watch(before + ended).flow());
            some(engine.replicate(params, experiment, range, watch).await?, first)
        })
        .await
    }
}

impl<M: Model + Sync, V: Verdict, W: FnMut(u64) -> V> ExperimentRun<'_, &CpuEngine<M>, M::Params, W> {
    /// Runs the replications on all cores.
    ///
    /// # Errors
    /// As on a device.
    pub fn run(self) -> Result<Results<M::Output>, ReplicationError> {
        let replications = self.replications();
        let Self { engine, params, experiment, watch, .. } = self;
        let watch = watch.map(|mut watch| move |ended| watch(ended).flow());
        engine.replicate(params, experiment, replications, watch)?.ok_or(ReplicationError::Stopped)
    }
}

impl<M: Model + Sync, V: Verdict, W: FnMut(u64) -> V> SequentialRun<'_, &CpuEngine<M>, M::Params, W> {
    /// Runs replications on all cores until the columns are precise.
    ///
    /// # Errors
    /// As on a device.
    pub fn run(self) -> Result<Sequential, ReplicationError> {
        Stopping::without_range(self.run.range.as_ref())?;
        let Self { run: ExperimentRun { engine, params, experiment, mut watch, .. }, stopping, columns } =
            self;
        let points = experiment.design.len() as u64;
        // Nothing in it waits.
        pollster::block_on(Sequential::run(
            stopping,
            experiment.pairing,
            columns,
            async |range: Range<u32>| {
                let (first, before) = (range.start, u64::from(range.start) * points);
                let watch = watch.as_mut().map(|watch| move |ended| watch(before + ended).flow());
                some(engine.replicate(params, experiment, range, watch)?, first)
            },
        ))
    }
}

impl<E, P, W> fmt::Debug for ExperimentRun<'_, E, P, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExperimentRun").field("range", &self.range).finish_non_exhaustive()
    }
}

impl<E, P, W> fmt::Debug for SequentialRun<'_, E, P, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SequentialRun").field("columns", &self.columns).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorKind;
    use crate::models::Mm1;
    use crate::replication::{Budget, Design, Options, Precision};

    #[test]
    fn a_range_of_a_run_to_a_precision_is_refused() {
        let model = Mm1::default();
        let engine = CpuEngine::new(model, Options::default()).unwrap();
        let (params, experiment) =
            (model.params(0.8, 1.0, 10).unwrap(), Experiment::new(Design::default(), 10, 1));
        let stopping = Stopping::new(Precision::relative(0.5), Budget::default());
        let run = || engine.experiment(&params, &experiment);
        let refused = run().range(3..5).precision(&stopping, &["time_in_queue"]).run().unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Usage);
        assert!(refused.to_string().contains("3..5"), "{refused}");
        assert!(run().precision(&stopping, &["time_in_queue"]).run().is_ok());
    }
}
