//! Device memory that is reused by the next run.

use std::fmt;

use crate::replication::batch::BatchInputs;
use crate::replication::{Batch, Model};

/// Device memory of the last run, for the next one: allocating it takes longer than a small run.
pub(super) struct CachedBatch<M: Model> {
    pub(super) given: Option<BatchInputs<M::Params>>,
    /// The contents of its buffer of points.
    pub(super) points: Vec<M::Params>,
    pub(super) batch: Option<Batch<M::Output>>,
}

impl<M: Model> Default for CachedBatch<M> {
    fn default() -> Self {
        Self { given: None, points: Vec::new(), batch: None }
    }
}

impl<M: Model> fmt::Debug for CachedBatch<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = self.batch.as_ref().map_or(0, Batch::bytes);
        f.debug_struct("Kept").field("bytes", &bytes).finish_non_exhaustive()
    }
}

/// Most memory that is cached, in bytes. A run with more takes long enough for the allocation not
/// to matter.
pub(super) const KEPT_BYTES: u64 = 64 << 20;
