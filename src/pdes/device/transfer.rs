//! Exports pending events from a run's memory, for the host to read or for another memory to
//! import: `shaders/pdes/memory/export.wgsl`, `import.wgsl`.

use std::ops::Range;

use bytemuck::Pod;

use crate::gpu::{Buffer, Gpu, GpuError, Plan, Recipe};
use crate::time::Ticks;

use super::dispatch::Part;
use super::memory::{Memory, Run};
use super::recipes::Recipes;
use crate::pdes::{Event, Payload, Pending};

shared! {
    "pdes/memory/transfer.wgsl":
    struct EventTransfer {
        first: u32,
        rows: u32,
        unused: u64,
    }
}

/// The events of some rows, one row after the other.
#[derive(Debug)]
struct Chunk<P> {
    rows: Range<u32>,
    events: Buffer<Event<P>>,
}

/// All pending events of a run.
#[derive(Debug)]
pub(in crate::pdes) struct ExportedEvents<P> {
    /// By row: the number of events, their start in the chunk, and the time of the first event (2
    /// words).
    counts: Vec<[u32; 4]>,
    held: Buffer<[u32; 4]>,
    chunks: Vec<Chunk<P>>,
}

/// Exports the pending events of a run between calls.
pub(in crate::pdes) async fn export<S: Pod, P: Payload>(
    gpu: &Gpu,
    recipes: &Recipes,
    memory: &Memory<S, P>,
) -> Result<ExportedEvents<P>, GpuError> {
    let cut = &memory.cut;
    let held = Buffer::<[u32; 4]>::storage(gpu, "events held", cut.rows.into())?;
    // Failures go to half 0.
    let part = |first, rows| Part { parity: 1, ..cut.part(first, rows, 0) };
    let dispatch =
        |plan: &mut Plan, recipe: &Recipe, part: Part, rows: &Range<u32>, more: &Buffer<Event<P>>| {
            let transfer = EventTransfer { first: rows.start, rows: rows.end - rows.start, unused: 0 };
            let transfer = Buffer::uniform(gpu, "transfer", &transfer)?;
            let run: Buffer<Run> = Buffer::uniform(gpu, "run", &memory.run_for(part))?;
            // The pending events are those that the first window of a pair reads.
            let mut bound = memory.bindings(&Part { parity: 0, ..part }, &run);
            bound.extend([
                ("transfer", transfer.binding()),
                ("held", held.binding()),
                ("exported", more.binding()),
            ]);
            let groups = (rows.end - rows.start).div_ceil(cut.group_size);
            plan.dispatch(gpu, &recipe.kernel(gpu)?, groups, &bound)
        };
    let nothing = Buffer::storage(gpu, "nothing", 1)?;
    let mut plan = Plan::new("count pending events");
    for (first, rows) in cut.parts() {
        dispatch(&mut plan, &recipes.count_held, part(first, rows), &(first..first + rows), &nothing)?;
    }
    plan.submit(gpu)?;
    let mut counts = held.read_range(gpu, 0, cut.rows.into()).await?;
    let most = gpu.max_buffer_bytes() / size_of::<Event<P>>() as u64;
    let (mut chunks, mut plan) = (Vec::new(), Plan::new("export pending events"));
    let mut places = Vec::new();
    for (first, rows) in cut.parts() {
        let (mut begin, mut events) = (first, 0_u64);
        for row in first..=first + rows {
            let last = row == first + rows;
            let count = if last { 0 } else { counts[row as usize][0] };
            if last || events + u64::from(count) > most {
                places.push((part(first, rows), begin..row, events));
                (begin, events) = (row, 0);
            }
            if !last {
                counts[row as usize][1] = u32::try_from(events).unwrap_or(u32::MAX);
                events += u64::from(count);
            }
        }
    }
    held.write(gpu, 0, &counts)?;
    for (part, rows, events) in places {
        let chunk = Chunk { rows, events: Buffer::storage(gpu, "pending events", events.max(1))? };
        dispatch(&mut plan, &recipes.export, part, &chunk.rows, &chunk.events)?;
        chunks.push(chunk);
    }
    plan.submit(gpu)?;
    Ok(ExportedEvents { counts, held, chunks })
}

