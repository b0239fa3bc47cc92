//! What the engine on the CPU runs.

use std::ops::Range;

use super::{Experiment, Schema};

/// The replications of an experiment's points, numbered point by point.
#[derive(Debug, Clone)]
pub(super) struct Jobs<'j, P> {
    pub(super) schema: &'j Schema,
    /// Those of one point are one value, or all their [`Word`](crate::gpu::Word)s.
    pub(super) points: &'j [P],
    pub(super) experiment: &'j Experiment,
    pub(super) replications: Range<u32>,
    pub(super) max_steps: u32,
}
