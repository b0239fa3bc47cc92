//! The description of a read of all pairs.

use std::fmt;

use super::{Matches, MatchingError};
use crate::gpu::Verdict;

/// A read of all pairs, which [`run`](Self::run) or [`run_async`](Self::run_async) starts: made by
/// [`Matches::pairs`].
///
/// ```
/// use eventhorizon::gpu::Gpu;
/// use eventhorizon::matching::{Algorithm, Matcher, Region};
///
/// let gpu = Gpu::new()?;
/// let matcher = Matcher::new(&gpu);
/// let sees = matcher.upload("sees", &[Region::new([0.0], [4.0])])?;
/// let stands = matcher.upload("stands", &[Region::new([1.0], [2.0]), Region::new([3.0], [6.0])])?;
/// let mut matches = matcher.find(&sees, &stands, Algorithm::Auto)?;
/// let mut read = 0;
/// let pairs = matches.pairs().watch(|pairs| read = pairs).run()?;
/// assert_eq!((pairs, read), (vec![[0, 0], [0, 1]], 2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "a run starts with `run` or `run_async`"]
pub struct PairsRun<'r, W = fn(u64)> {
    matches: &'r mut Matches,
    watch: W,
}

impl Matches {
    /// Reads all pairs back, from the first one: `pairs().run()`.
    ///
    /// # Errors
    /// As [`Matches::next_page`].
    #[cfg(not(target_arch = "wasm32"))]
    pub fn read(&mut self) -> Result<Vec<[u32; 2]>, MatchingError> {
        self.pairs().run()
    }

    /// [`Matches::read`] without blocking.
    ///
    /// # Errors
    /// As [`Matches::next_page`].
    pub async fn read_async(&mut self) -> Result<Vec<[u32; 2]>, MatchingError> {
        self.pairs().run_async().await
    }

    /// Describes a read of all pairs, from the first on.
    pub fn pairs(&mut self) -> PairsRun<'_> {
        PairsRun::new(self)
    }
}

impl<'r> PairsRun<'r> {
    pub(super) fn new(matches: &'r mut Matches) -> Self {
        Self { matches, watch: |_| {} }
    }
}

impl<'r, W> PairsRun<'r, W> {
    /// Calls `watch` after each page with the number of pairs read. Where it returns
    /// [`ControlFlow::Break`](std::ops::ControlFlow), the pairs read so far are the result, and
    /// [`Matches::next_page`] continues with the others.
    pub fn watch<V: Verdict, F: FnMut(u64) -> V>(self, watch: F) -> PairsRun<'r, F> {
        PairsRun { matches: self.matches, watch }
    }
}

impl<V: Verdict, W: FnMut(u64) -> V> PairsRun<'_, W> {
    /// Reads the pairs.
    ///
    /// # Errors
    /// As [`Matches::next_page`].
    #[cfg(not(target_arch = "wasm32"))]
    pub fn run(self) -> Result<Vec<[u32; 2]>, MatchingError> {
        pollster::block_on(self.run_async())
    }

    /// [`PairsRun::run`] without blocking.
    ///
    /// # Errors
    /// As [`Matches::next_page`].
    pub async fn run_async(self) -> Result<Vec<[u32; 2]>, MatchingError> {
        let Self { matches, mut watch } = self;
        matches.read_all(|pairs| watch(pairs).flow()).await
    }
}

impl<W> fmt::Debug for PairsRun<'_, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PairsRun").finish_non_exhaustive()
    }
}
