//! Writers of pairs, by the algorithm that found them.

use super::MatchingError;
use super::kernels::Kernels;
use super::prepared::Ranges;
use super::tree::Tree;
use super::work::{PlacedWork, Window};
use crate::gpu::Buffer;

/// A source that can write any window of the output.
#[derive(Debug)]
pub(super) enum Source {
    /// There are no pairs.
    Nothing,
    /// Work with tasks that know their places.
    PlacedWork(PlacedWork),
    /// Ranges in which every candidate is a match.
    Ranges(Ranges),
    /// Walks through an interval tree.
    Tree(Tree),
}

impl Source {
    /// Writes a window of the pairs to the start of `pairs`.
    pub(super) async fn write(
        &self,
        kernels: &Kernels,
        window: Window,
        pairs: &Buffer<[u32; 2]>,
    ) -> Result<(), MatchingError> {
        match self {
            Self::Nothing => Ok(()),
            Self::PlacedWork(placed) => placed.write(kernels, window, pairs).await,
            Self::Ranges(ranges) => ranges.write(kernels, window, pairs).await,
            Self::Tree(tree) => tree.write(kernels, window, pairs).await,
        }
    }
}
