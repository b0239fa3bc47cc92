//! Results on the device: the outputs of all LPs, piece by piece, and their totals.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytemuck::Pod;

use crate::gpu::{Buffer, FieldKind, Gpu, GpuError, Kernel, Plan, Recipe};
use crate::time::Ticks;

use super::control::{COUNTS, FAILURE};
use super::cut::{Cut, group_size_at_most};
use super::dispatch::Part;
use super::memory::Memory;
use super::recipes;
use crate::pdes::contract::error::{Fault, FaultKind, SimulationError};
use crate::pdes::contract::output::Columns;
use crate::pdes::contract::totals::{Taken, check_classes};
use crate::pdes::{Model, Payload, Totals};

/// The recipes for the results of a model.
#[derive(Debug)]
pub(in crate::pdes) struct Results {
    pub(in crate::pdes) columns: Arc<Columns>,
    output: Recipe,
    /// The workgroup size of `output`: a run may change that of its windows.
    output_group: u32,
    classify: Recipe,
    totals: Recipe,
    /// The workgroup size of the latter two.
    group_size: u32,
}

/// The maximum number of rows per task of `shaders/pdes/results/totals.wgsl`: 16 for each of 64
/// invocations. A guess.
pub(in crate::pdes) const CHUNK: usize = 1024;

/// The maximum number of tasks in a dispatch, so that it does not run long: 16 million values, an
/// estimated 0.2 s on two cores.
const TASKS: u64 = 1 << 14;

shared! {
    "pdes/results/totals.wgsl":
    const UNSIGNED_1: u32;
    const UNSIGNED_2: u32;
    const UNSIGNED_4: u32;
    const SIGNED: u32;
    const REAL: u32;
}

shared! {
    "pdes/results/totals.wgsl":
    struct Work {
        unread: u32,
        first: u32,
        tasks: u32,
        columns: u32,
        words: u32,
        rows: u32,
        ordered: u32,
        class_word: u32,
    }

    struct Selected {
        word: u32,
        kind: u32,
        guard: u32,
        guarded: u32,
    }

    struct Partial {
        sum: [u32; 4],
        minimum: [u32; 4],
        maximum: [u32; 4],
        carry: u32,
        seen: u32,
        counted: u32,
        unused: u32,
    }
}

impl Partial {
    fn taken(&self) -> Taken {
        let number =
            |words: [u32; 4]| words.iter().rev().fold(0, |high, &word| high << 32 | u128::from(word));
        Taken {
            sum: number(self.sum),
            carry: self.carry.into(),
            minimum: number(self.minimum),
            maximum: number(self.maximum),
            seen: self.seen.into(),
            counted: self.counted.into(),
        }
    }
}

/// Rows with outputs that fit a binding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Piece {
    first: u32,
    rows: u32,
    part: Part,
}

/// Divides the rows so that the outputs of each piece, `bytes` a row, and their chunks fit bindings
/// of `limit` bytes. A piece is whole workgroups within a part of the memory.
fn pieces(cut: &Cut, group_size: u32, bytes: u32, limit: u64) -> Result<Vec<Piece>, GpuError> {
    // With classes, a row may be a chunk of its own, of 8 bytes.
    let fitting = u32::try_from(limit / u64::from(bytes.max(8))).unwrap_or(u32::MAX);
    let whole = fitting / group_size * group_size;
    let mut pieces = Vec::new();
    for (part_first, part_rows) in cut.parts() {
        let most = if fitting >= part_rows { part_rows } else { whole };
        if most == 0 {
            let what = format!("the outputs of the {group_size} LPs of a workgroup");
            let needed = u64::from(group_size) * u64::from(bytes);
            return Err(GpuError::TooLarge { what, needed, limit });
        }
        for first in (part_first..part_first + part_rows).step_by(most as usize) {
            let rows = most.min(part_first + part_rows - first);
            // Failures go to half 0 of the control block.
            let part = Part { others_first: first, others_rows: rows, ..cut.part(part_first, part_rows, 1) };
            pieces.push(Piece { first, rows, part });
        }
    }
    Ok(pieces)
}

/// Writes outputs, piece by piece.
struct Writer<'r, S, P, O> {
    gpu: &'r Gpu,
    memory: &'r Memory<S, P>,
    at: Ticks,
    kernel: Kernel,
    /// A separate control block, so that the run's is unchanged.
    words: Buffer<u32>,
    group_size: u32,
    pieces: Vec<Piece>,
    /// Sized for the longest piece.
    outputs: Buffer<O>,
    /// Values per output.
    values: u64,
}

