//! Runs on the device: described as all runs are, and started with or without blocking.

#[cfg(not(target_arch = "wasm32"))]
use std::ops::ControlFlow;

use crate::gpu::Verdict;

use super::Simulation;
use crate::pdes::contract::error::SimulationError;
#[cfg(not(target_arch = "wasm32"))]
use crate::pdes::contract::simulation_run::RunUntil;
use crate::pdes::contract::simulation_run::SimulationRun;
use crate::pdes::{Model, Progress, Until};

impl<M: Model> Simulation<M> {
    /// Describes a run, to be watched or saved, or started without blocking: [`SimulationRun`].
    ///
    /// ```no_run
    /// # use eventhorizon::pdes::{Model, Progress, Simulation, SimulationError, Until};
    /// # async fn example<M: Model>(simulation: &mut Simulation<M>, end: Until) -> Result<(), SimulationError> {
    /// let watch = |progress: &Progress| println!("{} events", progress.events);
    /// let progress = simulation.until(end).watch(watch).run_async().await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn until(&mut self, until: Until) -> SimulationRun<'_, Self> {
        SimulationRun::new(self, until)
    }
}

impl<M: Model, V: Verdict, W: FnMut(&Progress) -> V> SimulationRun<'_, Simulation<M>, W> {
    /// [`SimulationRun::run`] without blocking, for browsers.
    ///
    /// # Errors
    /// As `Simulation::run`.
    pub async fn run_async(self) -> Result<Progress, SimulationError> {
        let (simulation, until, watch) = self.into_parts();
        simulation.run_to(until, watch).await
    }
}

#[cfg(not(target_arch = "wasm32"))]
impl<M: Model> RunUntil for Simulation<M> {
    type Error = SimulationError;

    fn run_until(
        &mut self,
        until: Until,
        watch: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
    ) -> Result<Progress, SimulationError> {
        pollster::block_on(self.run_to(until, watch))
    }
}

/// A run may be moved to another thread, as executors do.
#[cfg(test)]
const _: fn(&mut Simulation<crate::models::Phold>) = |simulation| {
    fn is_send(_: impl Send) {}
    is_send(simulation.until(Until::EMPTY).watch(|_| {}).run_async());
};
