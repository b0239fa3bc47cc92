//! Work in tasks: how every algorithm of the module is split, counted, placed and written.
//!
//! A kernel tests candidates; a *task* is the part of one workgroup. The counting kernel of an
//! algorithm outputs the matches of each task. Their 64-bit prefix sums are the places of each
//! task's pairs, and the writing kernel, which finds the same pairs, writes them there. So every
//! pair has one place, known before it is written, and any window of the output can be written
//! separately: that is a page.

use std::sync::PoisonError;

use web_time::Instant;

use super::MatchingError;
use super::kernels::Kernels;
use super::memory::{PooledBuffer, SlotGuard};
use super::prepared::{Filter, GridRun, Ranges};
use crate::gpu::{Buffer, Gpu, Pace, Plan, Recipe};

/// A part of the output: `len` pairs from pair `first` on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Window {
    pub(super) first: u64,
    pub(super) len: u32,
}

impl Window {
    /// For kernels that count.
    pub(super) const NONE: Self = Self { first: 0, len: 0 };

    pub(super) fn end(self) -> u64 {
        self.first + u64::from(self.len)
    }
}

shared! {
    "matching/tasks.wgsl":
    pub(super) struct TaskParams {
        subscriptions: u32,
        updates: u32,
        first: u32,
        end: u32,
        ranges: u32,
        unused: u32,
        page_first: u64,
        page_end: u64,
    }
}

impl TaskParams {
    /// For tasks `first..end` of work with these numbers of boxes on each side and of ranges of
    /// candidates.
    pub(super) fn new(
        [subscriptions, updates]: [u32; 2],
        (first, end): (u32, u32),
        ranges: u32,
        window: Window,
    ) -> Self {
        let (page_first, page_end) = (window.first, window.end());
        Self { subscriptions, updates, first, end, ranges, unused: 0, page_first, page_end }
    }
}

/// An algorithm's candidates, in tasks.
#[derive(Debug)]
pub(super) struct Work {
    /// Counts the matches of each task.
    pub(super) count: Recipe,
    /// Writes the matches of each task.
    pub(super) write: Recipe,
    /// Inputs of both, by their names in the kernels.
    pub(super) inputs: Vec<(&'static str, wgpu::Buffer)>,
    /// Boxes of each side.
    pub(super) sides: [u32; 2],
    /// The number of ranges of candidates; 0 without ranges.
    pub(super) ranges: u32,
    /// The number of tasks.
    pub(super) tasks: u32,
    /// The number of tasks that take at most some milliseconds on any device.
    pub(super) unit: u32,
}

/// Work with counted matches: each task knows its place in the output.
#[derive(Debug)]
pub(super) struct PlacedWork {
    pub(super) work: Work,
    pub(super) offsets: Buffer<u64>,
    /// The owner of the buffers, which reserves them.
    #[cfg_attr(not(test), expect(dead_code, reason = "held on to, so that its memory is not lent again"))]
    pub(super) memory: Memory,
}

/// Memory that is reserved.
#[derive(Debug)]
#[expect(dead_code, reason = "held only to reserve the memory")]
pub(super) enum Memory {
    Offsets(PooledBuffer<u64>),
    Sweep(Box<(Ranges, Filter)>),
    Grid(Box<SlotGuard<GridRun>>, Option<Box<Filter>>),
}

impl Work {
    /// Counts the matches of all tasks.
    pub(super) async fn count(self, kernels: &Kernels) -> Result<(PlacedWork, u64), MatchingError> {
        let lengths = Buffer::<u32>::storage(kernels.gpu(), "matches of tasks", u64::from(self.tasks))?;
        self.run(kernels, &self.count, &[("lengths", lengths.raw())], Window::NONE).await?;
        let (offsets, total) = kernels.offsets(Plan::new("places of tasks"), &lengths, self.tasks).await?;
        Ok((PlacedWork { work: self, offsets: offsets.clone(), memory: Memory::Offsets(offsets) }, total))
    }

    /// Runs all tasks, in submissions of some tens of milliseconds.
    pub(super) async fn run(
        &self,
        kernels: &Kernels,
        kernel: &Recipe,
        outputs: &[(&'static str, &wgpu::Buffer)],
        window: Window,
    ) -> Result<(), MatchingError> {
        let inputs = self.inputs.iter().map(|(name, buffer)| (*name, buffer));
        let buffers: Vec<_> = inputs.chain(outputs.iter().copied()).collect();
        let kept = || kernels.test_pace.lock().unwrap_or_else(PoisonError::into_inner);
        let of_candidates = self.ranges > 0;
        let mut pace = if of_candidates { kept().clone() } else { Pace::new(self.tasks.div_ceil(self.unit)) };
        in_slices(kernels.gpu(), self.tasks, self.unit, &mut pace, |first, end| {
            let params = TaskParams::new(self.sides, (first, end), self.ranges, window);
            let mut plan = Plan::new("tasks");
            kernels.add(&mut plan, kernel, end - first, &params, &buffers)?;
            Ok(plan)
        })
        .await?;
        // A page may cover few of the tasks, which says nothing about the others.
        if of_candidates && window.len == 0 {
            *kept() = pace;
        }
        Ok(())
    }
}

impl PlacedWork {
    /// Writes the pairs of a window to the start of `pairs`.
    pub(super) async fn write(
        &self,
        kernels: &Kernels,
        window: Window,
        pairs: &Buffer<[u32; 2]>,
    ) -> Result<(), MatchingError> {
        let outputs = [("offsets", self.offsets.raw()), ("pairs", pairs.raw())];
        self.work.run(kernels, &self.work.write, &outputs, window).await
    }
}

/// Submits `items` of work in slices of some tens of milliseconds. `plan` gets the first item of a
/// slice and the one after its last; `pace` counts units of `unit` items. A single slice is
/// submitted without a wait.
pub(super) async fn in_slices(
    gpu: &Gpu,
    items: u32,
    unit: u32,
    pace: &mut Pace,
    mut plan: impl FnMut(u32, u32) -> Result<Plan, MatchingError>,
) -> Result<(), MatchingError> {
    let mut first = 0;
    while first < items {
        let units = pace.units();
        let end = items.min(first.saturating_add(units.saturating_mul(unit)));
        let start = Instant::now();
        let submission = plan(first, end)?.submit(gpu)?;
        if end < items {
            gpu.wait_async(submission).await?;
            pace.record(units, start.elapsed());
        }
        first = end;
    }
    Ok(())
}
