//! Distances from some cells to all or some others, by wavefronts on the device.

use std::time::Duration;

use bytemuck::{Pod, Zeroable};
use web_time::Instant;

#[cfg(doc)]
use super::Guided;
use super::memory::{FrontMap, Work};
use super::{Grid, SearchError, Space, WavefrontOptions};
use crate::gpu::{Buffer, Download, Gpu, GpuError, Kernel, Pace, Plan, Recipe};

/// Finds distances from many cells of a map, or vertices of a graph, at once: one-to-all and
/// many-to-many.
///
/// It is delta-stepping by the whole device: all cells with costs in a band are expanded together,
/// for all sources, and corrected until nothing changes. So it visits each cell about once for each
/// source, for any number of targets. For a few targets near their sources
/// [`Engine`](super::Engine) visits fewer cells.
///
/// ```
/// use eventhorizon::gpu::Gpu;
/// use eventhorizon::search::{Grid, WavefrontOptions, Wavefronts};
/// use glam::UVec2;
///
/// let gpu = Gpu::new()?;
/// let grid = Grid::random(50, 0.1, 1)?;
/// let (depots, doors) = (grid.random_cells(3, 2), grid.random_cells(20, 3));
/// let fronts = Wavefronts::new(&gpu, grid, WavefrontOptions::default())?;
/// let table = fronts.between(&depots, &doors)?; // 3 rows of 20 distances
/// let near = fronts.nearest(&depots)?.row(&gpu, 0)?; // from each cell to the depot that is nearest
/// let first = table.row(&gpu, 0)?[7];
/// let door = doors[7].y * 50 + doors[7].x;
/// assert!(first.is_none() || near[door as usize] <= first);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Wavefronts<S = Grid> {
    gpu: Gpu,
    space: S,
    map: FrontMap,
    options: WavefrontOptions,
}

/// Distances from rows of sources to columns of targets, on the device.
#[derive(Debug, Clone)]
pub struct Distances {
    rows: u32,
    columns: u32,
    table: Buffer<u32>,
    took: Duration,
    passes: u64,
}

impl Distances {
    /// The number of rows: one for each source.
    pub fn rows(&self) -> u32 {
        self.rows
    }

    /// The number of columns: one for each target, or for each cell of the map, row by row, or
    /// vertex.
    pub fn columns(&self) -> u32 {
        self.columns
    }

    /// The distances on the device, row by row, a word each: all ones for unreachable cells.
    pub fn table(&self) -> &Buffer<u32> {
        &self.table
    }

    /// The duration by the host's clock, from the first submission until the device was done.
    pub fn took(&self) -> Duration {
        self.took
    }

    /// The number of passes of the wavefronts.
    pub fn passes(&self) -> u64 {
        self.passes
    }

    /// The distances from one source; `None` for unreachable cells.
    ///
    /// # Errors
    /// [`SearchError::Row`] if there is no such row, and [`SearchError::Gpu`].
    #[cfg(not(target_arch = "wasm32"))]
    pub fn row(&self, gpu: &Gpu, row: u32) -> Result<Vec<Option<u32>>, SearchError> {
        pollster::block_on(self.row_async(gpu, row))
    }

    /// [`Distances::row`] without blocking.
    ///
    /// # Errors
    /// As [`Distances::row`].
    pub async fn row_async(&self, gpu: &Gpu, row: u32) -> Result<Vec<Option<u32>>, SearchError> {
        if row >= self.rows {
            return Err(SearchError::Row { row, rows: self.rows });
        }
        let columns = u64::from(self.columns);
        let words = self.table.read_range(gpu, u64::from(row) * columns, columns).await?;
        Ok(words.into_iter().map(|cost| (cost != FAR).then_some(cost)).collect())
    }
}

shared! {
    "search/fronts.wgsl":
    /// The distance of unreachable cells.
    const FAR: u32 as FARTHEST;
}

/// `FRONT_MODE` and the following constants of `shaders/search/fronts.wgsl`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, Pod, Zeroable)]
struct Control {
    mode: u32,
    length: u32,
    cursor: u32,
    next: u32,
    beyond: u32,
    least: u32,
    end: u32,
    begin: u32,
    band: u32,
    far: u32,
    lost: u32,
    passes: u32,
    budget: u32,
}

shared! {
    "search/fronts.wgsl":
    const OVER: u32 as FRONT_OVER;
}
const GROUP: u32 = 64;
/// Maximum number of passes of a submission.
const MOST_PASSES: u32 = 1 << 8;
/// The largest budget of a submission (`FRONT_BUDGET`): enough for passes over 2^24 entries in
/// total.
const MOST_WORK: u32 = 1 << 16;
/// Bytes of an entry: a mark, flags, and four lists.
const ENTRY: u64 = 24;

