//! Sort-based matching: regions ordered by their lower bounds, overlaps as ranges of the other side's order.

use std::sync::PoisonError;

use bytemuck::{Pod, Zeroable};

use super::MatchingError;
use super::kernels::{GROUP_SIZE, Kernels, Lent};
use super::matches::Source;
use super::programs;
use super::set::Columns;
use super::work::{MAX_TASKS, TaskParams, Window, Work, in_slices};
use crate::gpu::{Buffer, Plan};

/// Candidates of a workgroup: `TILE` in common.wgsl.
pub(super) const TILE: u32 = 8 * GROUP_SIZE;
/// Tiles of candidates that go into a first submission: 3·10⁷ candidates, or 268 MB of pairs. An estimate for devices that
/// write 10 GB/s, not measured.
const UNIT: u32 = 1 << 14;

/// As in order.wgsl.
#[repr(C)]
#[derive(Clone, Copy, Default, Pod, Zeroable)]
pub(super) struct ListParams {
    pub(super) regions: u32,
    pub(super) listed: u32,
    pub(super) columns: u32,
}

/// As in ranges.wgsl.
#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
pub(super) struct RangeParams {
    pub(super) subscriptions: u32,
    pub(super) updates: u32,
    pub(super) dimension: u32,
}

/// As in firsts.wgsl.
#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
struct FirstsParams {
    candidate: u64,
    tiles: u32,
    ranges: u32,
}

/// Non-empty regions in some order: `columns` columns of keys, then their ids.
#[derive(Debug)]
pub(super) struct Ordered {
    pub(super) count: u32,
    pub(super) columns: Lent<u32>,
}

/// Orders the non-empty regions of a set by their lower bounds in dimension `dim`. Submitted alone, because a large set takes
/// its time.
pub(super) fn order(kernels: &Kernels, set: &Columns, dim: u32) -> Result<Ordered, MatchingError> {
    let gpu = kernels.gpu();
    let keys = kernels.lend("lower bounds", set.count.into())?;
    let ids = kernels.lend("region ids", set.count.into())?;
    let mut plan = Plan::new("order regions");
    // Empty regions have the largest key and come last.
    let column = (set.keys.raw(), set.column_offset(2 * dim));
    plan.copy("lower bounds", column, (keys.raw(), 0), u64::from(set.count) * 4);
    let params = ListParams { listed: set.count, ..ListParams::default() };
    kernels.add_each(&mut plan, &programs::number_ids(), set.count, &params, &[("numbered", ids.raw())])?;
    kernels.add_sort(&mut plan, &keys, &ids, set.count, 32)?;
    let ordered = gather(kernels, &mut plan, set, &ids, set.filled)?;
    plan.submit(gpu)?;
    Ok(ordered)
}

/// Adds to a plan that the first `count` of `ids` are put together with their columns in `set`.
pub(super) fn gather(
    kernels: &Kernels,
    plan: &mut Plan,
    set: &Columns,
    ids: &Buffer<u32>,
    count: u32,
) -> Result<Ordered, MatchingError> {
    let columns = 2 * set.dims;
    let words = u64::from(count) * u64::from(columns + 1);
    let ordered = kernels.lend("ordered regions", words)?;
    kernels.add_each(
        plan,
        &programs::gather(),
        count,
        &ListParams { regions: set.count, listed: count, columns },
        &[("ids", ids.raw()), ("columns", set.keys.raw()), ("ordered", ordered.raw())],
    )?;
    Ok(Ordered { count, columns: ordered })
}

/// Candidates as ranges: range `r` is boxes `begins[r]..` of the other side, up to the length that `places`
/// implies.
#[derive(Debug)]
pub(super) struct Ranges {
    pub(super) subscriptions: Ordered,
    pub(super) updates: Ordered,
    pub(super) dims: u32,
    pub(super) begins: Lent<u32>,
    /// Where each range begins among all candidates; then their total.
    pub(super) places: Lent<u64>,
    pub(super) count: u32,
    pub(super) candidates: u64,
}

/// The candidates of a sweep along dimension `dim`. In one dimension they are the matches.
pub(super) async fn ranges(
    kernels: &Kernels,
    subscriptions: &Columns,
    updates: &Columns,
    dim: u32,
) -> Result<Ranges, MatchingError> {
    let dims = subscriptions.dims;
    let subscriptions = order(kernels, subscriptions, dim)?;
    let updates = order(kernels, updates, dim)?;
    let needed = u64::from(subscriptions.count) + u64::from(updates.count);
    let count = u32::try_from(needed)
        .ok()
        .filter(|count| *count < 1 << 31)
        .ok_or(MatchingError::TooMuchWork { what: "regions of both sides", needed, limit: (1 << 31) - 1 })?;
    let begins = kernels.lend("begins of ranges", count.into())?;
    let lengths = kernels.lend("lengths of ranges", count.into())?;
    let mut plan = Plan::new("ranges of a sweep");
    kernels.add_each(
        &mut plan,
        &programs::sweep_ranges(dims),
        count,
        &RangeParams { subscriptions: subscriptions.count, updates: updates.count, dimension: dim },
        &[
            ("subscriptions", subscriptions.columns.raw()),
            ("updates", updates.columns.raw()),
            ("begins", begins.raw()),
            ("lengths", lengths.raw()),
        ],
    )?;
    let (places, candidates) = kernels.offsets(plan, &lengths, count).await?;
    Ok(Ranges { subscriptions, updates, dims, begins, places, count, candidates })
}

impl Ranges {
    fn sides(&self) -> [u32; 2] {
        [self.subscriptions.count, self.updates.count]
    }

