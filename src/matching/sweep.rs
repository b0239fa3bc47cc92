//! Sort-based matching: regions ordered by their lower bounds, overlaps as ranges of the other side's order.

use std::sync::Arc;

use super::MatchingError;
use super::kernels::{Kernels, SIZE};
use super::matches::Source;
use super::programs::{self, Recipe};
use super::set::Columns;
use super::work::{Window, Work, halves};
use crate::gpu::Buffer;
use crate::primitives::Count;

/// Candidates of a workgroup: `TILE` in tile.wgsl.
pub(super) const TILE: u32 = 8 * SIZE;

/// Non-empty regions in some order: `columns` columns of keys, then their ids.
#[derive(Debug, Clone)]
pub(super) struct Ordered {
    pub(super) count: u32,
    pub(super) columns: Buffer<u32>,
}

/// Orders the non-empty regions of a set by their lower bounds in dimension `dim`.
pub(super) fn order(kernels: &Kernels, set: &Columns, dim: u32) -> Result<Ordered, MatchingError> {
    let gpu = kernels.gpu();
    let keys = Buffer::<u32>::storage(gpu, "lower bounds", set.count.into())?;
    let ids = Buffer::<u32>::storage(gpu, "region ids", set.count.into())?;
    let iota = kernels.get(&programs::IOTA, &[])?;
    let params = Kernels::params(gpu, &[0, 0, 0, set.count])?;
    let iota_bindings = iota.bind(gpu, &[("params", params.binding()), ("ids", ids.binding())])?;
    let sort = kernels.sort(set.count)?;
    let count = Count::host(gpu, set.count.into())?;
    let sort = sort.bind(gpu, &count, &keys, &ids, 0..32)?;
    let mut encoder = gpu.encoder("order regions");
    // Empty regions have the largest key and come last.
    let bytes = u64::from(set.count) * 4;
    encoder.copy_buffer_to_buffer(set.keys.raw(), set.column_offset(2 * dim), keys.raw(), 0, bytes);
    {
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
        iota.dispatch(&mut pass, &iota_bindings, set.count.div_ceil(SIZE));
        sort.record_in(&mut pass);
    }
    gpu.submit(encoder)?;
    gather(kernels, &set.keys, 2 * set.dims, set.count, &ids, set.filled)
}

