//! Sort-based counting in one dimension, without visiting pairs.

use std::sync::PoisonError;

use super::kernels::Kernels;
use super::limits::GROUP_SIZE;
use super::prepared::{CountParams, Ranking};
use super::set::Columns;
use super::{MatchingError, programs};
use crate::gpu::{Buffer, Gpu, Plan};
use crate::primitives::Count;

/// Maximum workgroups of a side in sweep_count.wgsl; each adds over its tiles.
const RANK_GROUPS: u32 = 4096;
/// Ends per invocation in sweep_count.wgsl: the starts near the ends of a tile must fit workgroup
/// memory.
pub(super) const RANK_ENDS: u32 = 6;

impl CountParams {
    fn new(subscriptions: &Columns, updates: &Columns, ends_each: u32) -> Self {
        // Empty regions come last in the order and are omitted.
        let filled = [subscriptions.filled, updates.filled];
        let groups = filled.map(|count| count.div_ceil(ends_each * GROUP_SIZE).min(RANK_GROUPS));
        Self {
            pairs: u64::from(filled[0]) * u64::from(filled[1]),
            subscriptions: subscriptions.count,
            updates: updates.count,
            filled_subscriptions: filled[0],
            filled_updates: filled[1],
            subscription_groups: groups[0],
            update_groups: groups[1],
        }
    }
}

/// Counting in one dimension, prepared for two sets: both sides are sorted, and each region is
/// searched for once.
///
/// It is recorded into the caller's encoder any number of times, and leaves the count on the
/// device.
///
/// The same dispatches sort both sides, so the smaller side is padded to the size of the larger
/// one. Time and memory (16 bytes) are proportional to twice the regions of the larger side.
#[derive(Debug)]
pub struct Counter {
    copying: Plan,
    ranking: Ranking,
}

impl Ranking {
    fn new(kernels: &Kernels, params: CountParams, ends_each: u32) -> Result<Self, MatchingError> {
        let gpu = kernels.gpu();
        let larger = params.subscriptions.max(params.updates);
        let starts = Buffer::<u32>::storage(gpu, "lower bounds", 2 * u64::from(larger))?;
        let ends = Buffer::<u32>::storage(gpu, "upper bounds", 2 * u64::from(larger))?;
        let all = params.subscription_groups + params.update_groups;
        let count = Count::host(gpu, larger.into())?;
        let sorting = kernels.sort(2 * larger)?.arrays(gpu, 2)?.bind(gpu, &count, &starts, &ends, 0..32)?;
        let ranks = Buffer::<u64>::storage(gpu, "sums of ranks", all.into())?;
        let mut searching = Plan::new("search the bounds");
        kernels.add(
            &mut searching,
            &programs::count_ranks(ends_each),
            all,
            &params,
            &[("starts", starts.raw()), ("ends", ends.raw()), ("ranks", ranks.raw())],
        )?;
        let total = Buffer::storage(gpu, "pairs", 1)?;
        kernels.add(
            &mut searching,
            &programs::total_ranks(),
            1,
            &params,
            &[("all_ranks", ranks.raw()), ("total", total.raw())],
        )?;
        Ok(Self { params, ends_each, starts, ends, sorting, searching, total })
    }
}

impl Counter {
    pub(super) fn new(
        kernels: &Kernels,
        subscriptions: &Columns,
        updates: &Columns,
        ends_each: u32,
    ) -> Result<Self, MatchingError> {
        let params = CountParams::new(subscriptions, updates, ends_each);
        let ranking = Ranking::new(kernels, params, ends_each)?;
        Self::with(kernels, subscriptions, updates, ranking)
    }

    /// Counts once. Reuses the memory of the last such count if its sets were as large.
    pub(super) async fn count_once(
        kernels: &Kernels,
        subscriptions: &Columns,
        updates: &Columns,
    ) -> Result<u64, MatchingError> {
        let params = CountParams::new(subscriptions, updates, RANK_ENDS);
        let kept = || kernels.ranking.lock().unwrap_or_else(PoisonError::into_inner);
        // A concurrent count finds no cached memory.
        let last = kept().take().filter(|last| last.params == params && last.ends_each == RANK_ENDS);
        let ranking = last.map_or_else(|| Ranking::new(kernels, params, RANK_ENDS), Ok)?;
        let counter = Self::with(kernels, subscriptions, updates, ranking)?;
        let count = counter.count_async(kernels.gpu()).await?;
        *kept() = Some(counter.ranking);
        Ok(count)
    }

    fn with(
        kernels: &Kernels,
        subscriptions: &Columns,
        updates: &Columns,
        ranking: Ranking,
    ) -> Result<Self, MatchingError> {
        let mut copying = Plan::new("copy the bounds");
        kernels.add_each(
            &mut copying,
            &programs::copy_bounds(),
            2 * subscriptions.count.max(updates.count),
            &ranking.params,
            &[
                ("subscriptions", subscriptions.keys.raw()),
                ("updates", updates.keys.raw()),
                ("copied_starts", ranking.starts.raw()),
                ("copied_ends", ranking.ends.raw()),
            ],
        )?;
        Ok(Self { copying, ranking })
    }

    /// Records one count.
    pub fn record(&self, encoder: &mut wgpu::CommandEncoder) {
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
        self.record_sort(&mut pass);
        self.record_search(&mut pass);
    }

    /// The first part of [`Counter::record`]: copies and sorts the bounds. For timing by stage.
    #[doc(hidden)]
    pub fn record_sort(&self, pass: &mut wgpu::ComputePass<'_>) {
        self.copying.record_in(pass);
        self.ranking.sorting.record_in(pass);
    }

    /// The second part of [`Counter::record`]: searches the ranks and adds them up. For timing by
    /// stage.
    #[doc(hidden)]
    pub fn record_search(&self, pass: &mut wgpu::ComputePass<'_>) {
        self.ranking.searching.record_in(pass);
    }

    /// The number of overlapping pairs, on the device: one value, available when the recorded work
    /// has run.
    pub fn total(&self) -> &Buffer<u64> {
        &self.ranking.total
    }

    /// Counts now.
    ///
    /// # Errors
    /// [`MatchingError::Gpu`] if the device fails.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn count(&self, gpu: &Gpu) -> Result<u64, MatchingError> {
        pollster::block_on(self.count_async(gpu))
    }

    /// [`Counter::count`] without blocking.
    ///
    /// # Errors
    /// As [`Counter::count`].
    pub async fn count_async(&self, gpu: &Gpu) -> Result<u64, MatchingError> {
        let mut encoder = gpu.encoder("count overlaps");
        self.record(&mut encoder);
        gpu.submit(encoder)?;
        Ok(self.ranking.total.read_async(gpu).await?[0])
    }
}
