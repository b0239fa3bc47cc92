//! Descriptions of runs of a network.

use std::fmt;

use super::{Facility, FacilityError, Follow, Report, Share, Study, StudyAutosave, Visit};
use crate::Backend;
use crate::gpu::Verdict;
use crate::pdes::{EngineOptions, Progress};

/// Replications of a network, which [`run`](Self::run) or [`run_async`](Self::run_async) starts:
/// made by [`Facility::study`].
///
/// ```
/// use eventhorizon::Backend;
/// use eventhorizon::facility::{Distribution, Network, Source, Station, Study};
/// use eventhorizon::gpu::Gpu;
///
/// let network = Network::new("M/M/1")
///     .source("arrivals", Source::new(Distribution::Exponential(1.25), "server"))
///     .station("server", Station::new(Distribution::Exponential(1.0), "out"))
///     .sink("out");
/// let (facility, study) = (network.compile()?, Study::new(16, 100.0, 10.0));
/// let gpu = Gpu::new()?;
/// let mut events = 0;
/// let on_gpu = facility.study(&study).backend(Backend::Gpu(&gpu)).watch(|_, done| events = done).run()?;
/// assert_eq!(events, on_gpu.events);
/// assert_eq!(facility.study(&study).run()?.fingerprint, on_gpu.fingerprint);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "a run starts with `run` or `run_async`"]
pub struct StudyRun<'r, W = fn(usize, u64)> {
    pub(super) facility: &'r Facility,
    pub(super) study: &'r Study,
    pub(super) shares: &'r [Share],
    pub(super) backend: Backend<'r>,
    pub(super) options: EngineOptions,
    pub(super) autosave: StudyAutosave<'r>,
    /// The first replication.
    pub(super) first: u32,
    pub(super) watch: W,
}

/// One long run of a network, which [`run`](Self::run) or [`run_async`](Self::run_async) starts:
/// made by [`Facility::long_run`].
///
/// ```
/// use eventhorizon::facility::{Distribution, Network, Source, Station, Study};
///
/// let network = Network::new("M/M/1")
///     .source("arrivals", Source::new(Distribution::Exponential(1.25), "server"))
///     .station("server", Station::new(Distribution::Exponential(1.0), "out"))
///     .sink("out");
/// let report = network.compile()?.long_run(&Study::new(1, 10_000.0, 200.0), 20).run()?;
/// println!("{report}");
/// # Ok::<(), eventhorizon::facility::FacilityError>(())
/// ```
#[must_use = "a run starts with `run` or `run_async`"]
pub struct LongRun<'r, W = fn(&Progress)> {
    pub(super) facility: &'r Facility,
    pub(super) study: &'r Study,
    pub(super) batches: usize,
    pub(super) backend: Backend<'r>,
    pub(super) autosave: StudyAutosave<'r>,
    pub(super) watch: W,
}

/// A run that follows customers, which [`run`](Self::run) or [`run_async`](Self::run_async) starts:
/// made by [`Facility::trace`].
///
/// ```
/// use eventhorizon::facility::{Distribution, Follow, Network, Source, Station, Study};
///
/// let network = Network::new("D/D/1")
///     .source("arrivals", Source::new(Distribution::Constant(2.0), "server"))
///     .station("server", Station::new(Distribution::Constant(1.0), "out"))
///     .sink("out");
/// let visits = network.compile()?.trace(&Study::new(1, 10.0, 0.0), Follow::first(1)).run()?;
/// assert_eq!((visits[0].node.as_str(), visits[0].arrived, visits[0].left), ("server", 2.0, Some(3.0)));
/// # Ok::<(), eventhorizon::facility::FacilityError>(())
/// ```
#[derive(Debug)]
#[must_use = "a run starts with `run` or `run_async`"]
pub struct TraceRun<'r> {
    pub(super) facility: &'r Facility,
    pub(super) study: &'r Study,
    pub(super) follow: Follow,
    pub(super) backend: Backend<'r>,
}

impl<'r> TraceRun<'r> {
    /// Where to run. Default: [`Backend::Cpu`].
    pub fn backend(self, backend: Backend<'r>) -> Self {
        Self { backend, ..self }
    }

    /// Makes the run.
    ///
    /// # Errors
    /// As [`StudyRun::run`]; [`FacilityError::Setting`] for no customers, or more than 65,535, and
    /// for runs of 2^47 ticks or more.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn run(self) -> Result<Vec<Visit>, FacilityError> {
        pollster::block_on(self.run_async())
    }

    /// [`TraceRun::run`] without blocking, except on the CPU.
    ///
    /// # Errors
    /// As [`TraceRun::run`].
    pub async fn run_async(self) -> Result<Vec<Visit>, FacilityError> {
        self.facility.followed(self).await
    }
}

impl<'r> StudyRun<'r> {
    pub(super) fn new(facility: &'r Facility, study: &'r Study) -> Self {
        let (backend, options) = (Backend::default(), EngineOptions::default());
        let autosave = StudyAutosave::default();
        Self { facility, study, shares: &[], backend, options, autosave, first: 0, watch: |_, _| {} }
    }
}

