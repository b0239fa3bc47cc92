//! A look at the sets before an algorithm is chosen.

use super::MatchingError;
use super::kernels::Kernels;
use super::programs;
use super::set::Columns;
use crate::gpu::Buffer;

/// Regions of each side in a sample at the most: a million pairs.
const SAMPLE: u32 = 1024;

/// Which share of all pairs overlaps in each dimension, estimated from evenly spread regions of both sides.
pub(super) fn selectivity(
    kernels: &Kernels,
    subscriptions: &Columns,
    updates: &Columns,
) -> Result<Vec<f64>, MatchingError> {
    let dims = subscriptions.dims;
    let hits = Buffer::<u32>::storage(kernels.gpu(), "sampled overlaps", 4)?;
    let kernel = kernels.get(&programs::SAMPLE, &[("DIMS", dims)])?;
    let sides = [subscriptions.count, updates.count];
    let steps = sides.map(|count| count.div_ceil(SAMPLE));
    let sampled = [sides[0].div_ceil(steps[0]), sides[1].div_ceil(steps[1])];
    kernels.run(
        &kernel,
        sampled[0],
        &[sides[0], sides[1], steps[0], steps[1], sampled[0], sampled[1]],
        &[("subscriptions", subscriptions.keys.raw()), ("updates", updates.keys.raw()), ("hits", hits.raw())],
    )?;
    let pairs = f64::from(sampled[0]) * f64::from(sampled[1]);
    let hits = hits.read(kernels.gpu())?;
    Ok(hits[..dims as usize].iter().map(|hits| f64::from(*hits) / pairs).collect())
}
