//! Sorted regions, and candidates as ranges of the other side's order.

use std::sync::PoisonError;

use super::kernels::{Kernels, ReadbackRange};
use super::limits::{TILE, UNIT};
use super::memory::PooledBuffer;
use super::prepared::{Ordered, Origin, Ranges};
use super::set::Columns;
use super::work::{TaskParams, Window, in_slices};
use super::{MatchingError, programs};
use crate::gpu::{Buffer, Plan};

shared! {
    "matching/order.wgsl":
    #[derive(Default)]
    struct ListParams {
        regions: u32,
        listed: u32,
        columns: u32,
    }
}

shared! {
    "matching/ranges.wgsl":
    struct RangeParams {
        subscriptions: u32,
        updates: u32,
        dimension: u32,
    }
}

shared! {
    "matching/firsts.wgsl":
    struct FirstsParams {
        candidate: u64,
        tiles: u32,
        ranges: u32,
    }
}

/// Scratch memory of a plan, held until the plan is submitted.
pub(super) type Scratch = [PooledBuffer<u32>; 2];

/// Sorts the non-empty regions of a set by their lower bounds in dimension `dim`, with a plan.
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

/// Adds to a plan a step that joins the first `count` of `ids` with their columns in `set`.
fn gather(
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

impl Ranges {
    /// Finds the ranges of these rows, with a plan.
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

    /// The number of candidates, available when the plan has run.
    pub(super) fn wanted(&self) -> ReadbackRange<'_> {
        ReadbackRange::wide(&self.places, self.count)
    }

    pub(super) fn sides(&self) -> [u32; 2] {
        [self.subscriptions.count, self.updates.count]
    }

    /// The inputs of the kernels of candidates.wgsl, with the buffer `firsts` for them.
    pub(super) fn inputs<'a>(&'a self, firsts: &'a Buffer<u32>) -> [(&'static str, &'a wgpu::Buffer); 5] {
        [
            ("subscriptions", self.subscriptions.columns.raw()),
            ("updates", self.updates.columns.raw()),
            ("places", self.places.raw()),
            ("begins", self.begins.raw()),
            ("firsts", firsts.raw()),
        ]
    }

    /// The range that holds the first candidate of each of `tiles` tiles from candidate `first` on,
    /// and one more.
    pub(super) fn firsts(
        &self,
        kernels: &Kernels,
        plan: &mut Plan,
        first: u64,
        tiles: u32,
    ) -> Result<PooledBuffer<u32>, MatchingError> {
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

    /// The same, with `unit` tiles in a first submission.
    pub(super) async fn write_in_units(
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
