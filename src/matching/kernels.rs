//! What all algorithms of the module use: its kernels, dispatches of them, and the primitives' scratch memory.

use std::ops::Deref;
use std::sync::{Arc, Mutex, PoisonError};

use bytemuck::Pod;

use super::MatchingError;
use super::counter::Ranking;
use crate::gpu::{Buffer, Gpu, GpuError, Kernel, Pace, Plan, Recipe};
use crate::primitives::{Count, RadixSort, Scan, ScanKind};

/// Invocations of a workgroup, in every kernel of the module: as in common.wgsl.
pub(super) const GROUP_SIZE: u32 = 256;

/// What the primitives take at the most.
pub(super) const MAX_COUNT: u64 = (1 << 31) - 1;

/// Memory that no call uses.
type Pool<T> = Arc<Mutex<Vec<Buffer<T>>>>;

/// So much of it is kept, by number: what two sides of a sweep need.
const KEPT: usize = 12;

/// Memory of a call's, of at least the length that was asked for and with rubbish in it. It is kept for the next call when it is dropped: that
/// may have it at once, because what it submits runs later.
#[derive(Debug)]
pub(super) struct Lent<T: Pod> {
    buffer: Buffer<T>,
    home: Pool<T>,
}

impl<T: Pod> Lent<T> {
    fn new(gpu: &Gpu, home: &Pool<T>, label: &str, len: u64) -> Result<Self, MatchingError> {
        let kept = {
            let mut kept = home.lock().unwrap_or_else(PoisonError::into_inner);
            // The smallest that serves, and not many times as long.
            let serves = |buffer: &Buffer<T>| buffer.len() >= len && buffer.len() / 4 <= len;
            let serving = (0..kept.len()).filter(|&place| serves(&kept[place]));
            serving.min_by_key(|&place| kept[place].len()).map(|place| kept.remove(place))
        };
        let fresh = || match Buffer::storage(gpu, label, len) {
            Err(GpuError::OutOfMemory { .. }) => {
                // What is kept may be what is missing.
                home.lock().unwrap_or_else(PoisonError::into_inner).clear();
                Buffer::storage(gpu, label, len)
            }
            made => made,
        };
        let buffer = kept.map_or_else(fresh, Ok)?;
        Ok(Self { buffer, home: Arc::clone(home) })
    }
}

impl<T: Pod> Deref for Lent<T> {
    type Target = Buffer<T>;

    fn deref(&self) -> &Buffer<T> {
        &self.buffer
    }
}

impl<T: Pod> Drop for Lent<T> {
    fn drop(&mut self) {
        let mut kept = self.home.lock().unwrap_or_else(PoisonError::into_inner);
        kept.push(self.buffer.clone());
        if kept.len() > KEPT {
            kept.remove(0);
        }
    }
}

/// One device, with the scratch memory that is worth keeping between calls.
#[derive(Debug)]
pub(super) struct Kernels {
    gpu: Gpu,
    /// The last sort, for as many keys as `0` says: its scratch memory serves all that are not longer.
    sort: Mutex<Option<(u32, RadixSort<u32>)>>,
    scan: Mutex<Option<Scan>>,
    words: Pool<u32>,
    wide: Pool<u64>,
    /// The last count by ranks, but for where its bounds come from.
    pub(super) ranking: Mutex<Option<Ranking>>,
    /// How fast pages of pairs are written, in units of `sweep::UNIT` tiles. Kept, because a page of pairs is written in less
    /// time than a wait for its first part would take.
    pub(super) page_pace: Mutex<Pace>,
}

impl Kernels {
    pub(super) fn new(gpu: &Gpu) -> Self {
        let page_pace = Mutex::new(Pace::new(u32::MAX));
        Self {
            gpu: gpu.clone(),
            sort: Mutex::default(),
            scan: Mutex::default(),
            words: Pool::default(),
            wide: Pool::default(),
            ranking: Mutex::default(),
            page_pace,
        }
    }

    pub(super) fn gpu(&self) -> &Gpu {
        &self.gpu
    }

    /// Words for a call: see [`Lent`].
    pub(super) fn lend(&self, label: &str, len: u64) -> Result<Lent<u32>, MatchingError> {
        Lent::new(&self.gpu, &self.words, label, len)
    }