impl<'r, S: Pod, P: Payload, O: Pod> Writer<'r, S, P, O> {
    fn new(
        results: &Results,
        gpu: &'r Gpu,
        memory: &'r Memory<S, P>,
        at: Ticks,
    ) -> Result<Self, SimulationError> {
        let group_size = results.output_group;
        let pieces = pieces(&memory.cut, group_size, results.columns.bytes, gpu.max_buffer_bytes())?;
        let most = pieces.iter().map(|piece| piece.rows).max().unwrap_or(0);
        let values = results.columns.values::<O>();
        Ok(Self {
            gpu,
            memory,
            at,
            kernel: results.output.kernel(gpu)?,
            words: Buffer::storage(gpu, "control of outputs", COUNTS as u64)?,
            outputs: Buffer::storage(gpu, "outputs", u64::from(most) * values)?,
            values,
            group_size,
            pieces,
        })
    }

    /// Writes the outputs of a piece.
    async fn write(&self, piece: &Piece) -> Result<(), SimulationError> {
        let gpu = self.gpu;
        if cfg!(debug_assertions) {
            poison(gpu, &self.outputs)?;
        }
        self.words.write(gpu, FAILURE as u64, &[u32::MAX])?;
        let mut run = self.memory.run_for(piece.part);
        run.until = self.at;
        let run = Buffer::uniform(gpu, "run", &run)?;
        let mut bound = vec![("words", self.words.binding()), ("outputs", self.outputs.binding())];
        bound.extend(self.memory.bindings(&piece.part, &run));
        let mut plan = Plan::new("outputs");
        plan.dispatch(gpu, &self.kernel, piece.rows.div_ceil(self.group_size), &bound)?;
        plan.submit(gpu)?;
        let failure = self.words.read_range(gpu, FAILURE as u64, 1).await?[0];
        match Fault::decode(failure, [0; 3], self.memory.run.lowest, 0) {
            Err(SimulationError::Fault(Fault { kind, lp, .. })) => Err(SimulationError::Output { kind, lp }),
            other => other,
        }
    }

    /// The LP in a row.
    fn lp(&self, row: u32) -> u32 {
        self.memory.run.first_lp + row
    }
}

/// Fills a buffer with arbitrary bytes, so that tests detect unwritten values.
fn poison<T: Pod>(gpu: &Gpu, buffer: &Buffer<T>) -> Result<(), GpuError> {
    let mut values = bytemuck::zeroed_vec::<T>(usize::try_from(buffer.len()).expect("it fits the device"));
    bytemuck::cast_slice_mut::<T, u8>(&mut values).fill(0xd5);
    buffer.write(gpu, 0, &values)
}

impl Results {
    /// The results of `model` with these columns; `cut` is the division of the run's rows.
    pub(in crate::pdes) fn new<M: Model>(gpu: &Gpu, model: &M, columns: Arc<Columns>, cut: &Cut) -> Self {
        let int64 = gpu.has(wgpu::Features::SHADER_INT64);
        let group_size = group_size_at_most(gpu, 64);
        Self {
            columns,
            output: recipes::output(model, int64, cut.group_size),
            output_group: cut.group_size,
            classify: recipes::totals("classify", group_size),
            totals: recipes::totals("totals", group_size),
            group_size,
        }
    }

    /// The outputs of all rows at the time `at`.
    pub(in crate::pdes) async fn outputs<S: Pod, P: Payload, O: Pod>(
        &self,
        gpu: &Gpu,
        memory: &Memory<S, P>,
        at: Ticks,
    ) -> Result<Vec<O>, SimulationError> {
        let writer = Writer::<S, P, O>::new(self, gpu, memory, at)?;
        let mut rows = Vec::new();
        for piece in &writer.pieces {
            writer.write(piece).await?;
            rows.extend(writer.outputs.read_range(gpu, 0, u64::from(piece.rows) * writer.values).await?);
        }
        Ok(rows)
    }

    /// The totals of the outputs.
    pub(in crate::pdes) async fn totals<S: Pod, P: Payload, O: Pod>(
        &self,
        gpu: &Gpu,
        memory: &Memory<S, P>,
        at: Ticks,
        classes: Option<&str>,
    ) -> Result<Totals, SimulationError> {
        let class =
            classes.map(|name| Ok::<_, SimulationError>((name, self.columns.class(name)?))).transpose()?;
        let reduction = Reduction::new(gpu, &self.columns, &self.totals)?;
        let writer = Writer::<S, P, O>::new(self, gpu, memory, at)?;
        let mut found = BTreeMap::<Option<u32>, Vec<Taken>>::new();
        for piece in &writer.pieces {
            writer.write(piece).await?;
            let work = Work {
                rows: piece.rows,
                ordered: u32::from(class.is_some()),
                class_word: class.map_or(0, |(_, number)| self.columns.fields[number].offset / 4),
                ..reduction.work
            };
            let order = match class {
                None => Order::of_all(piece.rows),
                Some((name, _)) => {
                    let order = Order::by_class(&self.classify(gpu, &writer.outputs, work).await?);
                    for &(class, ..) in &order.chunks {
                        found.entry(class).or_default();
                        check_classes(name, found.len())?;
                    }
                    order
                }
            };
            let cut =
                reduction.add(gpu, &writer.outputs, work, &order.rows, &order.chunks, &mut found).await?;
            if let Some(place) = cut {
                let lp = writer.lp(piece.first + order.row(place));
                return Err(SimulationError::Output { kind: FaultKind::LoopsCut, lp });
            }
        }
        Ok(Totals::of(at, &self.columns, &found))
    }

