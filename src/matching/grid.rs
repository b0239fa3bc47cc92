//! Grid-based matching: tests regions that share a cell.

use super::call_size::{CallSize, room};
use super::kernels::{Kernels, ReadbackRange, apart, wide};
use super::prepared::{Filter, GridRun, GridShape, Ordered, Origin, Ranges};
use super::sample_decision::SampleDecision;
use super::set::Columns;
use super::source::Source;
use super::work::Memory;
use super::{MatchingError, filter, programs};
use crate::gpu::Plan;

/// Bits of a cell's number in one dimension: `cell_bits` in grid.wgsl. So there are at most some
/// millions of cells.
fn cell_bits(dims: u32) -> u32 {
    22 / dims
}

/// Columns of an entry's row: bounds, region, home and cell.
fn columns(dims: u32) -> u32 {
    2 * dims + 3
}

/// Maximum number of entries of a set: kernels number their words with 32 bits.
fn max_entries(dims: u32) -> u32 {
    u32::MAX / columns(dims)
}

shared! {
    "matching/grid_lay.wgsl":
    const SAMPLE_OF_BOTH: u32 as SAMPLE;
}
/// Regions of each side that are sampled before the grid is laid out.
const SAMPLE: u32 = SAMPLE_OF_BOTH / 2;

shared! {
    "matching/grid_params.wgsl":
    struct GridParams {
        subscriptions: u32,
        updates: u32,
        cells: u32,
        joins: u32,
        joins_least: u32,
        subscriptions_sampled: u32,
        updates_sampled: u32,
        subscription_step: u32,
        update_step: u32,
    }
}

shared! {
    "matching/grid_entries.wgsl":
    struct EntryParams {
        subscriptions: u32,
        updates: u32,
        subscription_entries: u32,
        update_entries: u32,
    }
}

/// Words of `laid` in grid_lay.wgsl, and the index of the word with the number of joins.
const LAID: u64 = 32;
const JOINS: u64 = 16;

/// Maximum entries per region if the library chooses the cells: more than a box smaller than a cell
/// can meet in few dimensions. Bounds cells that the sample of grid_lay.wgsl misjudges.
const ENTRIES_PER_REGION: u64 = 4;

/// The finest grid: cells per dimension, and how often neighbouring cells may be joined in pairs.
fn finest(cells: Option<u32>, regions: u64, dims: u32) -> (u32, u32) {
    match cells {
        Some(cells) => (cells, 0),
        // About one cell per region, or slightly more.
        None => {
            let bits = regions.max(1).ilog2().div_ceil(dims).min(cell_bits(dims));
            (1 << bits, bits)
        }
    }
}

impl GridRun {
    fn new(kernels: &Kernels, shape: GridShape) -> Result<Self, MatchingError> {
        let GridShape { dims, counts, entries, tasks, .. } = shape;
        // Each has at most 2^30 on each side (a row has at least five columns). A sort of 2^31 is
        // rejected.
        let (regions, rows) = (counts[0] + counts[1], entries[0] + entries[1]);
        let bounds = kernels.lend("bounding box", 8)?;
        let laid = kernels.lend("grid", LAID)?;
        let cells = kernels.lend("cells of regions", 2 * u64::from(regions))?;
        let lengths = kernels.lend("numbers of cells", regions.into())?;
        let keys = kernels.lend("cells of entries", rows.into())?;
        let ids = kernels.lend("regions of entries", rows.into())?;
        let ordered = |count: u32| {
            let words = u64::from(count) * u64::from(columns(dims));
            Ok::<_, MatchingError>(Ordered { count, columns: kernels.lend("ordered entries", words)? })
        };
        let mut listing = Plan::new("entries of cells");
        let places = kernels.add_offsets(&mut listing, &lengths, regions)?;
        kernels.add_each(
            &mut listing,
            &programs::list_entries(dims),
            rows,
            &shape.entry_params(),
            &[("cells", cells.raw()), ("places", places.raw()), ("keys", keys.raw()), ("ids", ids.raw())],
        )?;
        // One more bit distinguishes the sides.
        kernels.add_sort(&mut listing, &keys, &ids, rows, cell_bits(dims) * dims + 1)?;
        let mut ranging = Plan::new("ranges of a grid");
        let sides = [ordered(entries[0])?, ordered(entries[1])?];
        let ranges = Ranges::new(kernels, &mut ranging, sides, dims, Origin::Grid)?;
        let filter = match tasks {
            0 => None,
            _ => Some(Filter::new(kernels, &ranges, Origin::Grid, tasks, true)?),
        };
        Ok(Self { shape, bounds, laid, cells, lengths, places, keys, ids, listing, ranging, ranges, filter })
    }

