//! Sort-based matching: regions ordered by their lower bounds, overlaps as ranges of the other side's order.

use std::sync::PoisonError;

use bytemuck::{Pod, Zeroable};

use super::auto::{Look, Room};
use super::filter::{self, Filter};
use super::kernels::{self, GROUP_SIZE, Kernels, Wanted, wide};
use super::matches::Source;
use super::memory::Lent;
use super::set::Columns;
use super::work::{Memory, TaskParams, Window, in_slices};
use super::{MatchingError, programs};
use crate::gpu::{Buffer, Plan};

/// Candidates of a workgroup: `TILE` in common.wgsl.
pub(super) const TILE: u32 = 8 * GROUP_SIZE;
/// Tiles of candidates that go into a first submission: 3·10⁷ candidates, or 268 MB of pairs. An estimate for devices that
/// write 10 GB/s, not measured.
pub(super) const UNIT: u32 = 1 << 14;

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

/// Memory that a plan works in: it is held until the plan is submitted.
type Scratch = [Lent<u32>; 2];

/// Puts the non-empty regions of a set in the order of their lower bounds in dimension `dim`, by a plan.
pub(super) fn order(
    kernels: &Kernels,
    set: &Columns,
    dim: u32,
) -> Result<(Plan, Ordered, Scratch), MatchingError> {
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
    Ok((plan, ordered, [keys, ids]))
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
    #[expect(dead_code, reason = "the plan writes to it, so nobody else may have it")]
    lengths: Lent<u32>,
    /// Where each range begins among all candidates; then their total.
    places: Lent<u64>,
    pub(super) count: u32,
}

/// Where the ranges of candidates come from.
#[derive(Debug, Clone, Copy)]
pub(super) enum Origin {
    /// A sweep along this dimension: a range for each region.
    Sweep { dim: u32 },
    /// A grid: a range for each of the subscriptions' entries.
    Grid,
}

impl Ranges {
    /// Finds the ranges of these rows, by a plan.
    pub(super) fn new(
        kernels: &Kernels,
        plan: &mut Plan,
        [subscriptions, updates]: [Ordered; 2],
        dims: u32,
        origin: Origin,
    ) -> Result<Self, MatchingError> {
        let sides = [subscriptions.count, updates.count];
        let (recipe, dimension, needed) = match origin {
            Origin::Sweep { dim } => {
                (programs::sweep_ranges(dims), dim, u64::from(sides[0]) + u64::from(sides[1]))
            }
            Origin::Grid => (programs::grid_ranges(dims), 0, sides[0].into()),
        };
        let count = u32::try_from(needed).ok().filter(|count| *count < 1 << 31).ok_or(
            MatchingError::TooMuchWork { what: "regions of both sides", needed, limit: (1 << 31) - 1 },
        )?;
        let begins = kernels.lend("begins of ranges", count.into())?;
        let lengths = kernels.lend("lengths of ranges", count.into())?;
        kernels.add_each(
            plan,
            &recipe,
            count,
            &RangeParams { subscriptions: sides[0], updates: sides[1], dimension },
            &[
                ("subscriptions", subscriptions.columns.raw()),
                ("updates", updates.columns.raw()),
                ("begins", begins.raw()),
                ("lengths", lengths.raw()),
            ],
        )?;
        let places = kernels.add_offsets(plan, &lengths, count)?;
        Ok(Self { subscriptions, updates, dims, begins, lengths, places, count })
    }