impl<S: Space> Wavefronts<S> {
    /// Uploads a map ([`Grid`]) or a graph ([`Guided`]) to the device. A heuristic is not needed
    /// here.
    ///
    /// # Errors
    /// [`SearchError::Gpu`], and [`SearchError::Arcs`] near 2^32 arcs or vertices: a vertex with
    /// more than 64 arcs is split into several.
    pub fn new(gpu: &Gpu, map: S, options: WavefrontOptions) -> Result<Self, SearchError> {
        let front_map = map.front_map(gpu)?;
        Ok(Self { gpu: gpu.clone(), space: map, map: front_map, options })
    }

    /// The map, or the graph.
    pub fn map(&self) -> &S {
        &self.space
    }

    /// The distances from each source to all cells: a row for each source.
    ///
    /// # Errors
    /// [`SearchError`] if a source is not on the map (its number takes the role of a search's), a
    /// distance exceeds 32 bits, the table does not fit the device, or the device fails.
    /// distance leaves 32 bits, the table does not fit the device, or that fails.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn from_each(&self, sources: &[S::Cell]) -> Result<Distances, SearchError> {
        pollster::block_on(self.from_each_async(sources))
    }

    /// [`Wavefronts::from_each`] without blocking.
    ///
    /// # Errors
    /// As [`Wavefronts::from_each`].
    pub async fn from_each_async(&self, sources: &[S::Cell]) -> Result<Distances, SearchError> {
        let sources = self.indices(sources)?;
        let rows: Vec<_> = sources.chunks(1).collect();
        self.run(&rows, &self.all()).await
    }

    /// The distances from each source to each target: a row for each source, a column for each
    /// target.
    ///
    /// # Errors
    /// As [`Wavefronts::from_each`].
    #[cfg(not(target_arch = "wasm32"))]
    pub fn between(&self, sources: &[S::Cell], targets: &[S::Cell]) -> Result<Distances, SearchError> {
        pollster::block_on(self.between_async(sources, targets))
    }

    /// [`Wavefronts::between`] without blocking.
    ///
    /// # Errors
    /// As [`Wavefronts::from_each`].
    pub async fn between_async(
        &self,
        sources: &[S::Cell],
        targets: &[S::Cell],
    ) -> Result<Distances, SearchError> {
        let sources = self.indices(sources)?;
        let targets: Vec<_> = self.indices(targets)?.iter().map(|target| target.cell).collect();
        let rows: Vec<_> = sources.chunks(1).collect();
        self.run(&rows, &targets).await
    }

    /// The distance to each cell from its nearest source: one row.
    ///
    /// # Errors
    /// As [`Wavefronts::from_each`].
    #[cfg(not(target_arch = "wasm32"))]
    pub fn nearest(&self, sources: &[S::Cell]) -> Result<Distances, SearchError> {
        pollster::block_on(self.nearest_async(sources))
    }

    /// [`Wavefronts::nearest`] without blocking.
    ///
    /// # Errors
    /// As [`Wavefronts::from_each`].
    pub async fn nearest_async(&self, sources: &[S::Cell]) -> Result<Distances, SearchError> {
        let mut sources = self.indices(sources)?;
        sources.sort_unstable_by_key(|source| source.cell);
        sources.dedup_by_key(|source| source.cell);
        self.run(&[&sources], &self.all()).await
    }

    fn all(&self) -> Vec<u32> {
        (0..self.space.count()).collect()
    }

    /// The indices of cells.
    fn indices(&self, cells: &[S::Cell]) -> Result<Vec<Source>, SearchError> {
        let index = |(number, cell): (usize, &S::Cell)| {
            let place = self.space.locate(number, *cell)?;
            let cell = u32::try_from(self.space.index(place)).expect("cells are numbered in 32 bits");
            Ok(Source { cell, open: self.space.is_open(place) })
        };
        cells.iter().enumerate().map(index).collect()
    }

    /// The number of rows in one batch.
    fn rows(&self, rows: usize) -> Result<u32, SearchError> {
        let cells = u64::from(self.map.cells());
        // The lists are the largest buffer. On hardware a part of the device's memory, on software
        // adapters about the CPU's caches.
        let (limit, bytes) = match self.gpu.is_software() {
            true => (self.gpu.max_buffer_bytes(), 64 << 20),
            false => (self.gpu.max_buffer_bytes(), 4 << 30),
        };
        let needed = 16 * cells;
        if needed > limit {
            let what = "the lists of a wavefront".to_owned();
            return Err(GpuError::TooLarge { what, needed, limit }.into());
        }
        let fits = (limit / needed.max(1)).min(u64::from(u32::MAX) / (4 * cells.max(1)));
        let wanted = self.options.rows.map_or(bytes / (ENTRY * cells.max(1)), u64::from).max(1);
        let rows = wanted.min(fits).min(rows as u64).max(1);
        Ok(u32::try_from(rows).unwrap_or(u32::MAX))
    }

    async fn run(&self, rows: &[&[Source]], targets: &[u32]) -> Result<Distances, SearchError> {
        let gpu = &self.gpu;
        let limit = u32::MAX;
        let columns = u32::try_from(targets.len()).map_err(|_| SearchError::TooMany {
            what: "targets",
            count: targets.len(),
            limit,
        })?;
        let count = u32::try_from(rows.len()).map_err(|_| SearchError::TooMany {
            what: "sources",
            count: rows.len(),
            limit,
        })?;
        let table = Buffer::storage(gpu, "the table of distances", u64::from(count) * u64::from(columns))?;
        let mut found = Distances { rows: count, columns, table, took: Duration::ZERO, passes: 0 };
        if columns == 0 || count == 0 {
            return Ok(found);
        }
        let mut at_once = self.rows(rows.len())?;
        let most = |batch: &[&[Source]]| batch.iter().map(|sources| sources.len()).sum();
        let memory = loop {
            let sources = rows.chunks(at_once as usize).map(most).max().unwrap_or(0);
            let made = Fronts::new(gpu, &self.map, (at_once, sources), targets, &found.table);
            // A browser reports later whether there is enough memory.
            match gpu.settle().await.map_err(SearchError::from).and(made) {
                Err(SearchError::Gpu(GpuError::OutOfMemory { .. })) if at_once > 1 => at_once /= 2,
                other => break other?,
            }
        };
        let begun = Instant::now();
        let mut pace = Pace::new(MOST_WORK);
        for (number, batch) in rows.chunks(at_once as usize).enumerate() {
            let first = number * at_once as usize;
            let length = u32::try_from(batch.len()).expect("not more than fit");
            let mut work = Work {
                cells: self.map.cells(),
                searches: columns,
                slots: length,
                capacity: at_once * self.map.cells(),
                steps: memory.slice,
                delta: self.options.band.unwrap_or(self.space.front_band()),
                drain: u32::try_from(first).expect("a row's number"),
                ..Work::default()
            };
            self.space.describe(&mut work);
            let lost = memory.batch(gpu, work, batch, &mut pace, &mut found.passes).await?;
            if lost {
                self.check_lost(&memory, batch, first).await?;
            }
        }
        // A read waits, even in browsers.
        found.table.read_range(gpu, 0, 1).await?;
        found.took = begun.elapsed();
        Ok(found)
    }

    /// Costs beyond 32 bits were skipped: checks whether a cell was not reached because of that.
    async fn check_lost(&self, memory: &Fronts, rows: &[&[Source]], first: usize) -> Result<(), SearchError> {
        let move_map = self.space.move_map();
        let cells = u64::from(self.map.cells());
        for (row, _) in (0_u64..).zip(rows) {
            let marks = memory.marks.read_range(&self.gpu, row * cells, self.space.count().into()).await?;
            let mut lost = false;
            for (index, _) in marks.iter().enumerate().filter(|(_, mark)| **mark != 0) {
                let place = self.space.place(index);
                self.space.each_move(&move_map, place, |to, _| lost |= marks[self.space.index(to)] == 0);
            }
            if lost {
                let search = u32::try_from(first as u64 + row).unwrap_or(u32::MAX);
                return Err(SearchError::Overflow { search, limit: FAR });
            }
        }
        Ok(())
    }
}