impl<'r, W> StudyRun<'r, W> {
    /// Where to run. Default: [`Backend::Cpu`].
    pub fn backend(self, backend: Backend<'r>) -> Self {
        Self { backend, ..self }
    }

    /// How a device runs the replications. (The library sets [`EngineOptions::outputs`] itself.)
    pub fn options(self, options: EngineOptions) -> Self {
        Self { options, ..self }
    }

    /// Reports these shares of times, too. They need the memory of [`Study::details`], and such a
    /// study is not saved.
    pub fn shares(self, shares: &'r [Share]) -> Self {
        Self { shares, ..self }
    }

    /// Saves the study, or continues one that was saved. Of the report, `seconds` are those since
    /// then. A save that fails later ends nothing: see [`Autosave`](crate::pdes::Autosave) and
    /// [`Report::unsaved`].
    pub fn save(self, autosave: StudyAutosave<'r>) -> Self {
        Self { autosave, ..self }
    }

    /// Skips the first replications: the report is of number `first` up to [`Study::replications`].
    /// A saved study and a precision begin at 0.
    pub fn from_replication(self, first: u32) -> Self {
        Self { first, ..self }
    }

    /// Calls `watch` with the number of replications that have ended and of events executed. Where
    /// it returns [`ControlFlow::Break`](std::ops::ControlFlow), the report is of the replications
    /// that have ended.
    pub fn watch<V: Verdict, F: FnMut(usize, u64) -> V>(self, watch: F) -> StudyRun<'r, F> {
        let Self { facility, study, shares, backend, options, autosave, first, .. } = self;
        StudyRun { facility, study, shares, backend, options, autosave, first, watch }
    }
}

impl<V: Verdict, W: FnMut(usize, u64) -> V> StudyRun<'_, W> {
    /// Makes the replications.
    ///
    /// # Errors
    /// [`FacilityError`], with the node; [`CheckpointError`](crate::pdes::CheckpointError) of
    /// another study, and where nothing can be written.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn run(self) -> Result<Report, FacilityError> {
        pollster::block_on(self.run_async())
    }

    /// [`StudyRun::run`] without blocking, except on the CPU.
    ///
    /// # Errors
    /// As [`StudyRun::run`].
    pub async fn run_async(self) -> Result<Report, FacilityError> {
        self.facility.replicate(self).await
    }
}

impl<'r> LongRun<'r> {
    pub(super) fn new(facility: &'r Facility, study: &'r Study, batches: usize) -> Self {
        let (backend, autosave) = (Backend::default(), StudyAutosave::default());
        Self { facility, study, batches, backend, autosave, watch: |_| {} }
    }
}

impl<'r, W> LongRun<'r, W> {
    /// Where to run. Default: [`Backend::Cpu`].
    pub fn backend(self, backend: Backend<'r>) -> Self {
        Self { backend, ..self }
    }

    /// Saves the run, or continues one that was saved. Of the report, `seconds` are those since
    /// then.
    pub fn save(self, autosave: StudyAutosave<'r>) -> Self {
        Self { autosave, ..self }
    }

    /// Calls `watch` with the progress of the run. Where it returns
    /// [`ControlFlow::Break`](std::ops::ControlFlow), there is no report, for a part of the batches
    /// has none; but a file to continue from, if the run is saved.
    pub fn watch<V: Verdict, F: FnMut(&Progress) -> V>(self, watch: F) -> LongRun<'r, F> {
        let Self { facility, study, batches, backend, autosave, .. } = self;
        LongRun { facility, study, batches, backend, autosave, watch }
    }
}

impl<V: Verdict, W: FnMut(&Progress) -> V> LongRun<'_, W> {
    /// Makes the run.
    ///
    /// # Errors
    /// As [`StudyRun::run`]; [`AnalysisError::Setting`](crate::statistics::AnalysisError::Setting)
    /// for fewer than 8 batches;
    /// [`SimulationError::Stopped`](crate::pdes::SimulationError::Stopped) where the watcher stops
    /// it, or the error of a run that was stopped and could not be saved.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn run(self) -> Result<Report, FacilityError> {
        pollster::block_on(self.run_async())
    }

    /// [`LongRun::run`] without blocking, except on the CPU.
    ///
    /// # Errors
    /// As [`LongRun::run`].
    pub async fn run_async(self) -> Result<Report, FacilityError> {
        self.facility.run_long(self).await
    }
}

impl<W> fmt::Debug for StudyRun<'_, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { study, backend, options, .. } = self;
        let mut run = f.debug_struct("StudyRun");
        run.field("study", study).field("backend", backend).field("options", options).finish_non_exhaustive()
    }
}

impl<W> fmt::Debug for LongRun<'_, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { study, batches, backend, .. } = self;
        let mut run = f.debug_struct("LongRun");
        run.field("study", study).field("batches", batches).field("backend", backend).finish_non_exhaustive()
    }
}