    /// The class of each row.
    async fn classify<O: Pod>(
        &self,
        gpu: &Gpu,
        outputs: &Buffer<O>,
        work: Work,
    ) -> Result<Vec<u32>, SimulationError> {
        let classes = Buffer::<u32>::storage(gpu, "classes", work.rows.into())?;
        let rows = work.rows;
        let work = Buffer::uniform(gpu, "work", &work)?;
        let bound =
            [("work", work.binding()), ("results", outputs.binding()), ("classes", classes.binding())];
        let mut plan = Plan::new("classes");
        plan.dispatch(gpu, &self.classify.kernel(gpu)?, rows.div_ceil(self.group_size), &bound)?;
        plan.submit(gpu)?;
        Ok(classes.read_range(gpu, 0, classes.len()).await?)
    }
}

/// Computes totals of outputs.
#[derive(Debug)]
pub(in crate::pdes) struct Reduction {
    kernel: Kernel,
    columns: Buffer<Selected>,
    partials: Buffer<Partial>,
    /// The parameters shared by all outputs.
    work: Work,
}

/// Rows that are reduced together: their key, the first of their places, and their number.
pub(in crate::pdes) type Chunk<K> = (K, u32, u32);

impl Reduction {
    pub(in crate::pdes) fn new(gpu: &Gpu, columns: &Columns, kernel: &Recipe) -> Result<Self, GpuError> {
        let selected = Self::selected(columns);
        let most = TASKS.min(gpu.max_buffer_bytes() / size_of::<Partial>() as u64);
        Ok(Self {
            kernel: kernel.kernel(gpu)?,
            columns: Buffer::storage_from(gpu, "columns", &selected)?,
            partials: Buffer::storage(gpu, "totals", most)?,
            work: Work {
                unread: 0,
                first: 0,
                tasks: 0,
                columns: words(selected.len()),
                words: columns.bytes / 4,
                rows: 0,
                ordered: 0,
                class_word: 0,
            },
        })
    }

    /// Reduces `rows` rows, in chunks of consecutive rows.
    pub(in crate::pdes) async fn of_rows<O: Pod, K: Ord + Copy>(
        &self,
        gpu: &Gpu,
        outputs: &Buffer<O>,
        rows: u32,
        chunks: &[Chunk<K>],
        found: &mut BTreeMap<K, Vec<Taken>>,
    ) -> Result<Option<u32>, SimulationError> {
        self.add(gpu, outputs, Work { rows, ..self.work }, &[], chunks, found).await
    }

    /// Adds the partial results of outputs to `found`. Returns a place at which a loop was ended
    /// early, if any.
    async fn add<O: Pod, K: Ord + Copy>(
        &self,
        gpu: &Gpu,
        outputs: &Buffer<O>,
        work: Work,
        order: &[u32],
        chunks: &[Chunk<K>],
        found: &mut BTreeMap<K, Vec<Taken>>,
    ) -> Result<Option<u32>, SimulationError> {
        let places: Vec<_> = chunks.iter().map(|&(_, first, rows)| [first, rows]).collect();
        let places = Buffer::storage_from(gpu, "chunks", &places)?;
        let order = Buffer::storage_from(gpu, "order", order)?;
        // There are fewer tasks than words of outputs in a binding, which are fewer than 2^30.
        let (columns, most) = (self.columns.len(), self.partials.len());
        let tasks = chunks.len() as u64 * columns;
        for first in (0..tasks).step_by(usize::try_from(most).expect("a small number")) {
            let count = most.min(tasks - first);
            let narrow = |number: u64| u32::try_from(number).expect("tasks are fewer than 2^32");
            let work = Work { first: narrow(first), tasks: narrow(count), ..work };
            let work = Buffer::uniform(gpu, "work", &work)?;
            if cfg!(debug_assertions) {
                poison(gpu, &self.partials)?;
            }
            let bound = [
                ("work", work.binding()),
                ("results", outputs.binding()),
                ("columns", self.columns.binding()),
                ("chunks", places.binding()),
                ("order", order.binding()),
                ("partials", self.partials.binding()),
            ];
            let mut plan = Plan::new("totals");
            plan.dispatch(gpu, &self.kernel, narrow(count), &bound)?;
            plan.submit(gpu)?;
            for (task, partial) in (first..).zip(self.partials.read_range(gpu, 0, count).await?) {
                let chunk = usize::try_from(task / columns).expect("it is in memory");
                let column = usize::try_from(task % columns).expect("it is in memory");
                let (key, place, rows) = chunks[chunk];
                if partial.seen != rows {
                    // The driver ended a loop early, or a workgroup did not run.
                    return Ok(Some(place));
                }
                let taken = found.entry(key).or_default();
                taken.resize(usize::try_from(columns).expect("it is in memory"), Taken::NOTHING);
                taken[column].merge(&partial.taken());
            }
        }
        Ok(None)
    }

