//! A run that saves itself, described and then started.

use std::fmt;

use crate::gpu::Verdict;

use super::autosave::{Autosave, Checkpointed};
use crate::pdes::contract::simulation_run::SimulationRun;
use crate::pdes::contract::until::Progress;

/// A run that saves itself at intervals and at its end, described and not yet started:
/// [`SimulationRun::save`].
///
/// ```
/// use std::time::Duration;
///
/// use eventhorizon::models::Phold;
/// use eventhorizon::pdes::{Autosave, Checkpoint, CpuSimulation, Options, Until};
/// use eventhorizon::time::Resolution;
///
/// let seconds = Resolution::default();
/// let model = Phold::new(200, 4, 0.1, 10.0, seconds)?;
/// let mut simulation = CpuSimulation::new(&model, Options::default().seed(42))?;
///
/// let file = std::env::temp_dir().join(format!("run-{}.checkpoint", std::process::id()));
/// let autosave = Autosave::new(&file, Duration::from_secs(60));
/// let progress = simulation.until(Until::time(seconds.ticks(100.0)?)).save(autosave).run()?;
/// assert_eq!(Checkpoint::load(&file)?.progress().events, progress.events);
/// # std::fs::remove_file(&file)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "nothing runs before `run`"]
pub struct SavedRun<'a, S, W = fn(&Progress)> {
    run: SimulationRun<'a, S, W>,
    autosave: Option<Autosave<'a>>,
}

impl<'a, S: Checkpointed, W> SimulationRun<'a, S, W> {
    /// Saves the run as `autosave` says, and where it ends or is stopped; `None` saves nothing. The
    /// file is written by [`Checkpoint::save`](crate::pdes::Checkpoint::save), so there is a whole
    /// one at any time, also after a fault, a lost device, or the end of the process.
    ///
    /// For each save the run is brought to a halt between two windows, and read: choose an interval
    /// far longer than that takes. With several ranks, the first one writes the file, as often as
    /// any rank says, and the others wait for it.
    pub fn save(self, autosave: impl Into<Option<Autosave<'a>>>) -> SavedRun<'a, S, W> {
        SavedRun { run: self, autosave: autosave.into() }
    }
}

impl<'a, S, W> SavedRun<'a, S, W> {
    /// As [`SimulationRun::watch`].
    pub fn watch<V: Verdict, F: FnMut(&Progress) -> V>(self, watch: F) -> SavedRun<'a, S, F> {
        SavedRun { run: self.run.watch(watch), autosave: self.autosave }
    }
}

impl<S: Checkpointed, V: Verdict, W: FnMut(&Progress) -> V> SavedRun<'_, S, W> {
    /// Runs, and returns when the run is over and saved.
    ///
    /// # Errors
    /// As `run` of the simulation. [`SimulationError::Checkpoint`](crate::pdes::SimulationError)
    /// where nothing can be written there, before the run, and where the last file could not be
    /// written: then the simulation is at its end, and can be read, saved elsewhere and run on.
    ///
    /// With several ranks the first one has that error. The others have `HybridError::Rank` before
    /// the run, and `HybridError::Unsaved` at its end.
    pub fn run(self) -> Result<Progress, S::Error> {
        let Some(autosave) = self.autosave else { return self.run.run() };
        let (simulation, until, watch) = self.run.into_parts();
        simulation.run_and_save(until, autosave, watch)
    }
}

impl<S, W> fmt::Debug for SavedRun<'_, S, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SavedRun").field("run", &self.run).field("autosave", &self.autosave).finish()
    }
}
