//! A workshop with eight kinds of job: many branches.

use bytemuck::{Pod, Zeroable};

use crate::gpu::Source;
use crate::random::{Stream, exponential_short};
use crate::replication::{Fail, Model, ReferenceModel};

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

/// The state of a replication.
#[derive(Debug, Default)]
pub struct WorkshopState {
    busy: u64,
    longest: u32,
    over: u32,
    next: u32,
}

/// The time of the next job: draws its kind first.
fn job(unit: u32, stream: &mut Stream) -> u32 {
    let exponential = |stream: &mut Stream, mean| exponential_short(stream.draw(), mean);
    match stream.draw() >> 29 {
        // Constant.
        0 => unit,
        // Uniform.
        1 => stream.below(2 * unit),
        // Exponential.
        2 => exponential(stream, unit),
        // Erlang: twelve operations, one after the other.
        3 => (0..12).map(|_| exponential(stream, unit)).sum(),
        // Triangular.
        4 => stream.below(unit) + stream.below(unit),
        // Repeated with probability 7/8, at most 40 times.
        5 => {
            let mut time = 0;
            for _ in 0..40 {
                time += stream.below(unit);
                if stream.draw() < 1 << 29 {
                    break;
                }
            }
            time
        }
        // Hyperexponential: occasionally a long one.
        6 => match stream.draw() < 1 << 28 {
            true => exponential(stream, 8 * unit),
            false => exponential(stream, unit / 2),
        },
        // The longest of a random number of parallel operations.
        _ => {
            let operations = 1 + stream.below(16);
            (0..operations).map(|_| exponential(stream, unit)).max().unwrap_or(0)
        }
    }
}

impl ReferenceModel for Workshop {
    type State = WorkshopState;

    fn start(&self, _: &WorkshopParams, _: &mut Stream) -> Result<WorkshopState, Fail> {
        Ok(WorkshopState::default())
    }

    fn step(
        &self,
        params: &WorkshopParams,
        state: &mut WorkshopState,
        stream: &mut Stream,
    ) -> Result<bool, Fail> {
        let time = job(params.operation, stream);
        state.busy += u64::from(time);
        state.longest = state.longest.max(time);
        state.over += u32::from(time > 4 * params.operation);
        state.next += 1;
        Ok(state.next < params.jobs)
    }

    fn finish(&self, _: &WorkshopParams, state: &WorkshopState) -> Result<WorkshopOutput, Fail> {
        let &WorkshopState { busy, longest, over, .. } = state;
        Ok(WorkshopOutput { busy_ticks: busy, longest_ticks: longest, long_jobs: over })
    }
}
