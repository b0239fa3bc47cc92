//! A run of a simulation: where it ends and who watches it, described and then started.

use std::fmt;
use std::ops::ControlFlow;

use crate::gpu::Verdict;

use super::until::{Progress, Until};

/// A simulation that can run. The call returns when the run is over.
pub trait RunUntil {
    /// What can go wrong.
    type Error;

    /// Runs to an end, or until the watcher stops it.
    fn run_until(
        &mut self,
        until: Until,
        watch: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
    ) -> Result<Progress, Self::Error>;
}

/// A run that is described and not yet started. The same for all simulations:
/// [`Simulation::until`](crate::pdes::Simulation::until),
/// [`CpuSimulation::until`](crate::pdes::CpuSimulation::until), and `until` of `Simulation` and
/// `GpuPart` in `hybrid`.
///
/// ```
/// use std::ops::ControlFlow;
///
/// use eventhorizon::models::Phold;
/// use eventhorizon::pdes::{CpuSimulation, Options, Until};
/// use eventhorizon::time::Resolution;
///
/// let seconds = Resolution::default();
/// let model = Phold::new(200, 4, 0.1, 10.0, seconds)?;
/// let mut simulation = CpuSimulation::new(&model, Options::default().seed(42))?;
///
/// let end = Until::time(seconds.ticks(100.0)?);
/// let enough = |events| if events < 1_000_000 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) };
/// let progress = simulation.until(end).watch(|progress| enough(progress.events)).run()?;
/// assert!(progress.now >= end.time);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "nothing runs before `run` or `run_async`"]
pub struct SimulationRun<'a, S, W = fn(&Progress)> {
    simulation: &'a mut S,
    until: Until,
    watch: W,
}

impl<'a, S> SimulationRun<'a, S> {
    pub(crate) fn new(simulation: &'a mut S, until: Until) -> Self {
        Self { simulation, until, watch: |_| {} }
    }
}

impl<'a, S, W> SimulationRun<'a, S, W> {
    /// Calls `watch` with the progress about 30 times a second, after a window. Where it returns
    /// [`ControlFlow::Break`], the run ends after the windows that are submitted, by
    /// [`Stop::Watcher`](crate::pdes::Stop::Watcher), and a later run continues from there.
    ///
    /// With several ranks, each watches its own events, and a break on any rank ends the run on
    /// all.
    pub fn watch<V: Verdict, F: FnMut(&Progress) -> V>(self, watch: F) -> SimulationRun<'a, S, F> {
        SimulationRun { simulation: self.simulation, until: self.until, watch }
    }

    /// The simulation, the end and the watcher.
    pub(in crate::pdes) fn into_parts(self) -> (&'a mut S, Until, W) {
        (self.simulation, self.until, self.watch)
    }
}

impl<S: RunUntil, V: Verdict, W: FnMut(&Progress) -> V> SimulationRun<'_, S, W> {
    /// Runs, and returns when the run is over.
    ///
    /// # Errors
    /// As `run` of the simulation.
    pub fn run(self) -> Result<Progress, S::Error> {
        let Self { simulation, until, mut watch } = self;
        simulation.run_until(until, &mut |progress| watch(progress).flow())
    }
}

impl<S, W> fmt::Debug for SimulationRun<'_, S, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SimulationRun").field("until", &self.until).finish_non_exhaustive()
    }
}
