//! Samples the sets before an algorithm is chosen.

use super::MatchingError;
use super::kernels::{Kernels, ReadbackRange};
use super::limits::GROUP_SIZE;
use super::memory::PooledBuffer;
use super::programs;
use super::set::Columns;
use crate::gpu::Plan;

/// Maximum regions of each side in a sample: a million pairs.
const SAMPLE: u32 = 1024;
shared! {
    "matching/sample.wgsl":
    /// Workgroups that share the updates of a sample.
    const SLICES: u32;
}
/// Words of `hits` there: one for each possible dimension.
const HITS: u64 = 4;

shared! {
    "matching/sample.wgsl":
    struct SampleParams {
        subscriptions: u32,
        updates: u32,
        subscription_step: u32,
        update_step: u32,
        sampled_subscriptions: u32,
        sampled_updates: u32,
    }
}

/// Pairs of evenly spaced regions of both sides, tested in each dimension.
pub(super) struct Sample {
    hits: PooledBuffer<u32>,
    plan: Plan,
    dims: u32,
    /// The number of all pairs divided by the number of sampled pairs.
    scale: f64,
}

impl Sample {
    pub(super) fn new(kernels: &Kernels, sides: [&Columns; 2]) -> Result<Self, MatchingError> {
        let [subscriptions, updates] = sides;
        let dims = subscriptions.dims;
        let hits = kernels.lend("sampled overlaps", HITS)?;
        let counts = sides.map(|side| side.count);
        let steps = counts.map(|count| count.div_ceil(SAMPLE));
        let sampled = [counts[0].div_ceil(steps[0]), counts[1].div_ceil(steps[1])];
        let params = SampleParams {
            subscriptions: counts[0],
            updates: counts[1],
            subscription_step: steps[0],
            update_step: steps[1],
            sampled_subscriptions: sampled[0],
            sampled_updates: sampled[1],
        };
        let mut plan = Plan::new("sample of pairs");
        plan.clear("sampled overlaps", hits.raw());
        kernels.add(
            &mut plan,
            &programs::sample(dims),
            sampled[0].div_ceil(GROUP_SIZE) * SLICES,
            &params,
            &[
                ("subscriptions", subscriptions.keys.raw()),
                ("updates", updates.keys.raw()),
                ("hits", hits.raw()),
            ],
        )?;
        let pairs = |counts: [u32; 2]| f64::from(counts[0]) * f64::from(counts[1]);
        Ok(Self { hits, plan, dims, scale: pairs(counts) / pairs(sampled) })
    }

    /// The plan with the tests.
    pub(super) fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The output of the tests, for [`Sample::overlaps`].
    pub(super) fn wanted(&self) -> ReadbackRange<'_> {
        ReadbackRange { from: self.hits.raw(), first: 0, words: HITS }
    }

    /// The estimated number of overlapping pairs in each dimension.
    pub(super) fn overlaps(&self, hits: &[u32]) -> Vec<f64> {
        hits[..self.dims as usize].iter().map(|hits| f64::from(*hits) * self.scale).collect()
    }
}
