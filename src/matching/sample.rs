//! A look at the sets before an algorithm is chosen.

use super::MatchingError;
use super::kernels::{Kernels, SIZE};
use super::programs;
use super::set::Columns;
use crate::gpu::Buffer;

/// Regions of each side in a sample at the most: a million pairs.
const SAMPLE: u32 = 1024;
/// Workgroups that share the updates of a sample: `SLICES` in sample.wgsl.
const SLICES: u32 = 32;

/// How many pairs overlap in each dimension, estimated from evenly spread regions of both sides.
pub(super) fn overlaps(
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
        sampled[0].div_ceil(SIZE) * SLICES * SIZE,
        &[sides[0], sides[1], steps[0], steps[1], sampled[0], sampled[1]],
        &[("subscriptions", subscriptions.keys.raw()), ("updates", updates.keys.raw()), ("hits", hits.raw())],
    )?;
    let pairs = |counts: [u32; 2]| f64::from(counts[0]) * f64::from(counts[1]);
    let scale = pairs(sides) / pairs(sampled);
    let hits = hits.read(kernels.gpu())?;
    Ok(hits[..dims as usize].iter().map(|hits| f64::from(*hits) * scale).collect())
}