    pub(super) fn kernel(&self, recipe: &Recipe) -> Result<Kernel, MatchingError> {
        // SAFETY: no file of the module holds a user's WGSL, and no user can write what its kernels index with: of the
        // buffers that a user reaches, `rows` (import) holds bounds and no indices, and pages of pairs and the total of a
        // `Counter` are not read by the module. So it is enough that the kernels index
        // within their buffers for what this module writes there.
        //
        // All: an invocation's number is compared with a length that the host passes, the one that it allotted the buffers
        // for. `MAX_REGIONS` and `MAX_ENTRIES` keep products of columns and rows below 2^32. Vectors and workgroup arrays
        // are indexed by dimension, lane and item, all below constants; brute.wgsl by `k < GROUP_SIZE`, candidates.wgsl
        // by less than STAGED, sweep_count.wgsl likewise.
        //
        // Loops: over dimensions, columns, items, rows of tiles with steps that are at least 1 (`sweep_count`: the number of
        // workgroups of a side that has this one), halvings in reduce.wgsl, search.wgsl and `sum_before`, and STEPS; in index and moves
        // over levels, children, samples, bits of cells, and over entries of lists with steps of at least 1,024, where counts are below 2^30.
        //
        // Divisors: constants, but for `spans()` (brute: at least 1, since no kernel starts for a side without regions), the number of samples
        // (index_build: at least 1, since `Index::new` plans nothing for no regions) and `width` (grid_entries: 1 more than the difference between a region's last and first cell in a
        // dimension, which find_cells writes in this order and which has at most 22 bits).
        //
        // Indices from data, by group of kernels:
        // * order: `ids` is numbered 0 .. n and permuted by a stable sort of n pairs. Buffers may be longer than was asked for, with rubbish behind (`Lent`):
        //   no kernel asks for their lengths, and all that is read was written before.
        // * grid: `find_cells` counts edges, so cells are below `cells` per dimension. `places` is the exclusive
        //   prefix sum of `lengths`; its search runs in 1 .. regions and less 1 is a region. `sorted_ids` permutes those.
        // * candidates: `places` is the exclusive prefix sum of `lengths`, so the range found for a candidate below the
        //   total holds it, and `begins` + the candidate's number within the range is below begin + length, which is the
        //   result of a search in the other side. Candidates from the total on are not looked up: count_matches and
        //   write_matches compare with `params.candidates`, write_all with the page, which ends at the total at the most.
        //   `firsts` is one longer than there are tiles; its last search may be for a candidate beyond the total and finds
        //   the last range.
        // * index: names are numbered 0 .. n and permuted by a stable sort of n pairs; `slots` is the inverse. Nodes and children are
        //   compared with the sizes of their level, and `levels` has as many entries as there are levels (`Index::new`: 8 at the most, since there are fewer than 2^28 regions).
        // * moves: names of rows were compared with the sets' lengths on the host, which also keeps the numbers of a submission below those of the rows, or
        //   of the slots. Nodes in lists were compared with the size of their level, so slots are those of leaves. Places in lists and changes
        //   are compared with the capacities, which the host passes with the buffers. A row of an empty region has keys as in import.wgsl.
        // * tree: `cursors` begins at 0 and moves to leaves below `end`, which is at most the number of leaves; a
        //   node of level l is a leaf's number / 8^l, and the host lays out as many nodes. Levels are at most 10,
        //   since there are at most 8^10 leaves: no shift reaches 32.
        // * tasks: `offsets` is one longer than there are tasks (or updates, in the tree). `put` compares with the page.
        // * sweep_count: ranks lie between the two ends of a search, which are places of one side.
        let kernel = unsafe { recipe.trusted(&self.gpu)? };
        Ok(kernel)
    }

    /// Adds a dispatch of `workgroups` workgroups to a plan, with `params` for the uniform of that name.
    pub(super) fn add<P: Pod>(
        &self,
        plan: &mut Plan,
        recipe: &Recipe,
        workgroups: u32,
        params: &P,
        buffers: &[(&str, &wgpu::Buffer)],
    ) -> Result<(), MatchingError> {
        let params = Buffer::uniform(&self.gpu, "parameters", params)?;
        let mut bound = vec![("params", params.binding())];
        bound.extend(buffers.iter().map(|(name, buffer)| (*name, buffer.as_entire_binding())));
        Ok(plan.dispatch(&self.gpu, &self.kernel(recipe)?, workgroups, &bound)?)
    }

    /// The same with an invocation for each of `items`.
    pub(super) fn add_each<P: Pod>(
        &self,
        plan: &mut Plan,
        recipe: &Recipe,
        items: u32,
        params: &P,
        buffers: &[(&str, &wgpu::Buffer)],
    ) -> Result<(), MatchingError> {
        self.add(plan, recipe, items.div_ceil(GROUP_SIZE), params, buffers)
    }

    /// A sort of up to `count` keys.
    pub(super) fn sort(&self, count: u32) -> Result<RadixSort<u32>, MatchingError> {
        let mut kept = self.sort.lock().unwrap_or_else(PoisonError::into_inner);
        match &*kept {
            Some((most, sort)) if *most >= count => Ok(sort.clone()),
            _ => {
                // The smaller one's memory is given back first.
                *kept = None;
                let sort = RadixSort::new(&self.gpu, count.into())?;
                *kept = Some((count, sort.clone()));
                Ok(sort)
            }
        }
    }

    /// Adds a sort of the first `count` of `keys`, and of `values` with them, by the lowest `bits` bits.
    pub(super) fn add_sort(
        &self,
        plan: &mut Plan,
        keys: &Buffer<u32>,
        values: &Buffer<u32>,
        count: u32,
        bits: u32,
    ) -> Result<(), MatchingError> {
        let count_of = Count::host(&self.gpu, count.into())?;
        plan.append(&self.sort(count)?.bind(&self.gpu, &count_of, keys, values, 0..bits)?);
        Ok(())
    }

    /// Runs `plan`, which writes `count` lengths. Their exclusive 64-bit prefix sums, with their sum at the end, and that sum.
    pub(super) async fn offsets(
        &self,
        mut plan: Plan,
        lengths: &Buffer<u32>,
        count: u32,
    ) -> Result<(Lent<u64>, u64), MatchingError> {
        let gpu = &self.gpu;
        let offsets = Lent::new(gpu, &self.wide, "offsets", u64::from(count) + 1)?;
        let last = u64::from(count);
        let scan = {
            let mut kept = self.scan.lock().unwrap_or_else(PoisonError::into_inner);
            if kept.is_none() {
                *kept = Some(Scan::new(gpu, MAX_COUNT)?);
            }
            kept.clone().expect("made above")
        };
        let total = Some((&*offsets, count));
        let count = Count::host(gpu, count.into())?;
        plan.append(&scan.bind_wide(gpu, ScanKind::Exclusive, &count, lengths, &offsets, total)?);
        plan.submit(gpu)?;
        let total = offsets.read_range(gpu, last, 1).await?[0];
        Ok((offsets, total))
    }
}