    /// The columns, and then, for each tally, its minimum over LPs with observations.
    fn selected(columns: &Columns) -> Vec<Selected> {
        let Columns { fields, tallies, .. } = columns;
        let plain = |number: usize| Selected {
            word: fields[number].offset / 4,
            kind: match fields[number].kind {
                FieldKind::U32 => UNSIGNED_1,
                FieldKind::U64 => UNSIGNED_2,
                FieldKind::U128 => UNSIGNED_4,
                FieldKind::I32 => SIGNED,
                FieldKind::F32 => REAL,
                FieldKind::Other => unreachable!("such fields were refused"),
            },
            guard: 0,
            guarded: 0,
        };
        let minima = tallies.iter().map(|tally| {
            let count = &fields[tally.count];
            Selected { guard: count.offset / 4, guarded: count.bytes / 4, ..plain(tally.minimum) }
        });
        (0..fields.len()).map(plain).chain(minima).collect()
    }
}

/// The order in which the rows of a piece are reduced: those of a class together.
struct Order {
    /// By place; empty if places are rows.
    rows: Vec<u32>,
    /// Class, first place, rows.
    chunks: Vec<Chunk<Option<u32>>>,
}

impl Order {
    fn of_all(rows: u32) -> Self {
        let mut order = Self { rows: Vec::new(), chunks: Vec::new() };
        order.add(None, 0, rows as usize);
        order
    }

    fn by_class(classes: &[u32]) -> Self {
        let mut members = BTreeMap::<u32, Vec<u32>>::new();
        for (row, &class) in (0..).zip(classes) {
            members.entry(class).or_default().push(row);
        }
        let mut order = Self { rows: Vec::with_capacity(classes.len()), chunks: Vec::new() };
        for (class, rows) in members {
            order.add(Some(class), order.rows.len(), rows.len());
            order.rows.extend(rows);
        }
        order
    }

    fn add(&mut self, class: Option<u32>, first: usize, rows: usize) {
        for place in (first..first + rows).step_by(CHUNK) {
            self.chunks.push((class, words(place), words(CHUNK.min(first + rows - place))));
        }
    }

    fn row(&self, place: u32) -> u32 {
        self.rows.get(place as usize).copied().unwrap_or(place)
    }
}

/// A number of rows, places or columns as a word of kernels.
fn words(number: usize) -> u32 {
    u32::try_from(number).expect("it fits a binding, so it fits a word")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_hold_all_rows_in_bindings_that_fit() {
        for rows in [1, 63, 64, 65, 1000, (1 << 20) + 1] {
            // Parts need not be whole workgroups of outputs.
            for part_rows in [64, 96, 1024, 1 << 20] {
                let part_rows = if part_rows < rows { part_rows } else { rows };
                let cut = Cut { group_size: 64, tiles: 1, rows, part_rows, store_rows: rows, ..Cut::EMPTY };
                for (bytes, limit) in [(4, 4096), (176, 1 << 16), (1024, 1 << 16), (176, 128 << 20)] {
                    let mut next = 0;
                    for Piece { first, rows, part } in pieces(&cut, 64, bytes, limit).unwrap() {
                        assert_eq!((first, part.others_first, part.others_rows), (next, next, rows));
                        assert!(
                            part.memory_first <= first && first + rows <= part.memory_first + part.queue_rows
                        );
                        assert!(u64::from(rows) * u64::from(bytes) <= limit && rows > 0);
                        next += rows;
                    }
                    assert_eq!(next, rows);
                }
            }
        }
        let cut = Cut { group_size: 64, tiles: 1, rows: 65, part_rows: 65, store_rows: 65, ..Cut::EMPTY };
        assert!(matches!(pieces(&cut, 64, 1024, 65_535), Err(GpuError::TooLarge { needed: 65_536, .. })));
    }
}
