//! A look at the sets before an algorithm is chosen.

use bytemuck::{Pod, Zeroable};

use super::MatchingError;
use super::kernels::{GROUP_SIZE, Kernels};
use super::programs;
use super::set::Columns;
use crate::gpu::{Buffer, Plan};

/// Regions of each side in a sample at the most: a million pairs.
const SAMPLE: u32 = 1024;
/// Workgroups that share the updates of a sample: `SLICES` in sample.wgsl.
const SLICES: u32 = 32;

/// As in sample.wgsl.
#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
struct SampleParams {
    subscriptions: u32,
    updates: u32,
    subscription_step: u32,
    update_step: u32,
    sampled_subscriptions: u32,
    sampled_updates: u32,
}

/// How many pairs overlap in each dimension, estimated from evenly spread regions of both sides.
pub(super) async fn overlaps(
    kernels: &Kernels,
    subscriptions: &Columns,
    updates: &Columns,
) -> Result<Vec<f64>, MatchingError> {
    let dims = subscriptions.dims;
    let hits = Buffer::<u32>::storage(kernels.gpu(), "sampled overlaps", 4)?;
    let sides = [subscriptions.count, updates.count];
    let steps = sides.map(|count| count.div_ceil(SAMPLE));
    let sampled = [sides[0].div_ceil(steps[0]), sides[1].div_ceil(steps[1])];
    let params = SampleParams {
        subscriptions: sides[0],
        updates: sides[1],
        subscription_step: steps[0],
        update_step: steps[1],
        sampled_subscriptions: sampled[0],
        sampled_updates: sampled[1],
    };
    let mut plan = Plan::new("sample of pairs");
    kernels.add(
        &mut plan,
        &programs::sample(dims),
        sampled[0].div_ceil(GROUP_SIZE) * SLICES,
        &params,
        &[("subscriptions", subscriptions.keys.raw()), ("updates", updates.keys.raw()), ("hits", hits.raw())],
    )?;
    plan.submit(kernels.gpu())?;
    let pairs = |counts: [u32; 2]| f64::from(counts[0]) * f64::from(counts[1]);
    let scale = pairs(sides) / pairs(sampled);
    let hits = hits.read_async(kernels.gpu()).await?;
    Ok(hits[..dims as usize].iter().map(|hits| f64::from(*hits) * scale).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_lie_as_in_wgsl() {
        crate::gpu::assert_same_layout!(
            programs::sample(1).link().unwrap(),
            SampleParams {
                subscriptions,
                updates,
                subscription_step,
                update_step,
                sampled_subscriptions,
                sampled_updates
            }
        );
    }
}
