//! Prefix sums.

use super::count::{at_least, checked};
use super::task::{Params, Recipe, Task};
use super::tuning::Block;
use super::{Count, PrimitiveError, Tuning};
use crate::gpu::{Buffer, Gpu, Kernel};

/// Which elements the sum at an element takes in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ScanKind {
    /// Those before it.
    Exclusive,
    /// Those before it and itself.
    Inclusive,
}

/// Sums of all elements before each element.
#[derive(Debug, Clone)]
pub struct Scan {
    upsweep: Kernel,
    spine: Kernel,
    words: Kernel,
    wide: Kernel,
    partials: Buffer<u64>,
    no_total: Buffer<u64>,
    max: u32,
    tuning: Tuning,
}

impl Scan {
    /// Prepares scans of up to `max` elements.
    ///
    /// # Errors
    /// [`PrimitiveError`] if `max` is too large or the device fails.
    pub fn new(gpu: &Gpu, max: u64) -> Result<Self, PrimitiveError> {
        Self::with_tuning(gpu, max, Tuning::sweep(gpu))
    }

    /// The same, cut as `tuning` says.
    ///
    /// # Errors
    /// Further [`PrimitiveError::Tuning`].
    pub fn with_tuning(gpu: &Gpu, max: u64, tuning: Tuning) -> Result<Self, PrimitiveError> {
        let max = checked(max)?;
        let tuning = tuning.checked(&[16])?;
        let [upsweep, spine, words, wide] = recipes(&Block::of(gpu, &tuning));
        Ok(Self {
            upsweep: upsweep.kernel(gpu)?,
            spine: spine.kernel(gpu)?,
            words: words.kernel(gpu)?,
            wide: wide.kernel(gpu)?,
            partials: Buffer::storage(gpu, "partial sums", tuning.workgroups_for(max, 1).into())?,
            no_total: Buffer::storage(gpu, "total", 1)?,
            max,
            tuning,
        })
    }

    /// Binds the scan of the first `count` words of `input` into `output`, another buffer.
    ///
    /// Sums are modulo 2^32. `total`, a buffer and an index in it, takes the sum of all in 64 bits, which tells
    /// whether any sum wrapped.
    ///
    /// # Errors
    /// [`PrimitiveError::TooShort`] and [`PrimitiveError::CountBeyondMaximum`] if the lengths do not fit.
    pub fn bind(
        &self,
        gpu: &Gpu,
        kind: ScanKind,
        count: &Count,
        input: &Buffer<u32>,
        output: &Buffer<u32>,
        total: Option<(&Buffer<u64>, u32)>,
    ) -> Result<Task, PrimitiveError> {
        at_least("output", output, count.bound(self.max)?.into())?;
        self.task(gpu, kind, count, input, &self.words, output.raw(), total)
    }

    /// [`Scan::bind`] with sums of 64 bits, which cannot overflow.
    ///
    /// # Errors
    /// As [`Scan::bind`].
    pub fn bind_wide(
        &self,
        gpu: &Gpu,
        kind: ScanKind,
        count: &Count,
        input: &Buffer<u32>,
        output: &Buffer<u64>,
        total: Option<(&Buffer<u64>, u32)>,
    ) -> Result<Task, PrimitiveError> {
        at_least("output", output, count.bound(self.max)?.into())?;
        self.task(gpu, kind, count, input, &self.wide, output.raw(), total)
    }

    #[expect(clippy::too_many_arguments, reason = "the two public forms share it")]
    fn task(
        &self,
        gpu: &Gpu,
        kind: ScanKind,
        count: &Count,
        input: &Buffer<u32>,
        downsweep: &Kernel,
        output: &wgpu::Buffer,
        total: Option<(&Buffer<u64>, u32)>,
    ) -> Result<Task, PrimitiveError> {
        let bound = count.bound(self.max)?;
        at_least("input", input, bound.into())?;
        let (total, destination) = total.unwrap_or((&self.no_total, 0));
        at_least("total", total, u64::from(destination) + 1)?;
        let workgroups = self.tuning.workgroups_for(bound, 1);
        let params = Params { maximum: bound, destination, options: workgroups, ..Params::default() };
        let (input, partials) = (("input", input.raw()), ("partials", self.partials.raw()));
        let mut task = Task::new();
        task.push(gpu, &self.upsweep, workgroups, count, &params, &[input, partials])?;
        task.push(gpu, &self.spine, 1, count, &params, &[partials, ("total", total.raw())])?;
        let params = Params { options: u32::from(kind == ScanKind::Inclusive), ..params };
        task.push(gpu, downsweep, workgroups, count, &params, &[input, partials, ("output", output)])?;
        Ok(task)
    }
}

pub(super) fn recipes(block: &Block) -> [Recipe; 4] {
    [
        Recipe::new("upsweep", &["acc_sum_wide", "lift_u32"], block),
        Recipe::new("spine", &["acc_sum_wide", "total_wide"], block),
        Recipe::new("downsweep", &["acc_sum", "output_word"], block),
        Recipe::new("downsweep", &["acc_sum_wide", "output_wide"], block),
    ]
}