/// A source or a target.
#[derive(Debug, Clone, Copy)]
struct Source {
    /// The index of the cell.
    cell: u32,
    /// Whether paths can start there.
    open: bool,
}

/// The memory of a batch of rows.
#[derive(Debug)]
struct Fronts {
    marks: Buffer<u32>,
    lists: Buffer<u32>,
    control: Buffer<Control>,
    work: Buffer<Work>,
    /// Entries of one pass.
    slice: u32,
    clear: Plan,
    begin: Plan,
    pass: Plan,
    gather: Plan,
}

impl Fronts {
    fn new(
        gpu: &Gpu,
        map: &FrontMap,
        (rows, sources): (u32, usize),
        targets: &[u32],
        table: &Buffer<u32>,
    ) -> Result<Self, SearchError> {
        let entries = u64::from(rows) * u64::from(map.cells());
        let marks = Buffer::storage(gpu, "wavefronts: marks", entries)?;
        let flags = Buffer::<u32>::storage(gpu, "wavefronts: flags", entries)?;
        let lists = Buffer::storage(gpu, "wavefronts: lists", 4 * entries)?;
        let control = Buffer::<Control>::storage(gpu, "wavefronts: control", 1)?;
        let work = Buffer::uniform(gpu, "wavefronts: work", &Work::default())?;
        let targets = Buffer::storage_from(gpu, "wavefronts: targets", targets)?;
        // A short wavefront pays for idle invocations in a pass, a long one for more passes.
        let groups: u32 = if gpu.is_software() { 64 } else { 1024 };
        let groups = groups.min(u32::try_from(entries.div_ceil(GROUP.into())).unwrap_or(u32::MAX)).max(1);
        let mut buffers = vec![
            ("work", work.binding()),
            ("row_marks", marks.binding()),
            ("flags", flags.binding()),
            ("lists", lists.binding()),
            ("control", control.binding()),
            ("targets", targets.binding()),
            ("table", table.binding()),
        ];
        buffers.extend(map.bindings());
        let [begin, pass, decide, gather] = map.recipes();
        let one = |label, recipe: &Recipe, groups| -> Result<Plan, SearchError> {
            let mut plan = Plan::new(label);
            plan.dispatch(gpu, &kernel(gpu, recipe)?, groups, &buffers)?;
            Ok(plan)
        };
        let mut clear = Plan::new("wavefronts: clear");
        clear.clear("marks", marks.raw());
        clear.clear("flags", flags.raw());
        let whole = |count: u64| u32::try_from(count.div_ceil(GROUP.into())).unwrap_or(u32::MAX).max(1);
        let begin = one("wavefronts: begin", &begin, whole(sources as u64))?;
        let gather = one("wavefronts: gather", &gather, whole(u64::from(rows) * targets.len()))?;
        let mut pass = one("wavefronts: pass", &pass, groups)?;
        pass.append(&one("wavefronts: decide", &decide, 1)?);
        Ok(Self { marks, lists, control, work, slice: groups * GROUP, clear, begin, pass, gather })
    }

