//! A workshop with eight kinds of job: many branches.

use bytemuck::{Pod, Zeroable};

use crate::gpu::Source;
use crate::replication::Model;

/// The largest mean of an operation in ticks.
const LONGEST: u32 = 1 << 20;

/// Jobs of eight kinds, one after the other, each with its own distribution of the time that it
/// takes.
///
/// Its branches and loops of random length make replications in lockstep wait for each other: it
/// shows when one replication per subgroup is faster. WGSL: `shaders/models/workshop.wgsl`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Workshop;

/// Factors of [`Workshop`].
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
pub struct WorkshopParams {
    /// Jobs per replication, at least 1.
    pub jobs: u32,
    /// Mean time of an operation in ticks, 1 to 2^20.
    pub operation: u32,
}

/// Columns of [`Workshop`].
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
pub struct WorkshopOutput {
    /// Time of all jobs, in ticks.
    pub busy_ticks: u64,
    /// The longest job, in ticks.
    pub longest_ticks: u32,
    /// Jobs that took more than four operations.
    pub long_jobs: u32,
}

impl Model for Workshop {
    type Params = WorkshopParams;
    type Output = WorkshopOutput;

    fn source(&self) -> Source {
        crate::wgsl!("../../shaders/models/workshop.wgsl")
    }

    fn check(&self, params: &WorkshopParams) -> Result<(), String> {
        if params.jobs == 0 {
            return Err("jobs is 0; choose at least 1".into());
        }
        match params.operation {
            1..=LONGEST => Ok(()),
            operation => Err(format!("operation is {operation} ticks; choose 1 to {LONGEST}")),
        }
    }
}