impl<P: Payload> ExportedEvents<P> {
    /// Builds it from host data: `held` events for each row, one row after the other.
    pub(in crate::pdes) fn of_host(
        gpu: &Gpu,
        held: impl Iterator<Item = u32>,
        mut events: impl Iterator<Item = Event<P>>,
    ) -> Result<Self, GpuError> {
        let most = usize::try_from(gpu.max_buffer_bytes()).unwrap_or(usize::MAX) / size_of::<Event<P>>();
        let (mut counts, mut chunks) = (Vec::new(), Vec::new());
        let (mut begin, mut chunk) = (0, Vec::<Event<P>>::new());
        let upload = |events: &[Event<P>], rows| {
            let events = match events {
                [] => Buffer::storage(gpu, "pending events", 1)?,
                events => Buffer::storage_from(gpu, "pending events", events)?,
            };
            Ok::<_, GpuError>(Chunk { rows, events })
        };
        for (row, count) in (0..).zip(held) {
            if chunk.len() + count as usize > most {
                chunks.push(upload(&chunk, begin..row)?);
                chunk.clear();
                begin = row;
            }
            let place = u32::try_from(chunk.len()).expect("it fits a binding, so it fits a word");
            chunk.extend(events.by_ref().take(count as usize));
            let first = chunk[place as usize..].iter().map(|event| event.time).min().unwrap_or(Ticks::NEVER);
            let [low, high] = first.to_words();
            counts.push([count, place, low, high]);
        }
        let rows = u32::try_from(counts.len()).expect("LPs are fewer than 2^28");
        chunks.push(upload(&chunk, begin..rows)?);
        Ok(Self { held: Buffer::storage_from(gpu, "events held", &counts)?, counts, chunks })
    }

    /// The time of the first event.
    pub(in crate::pdes) fn first(&self) -> Ticks {
        let times = self.counts.iter().map(|&[.., low, high]| Ticks::from_words([low, high]));
        times.min().unwrap_or(Ticks::NEVER)
    }

    /// The maximum number of events of a row.
    pub(in crate::pdes) fn most(&self) -> u32 {
        self.counts.iter().map(|&[count, ..]| count).max().unwrap_or(0)
    }

    /// The number of events.
    pub(in crate::pdes) fn total(&self) -> u64 {
        self.counts.iter().map(|&[count, ..]| u64::from(count)).sum()
    }

    /// All events, by row and then in order.
    pub(in crate::pdes) async fn read(&self, gpu: &Gpu, first_lp: u32) -> Result<Pending<P>, GpuError> {
        let mut pending = Vec::new();
        for Chunk { rows, events } in &self.chunks {
            let events = events.read_range(gpu, 0, events.len()).await?;
            for row in rows.clone() {
                let [count, begin, ..] = self.counts[row as usize];
                let held = &events[begin as usize..][..count as usize];
                let begun = pending.len();
                pending.extend(held.iter().map(|event| (first_lp + row, *event)));
                pending[begun..].sort_unstable();
            }
        }
        Ok(pending)
    }

    /// Imports the events into an empty memory. `plans::settle` must follow.
    pub(in crate::pdes) fn import<S: Pod>(
        &self,
        gpu: &Gpu,
        recipes: &Recipes,
        memory: &Memory<S, P>,
    ) -> Result<(), GpuError> {
        let import = recipes.import.kernel(gpu)?;
        let mut plan = Plan::new("import pending events");
        for Chunk { rows, events } in &self.chunks {
            for (first, count) in memory.cut.parts() {
                let (begin, end) = (rows.start.max(first), rows.end.min(first + count));
                if begin >= end {
                    continue;
                }
                let transfer = Buffer::uniform(
                    gpu,
                    "transfer",
                    &EventTransfer { first: begin, rows: end - begin, unused: 0 },
                )?;
                let part = memory.cut.part(first, count, 1);
                let run = Buffer::uniform(gpu, "run", &memory.run_for(part))?;
                let mut bound = memory.bindings(&part, &run);
                bound.extend([
                    ("transfer", transfer.binding()),
                    ("held", self.held.binding()),
                    ("exported", events.binding()),
                ]);
                plan.dispatch(gpu, &import, (end - begin).div_ceil(memory.cut.group_size), &bound)?;
            }
        }
        plan.submit(gpu)?;
        Ok(())
    }
}