/// The first `count` of `ids`, with their columns.
pub(super) fn gather(
    kernels: &Kernels,
    columns: &Buffer<u32>,
    width: u32,
    height: u32,
    ids: &Buffer<u32>,
    count: u32,
) -> Result<Ordered, MatchingError> {
    let gpu = kernels.gpu();
    let ordered = Buffer::<u32>::storage(gpu, "ordered regions", u64::from(count) * u64::from(width + 1))?;
    let kernel = kernels.get(&programs::GATHER, &[])?;
    kernels.run(
        &kernel,
        count,
        &[height, 0, 0, count, 0, 0, 0, width],
        &[("ids", ids.raw()), ("columns", columns.raw()), ("ordered", ordered.raw())],
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
    pub(super) begins: Buffer<u32>,
    /// Where each range begins among all candidates; then their total.
    pub(super) places: Buffer<u64>,
    pub(super) count: u32,
    pub(super) candidates: u64,
}

/// The candidates of a sweep along dimension `dim`. In one dimension they are the matches.
pub(super) fn ranges(
    kernels: &Kernels,
    subscriptions: &Columns,
    updates: &Columns,
    dim: u32,
) -> Result<Ranges, MatchingError> {
    let gpu = kernels.gpu();
    let dims = subscriptions.dims;
    let subscriptions = order(kernels, subscriptions, dim)?;
    let updates = order(kernels, updates, dim)?;
    let needed = u64::from(subscriptions.count) + u64::from(updates.count);
    let count = u32::try_from(needed)
        .ok()
        .filter(|count| *count < 1 << 31)
        .ok_or(MatchingError::TooMuchWork { what: "regions of both sides", needed, limit: (1 << 31) - 1 })?;
    let begins = Buffer::<u32>::storage(gpu, "begins of ranges", count.into())?;
    let lengths = Buffer::<u32>::storage(gpu, "lengths of ranges", count.into())?;
    let kernel = kernels.get(&programs::SWEEP_RANGES, &[("DIMS", dims)])?;
    kernels.run(
        &kernel,
        count,
        &[subscriptions.count, updates.count, 0, count, 0, 0, 0, dim],
        &[
            ("subscriptions", subscriptions.columns.raw()),
            ("updates", updates.columns.raw()),
            ("begins", begins.raw()),
            ("lengths", lengths.raw()),
        ],
    )?;
    let (places, candidates) = kernels.offsets(&lengths, count)?;
    Ok(Ranges { subscriptions, updates, dims, begins, places, count, candidates })
}

impl Ranges {
    fn sides(&self) -> [u32; 2] {
        [self.subscriptions.count, self.updates.count]
    }

    /// For each of `tiles` tiles from candidate `first` on, the range that holds its first candidate; and one
    /// more.
    fn firsts(&self, kernels: &Kernels, first: u64, tiles: u32) -> Result<Buffer<u32>, MatchingError> {
        let gpu = kernels.gpu();
        let firsts = Buffer::<u32>::storage(gpu, "first ranges of tiles", u64::from(tiles) + 1)?;
        let kernel = kernels.get(&programs::FIRSTS, &[])?;
        let (low, high) = halves(first);
        kernels.run(
            &kernel,
            tiles + 1,
            &[0, 0, 0, tiles + 1, low, high, 0, self.count],
            &[("places", self.places.raw()), ("firsts", firsts.raw())],
        )?;
        Ok(firsts)
    }

    /// The candidates as work that tests each, with a kernel that counts the matches and one that writes them.
    pub(super) fn filtered(
        &self,
        kernels: &Kernels,
        [count, write]: &[Recipe; 2],
    ) -> Result<Work, MatchingError> {
        let needed = self.candidates.div_ceil(TILE.into());
        let tasks = u32::try_from(needed).ok().filter(|tasks| *tasks < 1 << 31).ok_or(
            MatchingError::TooMuchWork { what: "tiles of candidates", needed, limit: (1 << 31) - 1 },
        )?;
        let firsts = self.firsts(kernels, 0, tasks)?;
        let dims = [("DIMS", self.dims)];
        Ok(Work {
            count: kernels.get(count, &dims)?,
            write: kernels.get(write, &dims)?,
            inputs: vec![
                ("subscriptions", self.subscriptions.columns.raw().clone()),
                ("updates", self.updates.columns.raw().clone()),
                ("places", self.places.raw().clone()),
                ("begins", self.begins.raw().clone()),
                ("firsts", firsts.raw().clone()),
            ],
            sides: self.sides(),
            extra: self.count,
            tasks,
            unit: 1 << 14,
        })
    }

    /// Writes a window of the candidates, all of which are matches.
    pub(super) fn write(
        &self,
        kernels: &Kernels,
        window: Window,
        pairs: &Buffer<[u32; 2]>,
    ) -> Result<(), MatchingError> {
        let gpu = kernels.gpu();
        let tiles = window.room.div_ceil(TILE);
        let firsts = self.firsts(kernels, window.first, tiles)?;
        let kernel = kernels.get(&programs::EXPAND, &[("DIMS", self.dims)])?;
        let [low, high, room] = window.words();
        let [subscriptions, updates] = self.sides();
        // One dispatch: it is bound by writing what one binding holds.
        let params = Kernels::params(gpu, &[subscriptions, updates, 0, tiles, low, high, room, self.count])?;
        let bindings = kernel.bind(
            gpu,
            &[
                ("params", params.binding()),
                ("subscriptions", self.subscriptions.columns.binding()),
                ("updates", self.updates.columns.binding()),
                ("places", self.places.binding()),
                ("begins", self.begins.binding()),
                ("firsts", firsts.binding()),
                ("pairs", pairs.binding()),
            ],
        )?;
        let mut encoder = gpu.encoder("write pairs");
        {
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
            kernel.dispatch(&mut pass, &bindings, tiles);
        }
        gpu.submit(encoder)?;
        Ok(())
    }
}

/// Matches by sorting: in one dimension the ranges themselves, in more those of the candidates that pass the
/// test.
pub(super) fn matches(
    kernels: &Arc<Kernels>,
    subscriptions: &Columns,
    updates: &Columns,
    dim: u32,
) -> Result<(u64, Source), MatchingError> {
    let ranges = ranges(kernels, subscriptions, updates, dim)?;
    if ranges.candidates == 0 {
        return Ok((0, Source::Nothing));
    }
    if subscriptions.dims == 1 {
        return Ok((ranges.candidates, Source::Ranges(ranges)));
    }
    let (placed, total) =
        ranges.filtered(kernels, &[programs::FILTER_COUNT, programs::FILTER_PAIRS])?.count(kernels)?;
    Ok((total, Source::Placed(placed)))
}