    /// How many candidates there are, when the plan has run.
    pub(super) fn wanted(&self) -> Wanted<'_> {
        Wanted::wide(&self.places, self.count)
    }

    pub(super) fn sides(&self) -> [u32; 2] {
        [self.subscriptions.count, self.updates.count]
    }

    /// What the kernels of candidates.wgsl read, with the buffer of `firsts` for them.
    pub(super) fn inputs<'a>(&'a self, firsts: &'a Buffer<u32>) -> [(&'static str, &'a wgpu::Buffer); 5] {
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
    pub(super) fn firsts(
        &self,
        kernels: &Kernels,
        plan: &mut Plan,
        first: u64,
        tiles: u32,
    ) -> Result<Lent<u32>, MatchingError> {
        let firsts = kernels.lend("first ranges of tiles", u64::from(tiles) + 1)?;
        kernels.add_each(
            plan,
            &programs::find_firsts(),
            tiles + 1,
            &FirstsParams { candidate: first, tiles: tiles + 1, ranges: self.count },
            &[("places", self.places.raw()), ("firsts", firsts.raw())],
        )?;
        Ok(firsts)
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
        let mut plan = Plan::new("first ranges of tiles");
        let firsts = self.firsts(kernels, &mut plan, window.first, tiles)?;
        plan.submit(kernels.gpu())?;
        let mut buffers = self.inputs(&firsts).to_vec();
        buffers.push(("pairs", pairs.raw()));
        let kept = || kernels.page_pace.lock().unwrap_or_else(PoisonError::into_inner);
        let mut pace = kept().clone();
        in_slices(kernels.gpu(), tiles, unit, &mut pace, |first, end| {
            let params = TaskParams::new(self.sides(), (first, end), self.count, window);
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

/// Plans that put both sides in order and find the ranges of a sweep, with what they work in.
fn sweep(
    kernels: &Kernels,
    [subscriptions, updates]: [&Columns; 2],
    dim: u32,
) -> Result<(Vec<Plan>, Ranges, [Scratch; 2]), MatchingError> {
    let (first, ordered, scratch) = order(kernels, subscriptions, dim)?;
    let (second, others, more) = order(kernels, updates, dim)?;
    let mut finding = Plan::new("ranges of a sweep");
    let origin = Origin::Sweep { dim };
    let ranges = Ranges::new(kernels, &mut finding, [ordered, others], subscriptions.dims, origin)?;
    Ok((vec![first, second, finding], ranges, [scratch, more]))
}

/// Matches by sorting: in one dimension the ranges themselves, in more those of the candidates that pass the
/// test. None if `look` tells of another way.
pub(super) async fn matches(
    kernels: &Kernels,
    sides: [&Columns; 2],
    dim: u32,
    look: &mut Look,
    room: &mut Room,
) -> Result<Option<(u64, Source)>, MatchingError> {
    let (plans, ranges, scratch) = sweep(kernels, sides, dim)?;
    let (origin, several) = (Origin::Sweep { dim }, sides[0].dims > 1);
    let filter = match several && kernels.tests_at_once(room.tasks) {
        true => Some(Filter::new(kernels, &ranges, origin, room.tasks, true)?),
        false => None,
    };
    let looked = look.part();
    let mut wanted: Vec<_> = looked.iter().map(|(_, wanted)| *wanted).collect();
    wanted.push(ranges.wanted());
    wanted.extend(filter.as_ref().map(Filter::wanted));
    let mut all: Vec<_> = looked.iter().map(|(plan, _)| *plan).chain(&plans).collect();
    all.extend(filter.iter().flat_map(Filter::plans));
    let looked = looked.is_some();
    let apart = kernels::apart(sides.map(|side| side.count));
    let tested = filter.as_ref().map_or(0, |_| room.tasks);
    let mut read = kernels.run_tests(&all, apart, &wanted, tested).await?.into_iter();
    drop(scratch);
    if looked && !read.next().is_none_or(|hits| look.told(&hits)) {
        return Ok(None);
    }
    let candidates = read.next().map_or(0, |words| wide(&words));
    if !several {
        return Ok(Some((candidates, Source::Ranges(ranges))));
    }
    let done = filter.zip(read.next().map(|words| wide(&words)));
    let counted = filter::count(kernels, &ranges, origin, candidates, done, room).await?;
    let source = counted.source(&ranges);
    Ok(Some(filter::found(source, Memory::Sweep(Box::new((ranges, counted.filter))))))
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
        let kernels = matcher.kernels();
        let (plans, ranges, _scratch) = sweep(kernels, [&set, &set], 0).unwrap();
        for plan in &plans {
            plan.submit(&gpu).unwrap();
        }
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