    /// Computes a batch of rows, and returns whether costs beyond 32 bits were skipped.
    async fn batch(
        &self,
        gpu: &Gpu,
        work: Work,
        rows: &[&[Source]],
        pace: &mut Pace,
        passes: &mut u64,
    ) -> Result<bool, SearchError> {
        let entries = (0..).zip(rows).flat_map(|(row, sources)| {
            let open = sources.iter().filter(|source| source.open);
            open.map(move |source| row * work.cells + source.cell)
        });
        let entries: Vec<u32> = entries.collect();
        let length = u32::try_from(entries.len()).expect("there are not more than cells");
        self.work.write(gpu, 0, &[work])?;
        self.lists.write(gpu, 0, &entries)?;
        let mut control = Control { length, least: FAR, end: work.delta.max(1), ..Control::default() };
        self.control.write(gpu, 0, &[control])?;
        let mut encoder = gpu.encoder("wavefronts");
        self.clear.record(&mut encoder);
        self.begin.record(&mut encoder);
        gpu.submit(encoder)?;
        let (mut made, mut spent) = (1, 1);
        // Bound: bands only advance, and a cell's cost only falls.
        loop {
            let budget = pace.units();
            // Passes beyond the budget do nothing but take time. So submit as many as the budget
            // allows if they are like those of the last submission.
            let times = (budget * made / spent).clamp(1, MOST_PASSES);
            let before = control.passes;
            control.budget = budget;
            self.control.write(gpu, 0, &[control])?;
            let begun = Instant::now();
            let mut encoder = gpu.encoder("wavefronts");
            self.pass.record_times(&mut encoder, times);
            let download = Download::new(gpu, "wavefronts: control", size_of::<Control>() as u64)?;
            download.record(&mut encoder, self.control.raw(), 0);
            let submission = gpu.submit(encoder)?;
            let bytes = download.finish(gpu, submission).await?;
            control = bytemuck::pod_read_unaligned(&bytes);
            if control.mode != OVER {
                (made, spent) = (control.passes - before, budget - control.budget);
                pace.record(spent, begun.elapsed());
                continue;
            }
            *passes += u64::from(control.passes);
            self.gather.submit(gpu)?;
            return Ok(control.lost != 0);
        }
    }
}

fn kernel(gpu: &Gpu, recipe: &Recipe) -> Result<Kernel, GpuError> {
    // SAFETY: the `// bounds:` paragraphs of shaders/search/fronts.wgsl and its linked files argue
    // that accesses stay within bounds.
    unsafe { recipe.trusted(gpu) }
}
