//! Runs that save themselves at intervals.

use std::fmt;
use std::path::Path;

use web_time::{Duration, Instant};

use crate::gpu::Verdict;

use super::place::try_place;
use super::{Checkpoint, CheckpointError};
use crate::pdes::contract::simulation_run::RunUntil;
use crate::pdes::{Progress, SimulationError, Stop, Until};

/// Where and how often a run or a study is saved, and which function is called after a failed save.
///
/// A failed save, for example on a full disk, does not end the run or study: it continues, and
/// saves again at the next interval. Only the last save counts; the run returns its failure. Before
/// the run starts, three paths are refused: one that cannot be written, as
/// [`CheckpointError::Place`]; one with the checkpoint of another run or study, as
/// [`CheckpointError::Taken`]; and one with a later checkpoint of the same, as
/// [`CheckpointError::Ahead`].
///
/// ```
/// use std::time::Duration;
/// use eventhorizon::pdes::Autosave;
///
/// let minute = Duration::from_secs(60);
/// let autosave = Autosave::new("run.checkpoint", minute);
/// let autosave = autosave.on_failure(&|error| eprintln!("warning: {error}"));
/// ```
#[derive(Clone, Copy)]
pub struct Autosave<'a> {
    pub(crate) path: &'a Path,
    pub(crate) every: Duration,
    force: bool,
    pub(crate) failed: &'a dyn Fn(&CheckpointError),
}

impl<'a> Autosave<'a> {
    /// Saves to this file when the run ends or is stopped, and at intervals of `every`: choose one
    /// far longer than a save takes.
    pub fn new(path: &'a (impl AsRef<Path> + ?Sized), every: Duration) -> Self {
        Self { path: path.as_ref(), every, force: false, failed: &|error| log::warn!("{error}") }
    }

    /// Calls `failed` when a save before the end fails, and then not again until one succeeds.
    /// Default: a warning in the log.
    #[must_use]
    pub fn on_failure(self, failed: &'a dyn Fn(&CheckpointError)) -> Self {
        Self { failed, ..self }
    }

    /// If `true`, overwrites the checkpoint of another run or study, or a later one of the same. By
    /// default these are refused.
    #[must_use]
    pub fn force(self, force: bool) -> Self {
        Self { force, ..self }
    }

    /// Checks that the path can be written, by creating and removing a file there.
    ///
    /// # Errors
    /// [`CheckpointError::Place`].
    pub fn check(&self) -> Result<(), CheckpointError> {
        try_place(self.path)
    }

    /// [`Autosave::check`], and refuses to overwrite a checkpoint of another run or study, or a
    /// later one: `own` checks that.
    pub(crate) fn claim(
        &self,
        own: impl FnOnce(&Path) -> Result<(), CheckpointError>,
    ) -> Result<(), CheckpointError> {
        self.check()?;
        match std::fs::metadata(self.path) {
            Ok(there) if there.len() > 0 && !self.force => {
                own(self.path).map_err(|error| error.taken(self.path))
            }
            _ => Ok(()),
        }
    }
}

impl fmt::Debug for Autosave<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Autosave")
            .field("path", &self.path)
            .field("every", &self.every)
            .finish_non_exhaustive()
    }
}

/// An engine that can save its run.
pub trait Checkpointed: RunUntil<Error: From<SimulationError>> {
    /// Whether a checkpoint is of this run, at any stage.
    fn check_own(&self, saved: &Checkpoint) -> Result<(), CheckpointError>;

    /// The number of events that the run has executed, on all hosts: all hosts call this.
    fn executed(&mut self) -> Result<u64, Self::Error>;

    /// Whether a run with this number of events can be saved there without losing another
    /// checkpoint.
    fn claim(&self, autosave: &Autosave<'_>, events: u64) -> Result<(), CheckpointError> {
        autosave.claim(|path| {
            let saved = Checkpoint::load(path)?;
            self.check_own(&saved)?;
            CheckpointError::unless_ahead(saved.progress().events, events, "event")
        })
    }

    /// The same check on all hosts, before the run.
    fn may_save(&mut self, autosave: &Autosave<'_>) -> Result<(), Self::Error> {
        let events = self.executed()?;
        Ok(self.claim(autosave, events).map_err(SimulationError::from)?)
    }

    /// Writes the current run to a file. The inner error reports a failed write; after an outer
    /// error the run has failed.
    fn save(&mut self, path: &Path) -> Result<Result<(), Self::Error>, Self::Error>;

    /// The reason why a file could not be written.
    fn reason(error: &Self::Error) -> Option<&CheckpointError>;

    /// Whether a watcher has stopped the run: `here`, or, in a run on several hosts, on any host.
    fn stopped(&mut self, here: bool) -> Result<bool, Self::Error> {
        Ok(here)
    }

    /// Runs to an end, and saves the run at intervals and at the end.
    fn run_and_save<V: Verdict>(
        &mut self,
        until: Until,
        autosave: Autosave<'_>,
        mut watch: impl FnMut(&Progress) -> V,
    ) -> Result<Progress, Self::Error> {
        use std::ops::ControlFlow::{Break, Continue};
        self.may_save(&autosave)?;
        let mut failing = false;
        loop {
            let (begun, mut here) = (Instant::now(), false);
            let progress = self.run_until(until, &mut |progress| {
                here |= watch(progress).flow().is_break();
                if here || begun.elapsed() >= autosave.every { Break(()) } else { Continue(()) }
            })?;
            let stopped = self.stopped(here)?;
            let saved = self.save(autosave.path)?;
            if stopped || progress.stop != Some(Stop::Watcher) {
                return saved.map(|()| progress);
            }
            if !failing && let Some(reason) = saved.as_ref().err().and_then(Self::reason) {
                (autosave.failed)(reason);
            }
            failing = saved.is_err();
        }
    }
}

/// The reason why the file of a run on one host could not be written.
pub(crate) fn reason(error: &SimulationError) -> Option<&CheckpointError> {
    match error {
        SimulationError::Checkpoint(error) => Some(error),
        _ => None,
    }
}
