//! Sort-based counting in one dimension: no pair is looked at.

use std::sync::Arc;

use super::MatchingError;
use super::kernels::{Kernels, SIZE};
use super::programs::{self, Recipe};
use super::set::Columns;
use super::work::halves;
use crate::gpu::{Bindings, Buffer, Gpu, Kernel, Plan};
use crate::primitives::Count;

/// Workgroups that serve a side in sweep_count.wgsl at the most; each sums over its tiles.
const RANK_GROUPS: u32 = 4096;
/// Ends per thread in sweep_count.wgsl: the starts near the ends of a tile must fit workgroup memory.
pub(super) const RANK_ITEMS: u32 = 6;

/// Counting in one dimension, prepared for two sets: both sides are sorted, and each region is searched for once.
///
/// It is recorded into an encoder of the caller's as often as wanted, and leaves the count on the device.
///
/// The sides are sorted in the same dispatches, so the smaller one is filled up to the size of the larger one: the time
/// and the memory (16 bytes) go with twice the regions of the larger one.
#[derive(Debug)]
pub struct Counter {
    bounds: Step,
    sort: Plan,
    ranks: Step,
    sum: Step,
    total: Buffer<u64>,
}

#[derive(Debug)]
struct Step {
    kernel: Arc<Kernel>,
    bindings: Bindings,
    workgroups: u32,
}

impl Step {
    fn new(
        kernels: &Kernels,
        (recipe, constants): (&Recipe, &[(&'static str, u32)]),
        workgroups: u32,
        params: &[u32],
        buffers: &[(&str, &wgpu::Buffer)],
    ) -> Result<Self, MatchingError> {
        let gpu = kernels.gpu();
        let kernel = kernels.get(recipe, constants)?;
        let params = Kernels::params(gpu, params)?;
        let mut bound = vec![("params", params.binding())];
        bound.extend(buffers.iter().map(|(name, buffer)| (*name, buffer.as_entire_binding())));
        Ok(Self { bindings: kernel.bind(gpu, &bound)?, kernel, workgroups })
    }

    fn record(&self, pass: &mut wgpu::ComputePass<'_>) {
        self.kernel.dispatch(pass, &self.bindings, self.workgroups);
    }
}

impl Counter {
    pub(super) fn new(
        kernels: &Kernels,
        subscriptions: &Columns,
        updates: &Columns,
        items: u32,
    ) -> Result<Self, MatchingError> {
        let gpu = kernels.gpu();
        let larger = subscriptions.count.max(updates.count);
        let starts = Buffer::<u32>::storage(gpu, "lower bounds", 2 * u64::from(larger))?;
        let ends = Buffer::<u32>::storage(gpu, "upper bounds", 2 * u64::from(larger))?;
        let bounds = Step::new(
            kernels,
            (&programs::SWEEP_BOUNDS, &[]),
            (2 * larger).div_ceil(SIZE),
            &[subscriptions.count, updates.count, 0, 0, 0, 0, 0, larger],
            &[
                ("subscriptions", subscriptions.keys.raw()),
                ("updates", updates.keys.raw()),
                ("starts", starts.raw()),
                ("ends", ends.raw()),
            ],
        )?;
        let count = Count::host(gpu, larger.into())?;
        let sort = kernels.sort(2 * larger)?.arrays(gpu, 2)?.bind(gpu, &count, &starts, &ends, 0..32)?;
        // Empty regions come last in the order and are left out.
        let filled = [subscriptions.filled, updates.filled];
        let groups = filled.map(|count| count.div_ceil(items * SIZE).min(RANK_GROUPS));
        let all = groups[0] + groups[1];
        let sums = Buffer::<u64>::storage(gpu, "sums of ranks", all.into())?;
        let ranks = Step::new(
            kernels,
            (&programs::RANKS, &[("ITEMS", items)]),
            all,
            &[filled[0], filled[1], groups[0], all, 0, 0, 0, larger],
            &[("starts", starts.raw()), ("ends", ends.raw()), ("ranks", sums.raw())],
        )?;
        let total = Buffer::storage(gpu, "pairs", 1)?;
        let (low, high) = halves(u64::from(filled[0]) * u64::from(filled[1]));
        let sum = Step::new(
            kernels,
            (&programs::TOTAL_OF_RANKS, &[]),
            1,
            &[0, 0, 0, all, low, high],
            &[("ranks", sums.raw()), ("total", total.raw())],
        )?;
        Ok(Self { bounds, sort, ranks, sum, total })
    }

    /// Records one count.
    pub fn record(&self, encoder: &mut wgpu::CommandEncoder) {
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
        self.record_sort(&mut pass);
        self.record_search(&mut pass);
    }

    /// The first part of [`Counter::record`]: bounds are copied and sorted. For timing by stage.
    #[doc(hidden)]
    pub fn record_sort(&self, pass: &mut wgpu::ComputePass<'_>) {
        self.bounds.record(pass);
        self.sort.record_in(pass);
    }

    /// The second part of [`Counter::record`]: ranks are searched and added up.
    #[doc(hidden)]
    pub fn record_search(&self, pass: &mut wgpu::ComputePass<'_>) {
        self.ranks.record(pass);
        self.sum.record(pass);
    }

    /// The number of overlapping pairs, on the device: one value, after what was recorded has run.
    pub fn total(&self) -> &Buffer<u64> {
        &self.total
    }

    /// Counts now.
    ///
    /// # Errors
    /// [`MatchingError::Gpu`] where the device fails.
    pub fn count(&self, gpu: &Gpu) -> Result<u64, MatchingError> {
        let mut encoder = gpu.encoder("count overlaps");
        self.record(&mut encoder);
        gpu.submit(encoder)?;
        Ok(self.total.read(gpu)?[0])
    }
}
