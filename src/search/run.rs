//! The description of a run of searches.

use std::fmt;
use std::sync::TryLockError;

use super::engine::Engine;
use super::{Results, SearchError, Space};
use crate::gpu::Verdict;

/// A run of a list of searches, which [`run`](Self::run) or [`run_async`](Self::run_async) starts.
///
/// ```
/// use eventhorizon::gpu::Gpu;
/// use eventhorizon::search::{Engine, Grid, Options};
///
/// let grid = Grid::random(64, 0.1, 1)?;
/// let pairs = grid.random_searches(100, 2);
/// let engine = Engine::new(&Gpu::new()?, grid, Options::default())?;
/// let mut ended = 0;
/// let results = engine.searches(&pairs).watch(|searches| ended = searches).run()?;
/// assert_eq!((results.outcomes().len(), ended), (100, 100));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "a run starts with `run` or `run_async`"]
pub struct SearchRun<'r, S: Space, W = fn(u64)> {
    engine: &'r Engine<S>,
    pairs: &'r [(S::Cell, S::Cell)],
    watch: W,
}

impl<S: Space> Engine<S> {
    /// Runs a list of searches, (start, goal) each, to the end: `searches(pairs).run()`.
    ///
    /// # Errors
    /// As [`SearchRun::run`].
    #[cfg(not(target_arch = "wasm32"))]
    pub fn run(&self, pairs: &[(S::Cell, S::Cell)]) -> Result<Results<S::Cell>, SearchError> {
        self.searches(pairs).run()
    }

    /// Describes a run of a list of searches, (start, goal) each. Where one of them is blocked
    /// there is no path.
    pub fn searches<'r>(&'r self, pairs: &'r [(S::Cell, S::Cell)]) -> SearchRun<'r, S> {
        SearchRun::new(self, pairs)
    }
}

impl<'r, S: Space> SearchRun<'r, S> {
    pub(super) fn new(engine: &'r Engine<S>, pairs: &'r [(S::Cell, S::Cell)]) -> Self {
        Self { engine, pairs, watch: |_| {} }
    }
}

impl<'r, S: Space, W> SearchRun<'r, S, W> {
    /// Calls `watch` after each submission with the number of searches that have ended. Where it
    /// returns [`ControlFlow::Break`](std::ops::ControlFlow), the run ends with
    /// [`SearchError::Stopped`]. `watch` must not run this engine, which would wait for itself.
    pub fn watch<V: Verdict, F: FnMut(u64) -> V>(self, watch: F) -> SearchRun<'r, S, F> {
        SearchRun { engine: self.engine, pairs: self.pairs, watch }
    }
}

impl<S: Space, V: Verdict, W: FnMut(u64) -> V> SearchRun<'_, S, W> {
    /// Runs the searches to the end.
    ///
    /// # Errors
    /// [`SearchError`] where a cell is not on the map, costs leave 32 bits, a heuristic is found
    /// not to be consistent, or the device fails; [`SearchError::Stopped`].
    #[cfg(not(target_arch = "wasm32"))]
    pub fn run(self) -> Result<Results<S::Cell>, SearchError> {
        let Self { engine, pairs, mut watch } = self;
        let mut kept = engine.kept.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        pollster::block_on(engine.run_with(&mut kept, pairs, |ended| watch(ended).flow()))
    }

    /// [`SearchRun::run`] for browsers, where nothing may block.
    ///
    /// # Errors
    /// As [`SearchRun::run`], and [`SearchError::Busy`] while another run of this engine waits.
    #[expect(clippy::await_holding_lock, reason = "a second run is refused, and never waits for it")]
    pub async fn run_async(self) -> Result<Results<S::Cell>, SearchError> {
        let Self { engine, pairs, mut watch } = self;
        let mut kept = match engine.kept.try_lock() {
            Ok(kept) => kept,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return Err(SearchError::Busy),
        };
        engine.run_with(&mut kept, pairs, |ended| watch(ended).flow()).await
    }
}

impl<S: Space, W> fmt::Debug for SearchRun<'_, S, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SearchRun").field("searches", &self.pairs.len()).finish_non_exhaustive()
    }
}
