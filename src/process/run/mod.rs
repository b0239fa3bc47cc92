//! Replications of a program without the general engine: each is a loop of its own over its events
//! (`shaders/process/run/`), on a core or in an invocation of a device. Results have the bits of
//! [`ProcessRun`](super::ProcessRun) in `pdes`.

mod device;
mod native;

use crate::gpu::Source;
use crate::pdes::{Fault, Fingerprint};
use crate::shaders;
use crate::time::Ticks;

use super::program::Program;
pub use device::{DeviceProgram, Job, kernels};
pub use native::{NativeProgram, NativeWorker, native_sources};

shared! {
    "process/run/slice.wgsl":
    struct ProcessGiven {
        unread: u64,
        until: Ticks,
        jobs: u32,
        events: u32,
        rows: u32,
        pending: u32,
    }
}

shared! {
    "process/run/slice.wgsl":
    const SAVED_STATE: u32;
    const PROCESS_DONE: u32;
    const PROCESS_FULL: u32;
    const PROCESS_PENDING: u32;
    const PROCESS_CUT: u32;
}

/// Why a replication has no results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trouble {
    /// There are more entities than room.
    Full,
    /// A fault of the engine.
    Engine(Fault),
}

/// The results of a replication.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Made {
    /// Events executed.
    pub events: u64,
    /// The same as of a run in `pdes`.
    pub fingerprint: Fingerprint,
    /// Whether no event was pending at the end.
    pub is_empty: bool,
    /// The rows that [`Program::output_rows`] lists, then those of [`Program::histograms`].
    pub rows: Vec<[u32; 4]>,
}

/// Rows of a replication.
#[derive(Debug, Clone, Copy)]
struct Shape {
    saved: usize,
    results: usize,
}

impl Shape {
    fn of(program: &Program) -> Self {
        let saved = (SAVED_STATE + program.size.state_rows()) as usize;
        Self { saved, results: program.output_rows.len() + program.histograms.len() }
    }
}

/// The first two saved rows.
#[derive(Debug, Clone, Copy)]
struct Saved {
    status: u32,
    trouble: u32,
    events: u32,
    fingerprint: Fingerprint,
    is_empty: bool,
}

impl Saved {
    fn of(rows: [[u32; 4]; 2]) -> Self {
        let [[status, trouble, events, _], [low, high, _, is_empty]] = rows;
        let fingerprint = Fingerprint(Ticks::from_words([low, high]).get());
        Self { status, trouble, events, fingerprint, is_empty: is_empty != 0 }
    }

    fn made(self, rows: Vec<[u32; 4]>) -> Made {
        let Self { events, fingerprint, is_empty, .. } = self;
        Made { events: events.into(), fingerprint, is_empty, rows }
    }
}

/// The files of a kernel: what a program was printed as, where rows and parameters lie, and what
/// depends on integers of 64 bits.
fn files(slices: &Source, rows: &str, params: &str, int64: bool) -> Vec<Source> {
    let [before, product] = match int64 {
        true => ["process/run/before_int64.wgsl", "random/mul_wide_int64.wgsl"],
        false => ["process/run/before.wgsl", "random/mul_wide.wgsl"],
    };
    let files = ["process/run/slice.wgsl", before, rows, params, product].map(shaders::file);
    [slices.clone()].into_iter().chain(files).collect()
}