    /// From the sets to the cells of their regions.
    fn laying(
        &self,
        kernels: &Kernels,
        [subscriptions, updates]: [&Columns; 2],
        (cells, joins, joins_least): (u32, u32, u32),
    ) -> Result<Plan, MatchingError> {
        let GridShape { kind, dims, counts, .. } = self.shape;
        let steps = counts.map(|count| count.div_ceil(SAMPLE));
        let params = GridParams {
            subscriptions: counts[0],
            updates: counts[1],
            cells,
            joins,
            joins_least,
            subscriptions_sampled: counts[0].div_ceil(steps[0]),
            updates_sampled: counts[1].div_ceil(steps[1]),
            subscription_step: steps[0],
            update_step: steps[1],
        };
        let buffers = [
            ("subscriptions", subscriptions.keys.raw()),
            ("updates", updates.keys.raw()),
            ("bounds", self.bounds.raw()),
            ("laid", self.laid.raw()),
            ("cells", self.cells.raw()),
            ("lengths", self.lengths.raw()),
        ];
        let regions = counts[0] + counts[1];
        let mut plan = Plan::new("grid");
        plan.clear("bounding box", self.bounds.raw());
        kernels.add_each(&mut plan, &programs::grid_bounds(dims), regions, &params, &buffers)?;
        kernels.add(&mut plan, &programs::grid_lay(dims, kind), 1, &params, &buffers)?;
        kernels.add_each(&mut plan, &programs::grid_cells(dims, kind), regions, &params, &buffers)?;
        Ok(plan)
    }

    /// From sorted entries to their rows.
    fn gathering(
        &self,
        kernels: &Kernels,
        [subscriptions, updates]: [&Columns; 2],
    ) -> Result<Plan, MatchingError> {
        let mut plan = Plan::new("rows of entries");
        let [rows, more] = self.shape.entries;
        kernels.add_each(
            &mut plan,
            &programs::gather_entries(self.shape.dims),
            rows + more,
            &self.shape.entry_params(),
            &[
                ("sorted_keys", self.keys.raw()),
                ("sorted_ids", self.ids.raw()),
                ("cells", self.cells.raw()),
                ("places", self.places.raw()),
                ("subscriptions", subscriptions.keys.raw()),
                ("updates", updates.keys.raw()),
                ("ordered_subscriptions", self.ranges.subscriptions.columns.raw()),
                ("ordered_updates", self.ranges.updates.columns.raw()),
            ],
        )?;
        Ok(plan)
    }
}

impl GridShape {
    fn entry_params(&self) -> EntryParams {
        EntryParams {
            subscriptions: self.counts[0],
            updates: self.counts[1],
            subscription_entries: self.entries[0],
            update_entries: self.entries[1],
        }
    }
}

/// Capacity for the entries of a side, or an error if there cannot be enough.
fn room_for(kernels: &Kernels, dims: u32, now: u32, needed: u64) -> Result<u32, MatchingError> {
    let limit = max_entries(dims);
    let what = "entries of regions in cells of a grid";
    let fits = u32::try_from(needed).ok().filter(|needed| *needed <= limit);
    let needed = fits.ok_or(MatchingError::TooMuchWork { what, needed, limit: limit.into() })?;
    Ok(room(now, needed).min(most_rows(kernels, dims)).max(needed))
}

/// The maximum entries of a side that fit a binding.
fn most_rows(kernels: &Kernels, dims: u32) -> u32 {
    let rows = kernels.gpu().max_buffer_bytes() / (4 * u64::from(columns(dims)));
    max_entries(dims).min(u32::try_from(rows).unwrap_or(u32::MAX))
}

