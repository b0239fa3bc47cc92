//! Runs that save themselves while they go on.

use std::fmt;
use std::path::Path;

use web_time::{Duration, Instant};

use crate::gpu::Verdict;

use super::place::try_place;
use super::{Checkpoint, CheckpointError};
use crate::pdes::contract::simulation_run::RunUntil;
use crate::pdes::{Progress, SimulationError, Stop, Until};

/// Where and how often a run or a study is saved, and who hears of a save that failed.
///
/// A save that fails, on a full disk say, does not end what is saved: it continues, and is saved
/// again at the next interval. Only the last save counts, and its failure is in what the run
/// returns. Before the run, a place where nothing can be written is refused as
/// [`CheckpointError::Place`], one with the checkpoint of another run or study as
/// [`CheckpointError::Taken`], and one of the same that is further on as
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
    /// Saves to this file where the run ends or is stopped, and as often as `every` says: choose
    /// far longer than a save takes.
    pub fn new(path: &'a (impl AsRef<Path> + ?Sized), every: Duration) -> Self {
        Self { path: path.as_ref(), every, force: false, failed: &|error| log::warn!("{error}") }
    }

    /// Calls `failed` when a save before the end fails, and not again before one succeeds. Default:
    /// a warning in the log.
    #[must_use]
    pub fn on_failure(self, failed: &'a dyn Fn(&CheckpointError)) -> Self {
        Self { failed, ..self }
    }

    /// With `true`, overwrites the checkpoint of another run or study, or a later one of the same,
    /// which is refused otherwise.
    #[must_use]
    pub fn force(self, force: bool) -> Self {
        Self { force, ..self }
    }

    /// Whether the place can be written: makes and removes a file there.
    ///
    /// # Errors
    /// [`CheckpointError::Place`].
    pub fn check(&self) -> Result<(), CheckpointError> {
        try_place(self.path)
    }

    /// [`Autosave::check`], and refuses to overwrite a checkpoint that is not this run's or
    /// study's, or is further on: `own` checks that.
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
    /// Whether a checkpoint is of this run, however far it is.
    fn check_own(&self, saved: &Checkpoint) -> Result<(), CheckpointError>;

    /// How many events the run has executed, on all hosts: all of them call this.
    fn executed(&mut self) -> Result<u64, Self::Error>;

    /// Whether a run of this many events can be saved there, and nothing else is lost by that.
    fn claim(&self, autosave: &Autosave<'_>, events: u64) -> Result<(), CheckpointError> {
        autosave.claim(|path| {
            let saved = Checkpoint::load(path)?;
            self.check_own(&saved)?;
            CheckpointError::unless_ahead(saved.progress().events, events, "event")
        })
    }

    /// The same on all hosts, before the run.
    fn may_save(&mut self, autosave: &Autosave<'_>) -> Result<(), Self::Error> {
        let events = self.executed()?;
        Ok(self.claim(autosave, events).map_err(SimulationError::from)?)
    }

    /// Writes the run as it is to a file. The inner error says that it could not be written; after
    /// an outer one the run is over.
    fn save(&mut self, path: &Path) -> Result<Result<(), Self::Error>, Self::Error>;

    /// Why a file could not be written.
    fn reason(error: &Self::Error) -> Option<&CheckpointError>;

    /// Whether somebody who watches the run has stopped it: `here`, or, of a run with several
    /// hosts, anywhere.
    fn stopped(&mut self, here: bool) -> Result<bool, Self::Error> {
        Ok(here)
    }

    /// Runs to an end, and saves the run every so often and where it ends.
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

/// Why the file of a run alone could not be written.
pub(crate) fn reason(error: &SimulationError) -> Option<&CheckpointError> {
    match error {
        SimulationError::Checkpoint(error) => Some(error),
        _ => None,
    }
}
