//! Grid-based matching: regions that share a cell are tested.

use bytemuck::{Pod, Zeroable};

use super::MatchingError;
use super::kernels::{Kernels, Lent};
use super::matches::Source;
use super::programs;
use super::set::Columns;
use super::sweep::{Ordered, RangeParams, Ranges};
use crate::gpu::{Buffer, Plan};

/// Bits of a cell's number in one dimension: `cell_bits` in grid.wgsl. So there are at most some millions of
/// cells.
fn cell_bits(dims: u32) -> u32 {
    22 / dims
}

/// The most entries of a set, of `2·dims + 3` columns: kernels number their words with 32 bits.
fn max_entries(dims: u32) -> u32 {
    (u32::MAX / (2 * dims + 3)).min(1 << 30)
}

/// As in grid_cells.wgsl.
#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
struct CellParams {
    regions: u32,
    cells: u32,
}

/// As in grid_entries.wgsl.
#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
struct EntryParams {
    entries: u32,
    regions: u32,
}

/// Where the library chooses the cells it wants at most so many entries per region: more than the corners of a
/// box that is smaller than a cell can meet in few dimensions, and few enough to be sorted in less time than
/// they save. A guess, not measured.
const ENTRIES_PER_REGION: u64 = 4;

/// Matches by a grid of `cells` per dimension over the box that holds all regions; `None` lets the library
/// choose.
pub(super) async fn matches(
    kernels: &Kernels,
    subscriptions: &Columns,
    updates: &Columns,
    cells: Option<u32>,
) -> Result<(u64, Source), MatchingError> {
    let dims = subscriptions.dims;
    let limit = 1 << cell_bits(dims);
    if let Some(cells) = cells.filter(|cells| *cells == 0 || *cells > limit) {
        return Err(MatchingError::GridCells { cells, dimensions: dims, limit });
    }
    let bounds = bounds(kernels, subscriptions, updates).await?;
    let regions = u64::from(subscriptions.filled) + u64::from(updates.filled);
    let mut wanted = cells.unwrap_or_else(|| cells_for(regions, dims).min(limit));
    let (subscriptions, updates) = loop {
        let grid = Grid::new(kernels, subscriptions, &bounds, wanted)?;
        let homes = grid.homes(kernels, subscriptions).await?;
        let other = grid.homes(kernels, updates).await?;
        // Large regions meet many small cells: then larger cells serve better.
        if cells.is_some() || wanted == 1 || homes.entries + other.entries <= ENTRIES_PER_REGION * regions {
            break (grid.entries(kernels, subscriptions, &homes)?, grid.entries(kernels, updates, &other)?);
        }
        wanted /= 2;
    };
    let begins = kernels.lend("begins of ranges", subscriptions.count.into())?;
    let lengths = kernels.lend("lengths of ranges", subscriptions.count.into())?;
    let mut plan = Plan::new("ranges of a grid");
    kernels.add_each(
        &mut plan,
        &programs::grid_ranges(dims),
        subscriptions.count,
        &RangeParams { subscriptions: subscriptions.count, updates: updates.count, dimension: 0 },
        &[
            ("subscriptions", subscriptions.columns.raw()),
            ("updates", updates.columns.raw()),
            ("begins", begins.raw()),
            ("lengths", lengths.raw()),
        ],
    )?;
    let count = subscriptions.count;
    let (places, candidates) = kernels.offsets(plan, &lengths, count).await?;
    let ranges = Ranges { subscriptions, updates, dims, begins, places, count, candidates };
    if candidates == 0 {
        return Ok((0, Source::Nothing));
    }
    let (placed, total) = ranges.filtered(kernels, true)?.count(kernels).await?;
    Ok((total, Source::Placed(placed)))
}

/// About one cell per region.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "a guess, saturating"
)]
fn cells_for(regions: u64, dims: u32) -> u32 {
    ((regions as f64).powf(1.0 / f64::from(dims)) as u32).max(1)
}