/// Matches by a grid of `cells` per dimension over the bounding box of all regions; `None` lets the
/// library choose. Returns `None` if `look` decides on another source.
pub(super) async fn matches(
    kernels: &Kernels,
    sides: [&Columns; 2],
    cells: Option<u32>,
    look: &mut SampleDecision,
    room: &mut CallSize,
) -> Result<Option<(u64, Source)>, MatchingError> {
    let dims = sides[0].dims;
    let limit = 1 << cell_bits(dims);
    if let Some(cells) = cells.filter(|cells| *cells == 0 || *cells > limit) {
        return Err(MatchingError::GridCells { cells, dimensions: dims, limit });
    }
    let counts = sides.map(|side| side.count);
    let regions = sides.iter().map(|side| u64::from(side.filled)).sum::<u64>();
    let (finest, joins) = finest(cells, regions, dims);
    let mut joins_least = 0;
    let most = most_rows(kernels, dims);
    room.entries = room.entries.map(|entries| entries.clamp(1, most.max(1)));
    loop {
        let tasks = if kernels.tests_at_once(room.tasks) { room.tasks } else { 0 };
        let shape = GridShape { kind: sides[0].kind, dims, counts, entries: room.entries, tasks };
        let mut run = kernels.grid.take(|run| run.shape == shape, || GridRun::new(kernels, shape))?;
        let laying = run.laying(kernels, sides, (finest, joins, joins_least))?;
        let gathering = run.gathering(kernels, sides)?;
        let looked = look.part();
        let mut wanted: Vec<_> = looked.iter().map(|(_, wanted)| *wanted).collect();
        wanted.push(ReadbackRange { from: run.laid.raw(), first: JOINS, words: 1 });
        wanted
            .extend([counts[0], counts[0] + counts[1]].map(|place| ReadbackRange::wide(&run.places, place)));
        wanted.push(run.ranges.wanted());
        wanted.extend(run.filter.as_ref().map(Filter::wanted));
        let mut all: Vec<_> = looked.iter().map(|(plan, _)| *plan).collect();
        all.extend([&laying, &run.listing, &gathering, &run.ranging]);
        all.extend(run.filter.iter().flat_map(Filter::plans));
        let looked = looked.is_some();
        // A few regions may meet very many cells.
        let apart = apart(counts) || apart(room.entries);
        let mut read = kernels.run_tests(&all, apart, &wanted, tasks).await?.into_iter();
        if looked && !read.next().is_none_or(|hits| look.reported(&hits)) {
            return Ok(None);
        }
        let mut next = || read.next().unwrap_or_default();
        let (joined, first, both, candidates) = (next()[0], wide(&next()), wide(&next()), wide(&next()));
        // Large regions meet many small cells: then larger cells are better.
        if joined < joins && both > ENTRIES_PER_REGION * regions {
            joins_least = joined + 1;
            continue;
        }
        let needed = [first, both - first];
        let had = room.entries;
        for (room, needed) in room.entries.iter_mut().zip(needed) {
            *room = room_for(kernels, dims, *room, needed)?;
        }
        if needed.iter().zip(had).any(|(needed, had)| *needed > had.into()) {
            continue;
        }
        let done = run.filter.take().zip(read.next().map(|words| wide(&words)));
        let counted = filter::count(kernels, &run.ranges, Origin::Grid, candidates, done, room).await?;
        let source = counted.source(&run.ranges);
        let memory = match counted.filter.is_at_once(room.tasks) {
            true => {
                run.shape.tasks = room.tasks;
                run.filter = Some(counted.filter);
                Memory::Grid(Box::new(run), None)
            }
            false => {
                run.shape.tasks = 0;
                Memory::Grid(Box::new(run), Some(Box::new(counted.filter)))
            }
        };
        let (total, placed) = filter::found(source, memory);
        return Ok(Some((total, Source::PlacedWork(placed))));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::Gpu;
    use crate::matching::{Algorithm, Coordinate, Matcher, Region};

    /// Random points, as many as a grid has cells: unequal or few cells would give more candidates.
    #[test]
    fn cells_are_alike_for_every_type() {
        fn candidates<T: Coordinate>(matcher: &Matcher, point: impl Fn(u32) -> (T, T)) -> u64 {
            let mix = |i: u32, factor: u32| (i ^ i >> 15).wrapping_mul(factor);
            let place = |i: u32| point(mix(mix(mix(i + 1, 0x9e37_79b9), 0x85eb_ca6b), 0xc2b2_ae35) >> 16);
            let [s, u] = [0u32, 1].map(|side| {
                let region = |i: u32| {
                    let (x, y) = (place(4 * i + side), place(4 * i + side + 2));
                    Region::new([x.0, y.0], [x.1, y.1])
                };
                matcher.upload("points", &(0..2048).map(region).collect::<Vec<_>>()).unwrap()
            });
            matcher.count(&s, &u, Algorithm::Grid { cells: None }).unwrap();
            let kernels = matcher.kernels();
            let run = kernels.grid.take(|_| true, || Err(())).unwrap();
            let wanted = run.ranges.wanted();
            wide(&pollster::block_on(kernels.run(&[], false, &[wanted])).unwrap()[0])
        }
        let matcher = Matcher::new(&Gpu::for_test());
        #[expect(clippy::cast_possible_wrap, clippy::cast_precision_loss, reason = "16 bits")]
        let all = [
            candidates(&matcher, |x| (x, x + 1)),
            candidates(&matcher, |x| (x << 15, (x + 1) << 15)),
            candidates(&matcher, |x| (x as i32 - 40_000, x as i32 - 39_999)),
            candidates(&matcher, |x| ((x as i32 - 32_768) * 65_536, (x as i32 - 32_768) * 65_536 + 9)),
            candidates(&matcher, |x| (x as f32 - 30_000.0, x as f32 - 29_999.5)),
            candidates(&matcher, |x| (1e-40 * (x + 1) as f32, 1e-40 * (x + 2) as f32)),
            candidates(&matcher, |x| (1e33 * (x as f32 - 30_000.0), 1e33 * (x as f32 - 29_999.0))),
        ];
        // 1,024 on average: 2,048 points in a side and 4,096 cells.
        assert!(all.iter().all(|candidates| (600..2_000).contains(candidates)), "{all:?}");
    }
}
