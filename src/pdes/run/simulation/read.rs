//! Reads a run between windows: states, LP memory, pending events, the fingerprint, results.

#[cfg(doc)]
use crate::gpu::GpuError;
use crate::time::Ticks;

use super::Simulation;
use crate::pdes::contract::error::{Fault, FaultKind, SimulationError};
use crate::pdes::contract::limits::check_time;
use crate::pdes::device::control::DIGEST_CUT;
use crate::pdes::device::results::Results;
use crate::pdes::device::transfer;
use crate::pdes::{Fingerprint, Model, Outputs, Pending, Totals};

impl<M: Model> Simulation<M> {
    /// The LPs' states, by LP.
    ///
    /// # Errors
    /// A [`Fault`] of the run, or a device error.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn states(&self) -> Result<Vec<M::State>, SimulationError> {
        pollster::block_on(self.states_async())
    }

    /// [`Simulation::states`] without blocking.
    ///
    /// # Errors
    /// As [`Simulation::states`].
    pub async fn states_async(&self) -> Result<Vec<M::State>, SimulationError> {
        self.progress_async().await?;
        Ok(self.memory.states.read_range(&self.gpu, 0, self.memory.states.len()).await?)
    }

    /// The rows of LP memory, LP by LP; each has [`Model::memory_rows`].
    ///
    /// # Errors
    /// A [`Fault`] of the run, or a device error.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn memory(&self) -> Result<Vec<[u32; 4]>, SimulationError> {
        pollster::block_on(self.memory_async())
    }

    /// [`Simulation::memory`] without blocking.
    ///
    /// # Errors
    /// As [`Simulation::memory`].
    pub async fn memory_async(&self) -> Result<Vec<[u32; 4]>, SimulationError> {
        self.progress_async().await?;
        self.memory.lp_memory(&self.gpu).await
    }

    /// The buffer of the LPs' states, one after the other, to bind in an application's own passes.
    /// Its size is rounded up to 16 bytes: `arrayLength` may exceed the number of LPs.
    pub fn states_buffer(&self) -> &wgpu::Buffer {
        self.memory.states.raw()
    }

    /// The events still pending, by LP and then in order.
    ///
    /// # Errors
    /// A [`Fault`] of the run, or a device error.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn pending(&self) -> Result<Pending<M::Payload>, SimulationError> {
        pollster::block_on(self.pending_async())
    }

    /// [`Simulation::pending`] without blocking.
    ///
    /// # Errors
    /// As [`Simulation::pending`].
    pub async fn pending_async(&self) -> Result<Pending<M::Payload>, SimulationError> {
        self.progress_async().await?;
        let exported =
            transfer::export(&self.gpu, &self.recipes(self.strategy, &self.memory.cut), &self.memory).await?;
        // The driver may have ended loops of the export.
        self.progress_async().await?;
        Ok(exported.read(&self.gpu, self.memory.run.first_lp).await?)
    }

    /// The fingerprint of the executed events, the states, LP memory and the pending events. It
    /// equals that of [`CpuSimulation`](crate::pdes::CpuSimulation) after the same run.
    ///
    /// # Errors
    /// A [`Fault`] of the run, or a device error.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn fingerprint(&self) -> Result<Fingerprint, SimulationError> {
        pollster::block_on(self.fingerprint_async())
    }

    /// [`Simulation::fingerprint`] without blocking.
    ///
    /// # Errors
    /// As [`Simulation::fingerprint`].
    pub async fn fingerprint_async(&self) -> Result<Fingerprint, SimulationError> {
        let progress = self.progress_async().await?;
        self.memory.words().write(&self.gpu, DIGEST_CUT as u64, &[0])?;
        for plan in &self.plans.digests {
            plan.submit(&self.gpu)?;
        }
        let digests = &self.memory.digests;
        let sums = digests.read_range(&self.gpu, 0, digests.len()).await?;
        let cut = self.memory.words().read_range(&self.gpu, DIGEST_CUT as u64, 1).await?[0];
        if cut != 0 {
            // The run is unaffected and can continue; this driver cannot compute its fingerprint.
            let lp = self.memory.run.first_lp + cut - 1;
            return Err(Fault { kind: FaultKind::LoopsCut, lp, window: progress.windows, needed: 0 }.into());
        }
        Ok(Fingerprint(sums.into_iter().fold(0, u64::wrapping_add)))
    }

    /// The outputs of all LPs at the time `at`: the model's `fn output`, applied to the state and
    /// LP memory of each. `at` is the value of `now()` in it, for example the end of the last run.
    ///
    /// The kernel is built at the first call. The run is unchanged.
    ///
    /// # Errors
    /// [`SimulationError::NoOutput`] for a model without results; [`SimulationError::ResultTime`]
    /// for [`Ticks::NEVER`], and for a time before the stop time of an earlier run; a [`Fault`] of
    /// the run; [`SimulationError::Output`] if `output` fails; [`GpuError::TooLarge`] if the
    /// outputs of a workgroup's LPs do not fit a binding; a device error.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn outputs(&self, at: Ticks) -> Result<Outputs<M::Output>, SimulationError> {
        pollster::block_on(self.outputs_async(at))
    }

    /// [`Simulation::outputs`] without blocking.
    ///
    /// # Errors
    /// As [`Simulation::outputs`].
    pub async fn outputs_async(&self, at: Ticks) -> Result<Outputs<M::Output>, SimulationError> {
        let results = self.results(at)?;
        self.progress_async().await?;
        Ok(Outputs {
            at,
            first_lp: self.memory.run.first_lp,
            rows: results.outputs(&self.gpu, &self.memory, at).await?,
            columns: results.columns.clone(),
        })
    }

    /// The sum, the minimum and the maximum of every column of [`Simulation::outputs`], over all
    /// LPs, and over the LPs of each class: `classes` names a column of `u32` with the class of
    /// each LP.
    ///
    /// They are computed on the device, and exact. Of the outputs only the column of classes is
    /// read back, and about 64 bytes for each column and 1,024 LPs.
    ///
    /// # Errors
    /// As [`Simulation::outputs`]; [`SimulationError::NoColumn`], [`SimulationError::Classes`] and
    /// [`SimulationError::TooManyClasses`] for the column of classes.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn totals(&self, at: Ticks, classes: Option<&str>) -> Result<Totals, SimulationError> {
        pollster::block_on(self.totals_async(at, classes))
    }

    /// [`Simulation::totals`] without blocking.
    ///
    /// # Errors
    /// As [`Simulation::totals`].
    pub async fn totals_async(&self, at: Ticks, classes: Option<&str>) -> Result<Totals, SimulationError> {
        let results = self.results(at)?;
        self.progress_async().await?;
        results.totals::<_, _, M::Output>(&self.gpu, &self.memory, at, classes).await
    }

    fn results(&self, at: Ticks) -> Result<&Results, SimulationError> {
        check_time(at, self.course.done)?;
        self.results.as_ref().ok_or_else(|| SimulationError::NoOutput { model: self.name.clone() })
    }
}