/// The bounding box of both sets, as keys: lower and upper bound of each dimension in turn.
async fn bounds(
    kernels: &Kernels,
    subscriptions: &Columns,
    updates: &Columns,
) -> Result<Vec<u32>, MatchingError> {
    let bounds = Buffer::storage_from(kernels.gpu(), "bounding box", &[u32::MAX, 0].repeat(4))?;
    let mut plan = Plan::new("bounding box");
    for set in [subscriptions, updates] {
        kernels.add_each(
            &mut plan,
            &programs::grid_bounds(set.dims),
            set.count,
            &CellParams { regions: set.count, cells: 0 },
            &[("columns", set.keys.raw()), ("bounds", bounds.raw())],
        )?;
    }
    plan.submit(kernels.gpu())?;
    Ok(bounds.read_async(kernels.gpu()).await?)
}

/// A regular grid over the bounding box.
struct Grid {
    cells: u32,
    edges: Buffer<u32>,
}

/// Which cells the regions of a set meet.
struct Homes {
    cells: Lent<u32>,
    places: Lent<u64>,
    entries: u64,
}

impl Grid {
    fn new(kernels: &Kernels, set: &Columns, bounds: &[u32], cells: u32) -> Result<Self, MatchingError> {
        let mut edges = Vec::new();
        for side in bounds.chunks_exact(2).take(set.dims as usize) {
            // A region may be unbounded; the cells are not.
            let finite = |key| set.kind.value(key).clamp(f32::MIN.into(), f32::MAX.into());
            let (lo, hi) = (finite(side[0]), finite(side[1]));
            let width = (hi - lo) / f64::from(cells);
            edges.extend((1..cells).map(|cell| set.kind.key(lo + width * f64::from(cell))));
        }
        Ok(Self { cells, edges: Buffer::storage_from(kernels.gpu(), "edges of cells", &edges)? })
    }

    async fn homes(&self, kernels: &Kernels, set: &Columns) -> Result<Homes, MatchingError> {
        let cells = kernels.lend("cells of regions", 2 * u64::from(set.count))?;
        let lengths = kernels.lend("numbers of cells", set.count.into())?;
        let mut plan = Plan::new("cells of regions");
        kernels.add_each(
            &mut plan,
            &programs::grid_cells(set.dims),
            set.count,
            &CellParams { regions: set.count, cells: self.cells },
            &[
                ("columns", set.keys.raw()),
                ("edges", self.edges.raw()),
                ("cells", cells.raw()),
                ("lengths", lengths.raw()),
            ],
        )?;
        let (places, entries) = kernels.offsets(plan, &lengths, set.count).await?;
        Ok(Homes { cells, places, entries })
    }

    /// The entries of a set in the order of their cells.
    fn entries(&self, kernels: &Kernels, set: &Columns, homes: &Homes) -> Result<Ordered, MatchingError> {
        let gpu = kernels.gpu();
        let limit = max_entries(set.dims);
        let count = u32::try_from(homes.entries).ok().filter(|count| *count <= limit).ok_or(
            MatchingError::TooMuchWork {
                what: "entries of regions in cells of a grid",
                needed: homes.entries,
                limit: limit.into(),
            },
        )?;
        let keys = kernels.lend("cells of entries", count.into())?;
        let ids = kernels.lend("regions of entries", count.into())?;
        let width = u64::from(2 * set.dims + 3);
        let ordered = kernels.lend("ordered entries", u64::from(count) * width)?;
        let params = EntryParams { entries: count, regions: set.count };
        let mut plan = Plan::new("entries of cells");
        kernels.add_each(
            &mut plan,
            &programs::list_entries(set.dims),
            count,
            &params,
            &[
                ("cells", homes.cells.raw()),
                ("places", homes.places.raw()),
                ("keys", keys.raw()),
                ("ids", ids.raw()),
            ],
        )?;
        kernels.add_sort(&mut plan, &keys, &ids, count, cell_bits(set.dims) * set.dims)?;
        kernels.add_each(
            &mut plan,
            &programs::gather_entries(set.dims),
            count,
            &params,
            &[
                ("sorted_keys", keys.raw()),
                ("sorted_ids", ids.raw()),
                ("cells", homes.cells.raw()),
                ("columns", set.keys.raw()),
                ("ordered", ordered.raw()),
            ],
        )?;
        plan.submit(gpu)?;
        Ok(Ordered { count, columns: ordered })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::assert_same_layout;

    #[test]
    fn parameters_lie_as_in_wgsl() {
        assert_same_layout!(programs::grid_cells(1).link().unwrap(), CellParams { regions, cells });
        assert_same_layout!(programs::list_entries(1).link().unwrap(), EntryParams { entries, regions });
    }
}
