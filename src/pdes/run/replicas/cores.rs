//! Runs on all cores, one per core at a time, with reports to a watcher.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;

use crate::pdes::contract::error::SimulationError;

/// The name of the mapping on the CPU.
pub(crate) const CORES: &str = "cores";

/// Receives the numbers of runs that ended and of executed events.
pub(crate) type WatchRuns<'w> = &'w mut (dyn FnMut(usize, u64) -> ControlFlow<()> + Send);

/// What runs report, from all cores.
pub(crate) struct Reports<'w> {
    stopped: AtomicBool,
    /// The numbers of runs and events, and the function that receives them.
    reported: Mutex<(usize, u64, WatchRuns<'w>)>,
}

impl Reports<'_> {
    /// Adds runs that ended and events that were executed.
    pub(crate) fn add(&self, runs: usize, events: u64) {
        let mut reported = self.reported.lock().unwrap_or_else(PoisonError::into_inner);
        let (all, executed, watch) = &mut *reported;
        (*all, *executed) = (*all + runs, *executed + events);
        if watch(*all, *executed).is_break() {
            self.stopped.store(true, Ordering::Relaxed);
        }
    }

    /// Whether the watcher stopped the runs.
    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// The same as an answer.
    pub(crate) fn flow(&self) -> ControlFlow<()> {
        if self.is_stopped() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// The results of all jobs; of the first ones, if `watch` stopped the others. `make` returns
/// [`SimulationError::Stopped`] for a run that it stopped. `worker` makes memory for a core.
pub(crate) fn on_cores<J: Sync, W, R: Send>(
    jobs: &[J],
    watch: WatchRuns<'_>,
    worker: impl Fn() -> W + Sync + Send,
    make: impl Fn(&mut W, &J, &Reports<'_>) -> Result<R, SimulationError> + Sync + Send,
) -> Result<Vec<R>, SimulationError> {
    let reports = Reports { stopped: AtomicBool::new(false), reported: Mutex::new((0, 0, watch)) };
    let one = |worker: &mut W, job: &J| match reports.is_stopped() {
        true => Err(SimulationError::Stopped),
        false => make(worker, job, &reports),
    };
    // In blocks, so that a stop leaves only the last runs undone.
    let mut runs = Vec::with_capacity(jobs.len());
    for block in jobs.chunks(64 * rayon::current_num_threads()) {
        // The first failed run of the block decides, whatever the order of their ends.
        let ended: Vec<_> = block.par_iter().map_init(&worker, one).collect();
        match ended.into_iter().collect::<Result<Vec<_>, _>>() {
            Ok(block) => runs.extend(block),
            Err(SimulationError::Stopped) => break,
            Err(error) => return Err(error),
        }
        if reports.is_stopped() {
            break;
        }
    }
    Ok(runs)
}
