//! Work in tasks: how every algorithm of the room is cut, counted, placed and written.
//!
//! A kernel tests candidates; a *task* is what one workgroup tests. The counting version of a kernel leaves the
//! matches of each task, their 64-bit prefix sums say where each task's pairs go, and the writing version of
//! the same kernel puts them there. So every pair has one place, known before it is written, and any window of
//! the output can be written on its own: that is a page.

use std::sync::Arc;

use web_time::Instant;

use super::MatchingError;
use super::kernels::Kernels;
use crate::gpu::{Buffer, Gpu, Kernel, Pace};

/// A part of the output: pairs `first` and the `room` that follow.
#[derive(Debug, Clone, Copy)]
pub(super) struct Window {
    pub(super) first: u64,
    pub(super) room: u32,
}

impl Window {
    /// Its three words in the kernels' parameters.
    pub(super) fn words(self) -> [u32; 3] {
        let (low, high) = halves(self.first);
        [low, high, self.room]
    }
}

/// The low and the high word.
pub(super) fn halves(value: u64) -> (u32, u32) {
    #[expect(clippy::cast_possible_truncation, reason = "that is what a half is")]
    (value as u32, (value >> 32) as u32)
}

/// An algorithm's candidates, in tasks.
#[derive(Debug)]
pub(super) struct Work {
    /// Adds up the matches of each task.
    pub(super) count: Arc<Kernel>,
    /// Writes the matches of each task.
    pub(super) write: Arc<Kernel>,
    /// What both read, by the names that the kernels use.
    pub(super) inputs: Vec<(&'static str, wgpu::Buffer)>,
    /// Boxes of each side: the first two parameters.
    pub(super) sides: [u32; 2],
    /// The last parameter.
    pub(super) extra: u32,
    /// How many tasks there are.
    pub(super) tasks: u32,
    /// How many of them are surely done in some milliseconds on any device.
    pub(super) unit: u32,
}

/// Work whose matches were counted: each task knows its place in the output.
#[derive(Debug)]
pub(super) struct Placed {
    work: Work,
    offsets: Buffer<u64>,
}

impl Work {
    /// Counts the matches of all tasks.
    pub(super) fn count(self, kernels: &Kernels) -> Result<(Placed, u64), MatchingError> {
        let gpu = kernels.gpu();
        let lengths = Buffer::<u32>::storage(gpu, "matches of tasks", u64::from(self.tasks))?;
        let window = Window { first: 0, room: 0 };
        self.run(gpu, &self.count, &[("lengths", lengths.raw())], window)?;
        let (offsets, total) = kernels.offsets(&lengths, self.tasks)?;
        Ok((Placed { work: self, offsets }, total))
    }

    /// Runs all tasks, in submissions of some tens of milliseconds.
    fn run(
        &self,
        gpu: &Gpu,
        kernel: &Kernel,
        outputs: &[(&'static str, &wgpu::Buffer)],
        window: Window,
    ) -> Result<(), MatchingError> {
        let inputs = self.inputs.iter().map(|(name, buffer)| (*name, buffer));
        let buffers: Vec<_> = inputs.chain(outputs.iter().copied()).collect();
        let [first_word, second_word, room] = window.words();
        in_slices(gpu, self.tasks, self.unit, |first, end, encoder| {
            let [subscriptions, updates] = self.sides;
            let words = [subscriptions, updates, first, end, first_word, second_word, room, self.extra];
            let params = Kernels::params(gpu, &words)?;
            let mut bound: Vec<_> =
                buffers.iter().map(|(name, buffer)| (*name, buffer.as_entire_binding())).collect();
            bound.push(("params", params.binding()));
            let bindings = kernel.bind(gpu, &bound)?;
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
            kernel.dispatch(&mut pass, &bindings, end - first);
            Ok(())
        })
    }
}

impl Placed {
    /// Writes the pairs of a window to the start of `pairs`.
    pub(super) fn write(
        &self,
        gpu: &Gpu,
        window: Window,
        pairs: &Buffer<[u32; 2]>,
    ) -> Result<(), MatchingError> {
        let outputs = [("offsets", self.offsets.raw()), ("pairs", pairs.raw())];
        self.work.run(gpu, &self.work.write, &outputs, window)
    }
}

/// Records and submits `items` of work in slices of some tens of milliseconds; `record` gets the first item of
/// a slice and the one after its last. A slice starts with `unit` items. What fits one unit is submitted
/// without a wait.
pub(super) fn in_slices(
    gpu: &Gpu,
    items: u32,
    unit: u32,
    mut record: impl FnMut(u32, u32, &mut wgpu::CommandEncoder) -> Result<(), MatchingError>,
) -> Result<(), MatchingError> {
    let mut pace = Pace::new(items.div_ceil(unit));
    let mut first = 0;
    while first < items {
        let units = pace.units();
        let end = items.min(first.saturating_add(units.saturating_mul(unit)));
        let start = Instant::now();
        let mut encoder = gpu.encoder("region matching");
        record(first, end, &mut encoder)?;
        let submission = gpu.submit(encoder)?;
        if end < items {
            gpu.wait(submission)?;
            pace.record(units, start.elapsed());
        }
        first = end;
    }
    Ok(())
}