    /// What the kernels of candidates.wgsl read, with the buffer of `firsts` for them.
    fn inputs<'a>(&'a self, firsts: &'a Buffer<u32>) -> [(&'static str, &'a wgpu::Buffer); 5] {
        [
            ("subscriptions", self.subscriptions.columns.raw()),
            ("updates", self.updates.columns.raw()),
            ("places", self.places.raw()),
            ("begins", self.begins.raw()),
            ("firsts", firsts.raw()),
        ]
    }

    /// For each of `tiles` tiles from candidate `first` on, the range that holds its first candidate; and one
    /// more.
    fn firsts(&self, kernels: &Kernels, first: u64, tiles: u32) -> Result<Buffer<u32>, MatchingError> {
        let gpu = kernels.gpu();
        let firsts = Buffer::<u32>::storage(gpu, "first ranges of tiles", u64::from(tiles) + 1)?;
        let mut plan = Plan::new("first ranges of tiles");
        kernels.add_each(
            &mut plan,
            &programs::find_firsts(),
            tiles + 1,
            &FirstsParams { candidate: first, tiles: tiles + 1, ranges: self.count },
            &[("places", self.places.raw()), ("firsts", firsts.raw())],
        )?;
        plan.submit(gpu)?;
        Ok(firsts)
    }

    /// The candidates as work that tests each; with `homes`, of a grid.
    pub(super) fn filtered(self, kernels: &Kernels, homes: bool) -> Result<Work, MatchingError> {
        let needed = self.candidates.div_ceil(TILE.into());
        let tasks = u32::try_from(needed).ok().filter(|tasks| *tasks <= MAX_TASKS).ok_or(
            MatchingError::TooMuchWork { what: "tiles of candidates", needed, limit: MAX_TASKS.into() },
        )?;
        let firsts = self.firsts(kernels, 0, tasks)?;
        Ok(Work {
            count: programs::candidates_count(self.dims, homes),
            write: programs::candidates_write(self.dims, homes),
            inputs: self.inputs(&firsts).map(|(name, buffer)| (name, buffer.clone())).to_vec(),
            sides: self.sides(),
            candidates: self.candidates,
            tasks,
            unit: UNIT,
            ranges: Some(self),
        })
    }

    /// Writes a window of the candidates, all of which are matches.
    pub(super) async fn write(
        &self,
        kernels: &Kernels,
        window: Window,
        pairs: &Buffer<[u32; 2]>,
    ) -> Result<(), MatchingError> {
        self.write_in_units(kernels, window, pairs, UNIT).await
    }

    async fn write_in_units(
        &self,
        kernels: &Kernels,
        window: Window,
        pairs: &Buffer<[u32; 2]>,
        unit: u32,
    ) -> Result<(), MatchingError> {
        let tiles = window.len.div_ceil(TILE);
        let firsts = self.firsts(kernels, window.first, tiles)?;
        let mut buffers = self.inputs(&firsts).to_vec();
        buffers.push(("pairs", pairs.raw()));
        let kept = || kernels.page_pace.lock().unwrap_or_else(PoisonError::into_inner);
        let mut pace = kept().clone();
        in_slices(kernels.gpu(), tiles, unit, &mut pace, |first, end| {
            let params = TaskParams::new(self.sides(), (first, end), self.candidates, window);
            let mut plan = Plan::new("write pairs");
            let recipe = programs::candidates_write_all(self.dims);
            kernels.add(&mut plan, &recipe, end - first, &params, &buffers)?;
            Ok(plan)
        })
        .await?;
        *kept() = pace;
        Ok(())
    }
}

/// Matches by sorting: in one dimension the ranges themselves, in more those of the candidates that pass the
/// test.
pub(super) async fn matches(
    kernels: &Kernels,
    subscriptions: &Columns,
    updates: &Columns,
    dim: u32,
) -> Result<(u64, Source), MatchingError> {
    let ranges = ranges(kernels, subscriptions, updates, dim).await?;
    if ranges.candidates == 0 {
        return Ok((0, Source::Nothing));
    }
    if subscriptions.dims == 1 {
        return Ok((ranges.candidates, Source::Ranges(ranges)));
    }
    let (placed, total) = ranges.filtered(kernels, false)?.count(kernels).await?;
    Ok((total, Source::Placed(placed)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::Gpu;
    use crate::gpu::assert_same_layout;
    use crate::matching::{Matcher, Region};

    #[test]
    fn a_page_that_is_written_in_slices_is_whole() {
        let gpu = Gpu::for_test();
        let matcher = Matcher::new(&gpu);
        let set = matcher.upload("identical", &[Region::new([3u32], [5]); 150]).unwrap().columns;
        let ranges = pollster::block_on(ranges(matcher.kernels(), &set, &set, 0)).unwrap();
        // 22,500 pairs are 11 tiles: a slice of one to begin with.
        let window = Window { first: 10, len: 22_490 };
        let pairs = Buffer::storage_from(&gpu, "pairs", &vec![[u32::MAX; 2]; 22_490]).unwrap();
        pollster::block_on(ranges.write_in_units(matcher.kernels(), window, &pairs, 1)).unwrap();
        let pairs = pairs.read(&gpu).unwrap();
        assert!(pairs.iter().all(|[s, u]| *s < 150 && *u < 150));
        assert_eq!(pairs.iter().collect::<std::collections::HashSet<_>>().len(), 22_490);
    }

    #[test]
    fn parameters_lie_as_in_wgsl() {
        assert_same_layout!(programs::gather().link().unwrap(), ListParams { regions, listed, columns });
        assert_same_layout!(
            programs::sweep_ranges(1).link().unwrap(),
            RangeParams { subscriptions, updates, dimension }
        );
        assert_same_layout!(
            programs::find_firsts().link().unwrap(),
            FirstsParams { candidate, tiles, ranges }
        );
    }
}
