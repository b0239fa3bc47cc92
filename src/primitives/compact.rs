//! Stream compaction: keeps the elements whose flag is set, in their order.

use super::count::{at_least, checked};
use super::task::{Params, Recipe, Task};
use super::tuning::Block;
use super::{Count, PrimitiveError, Tuning};
use crate::gpu::{Buffer, Gpu, Kernel};

/// Keeps the elements whose flag is not zero.
#[derive(Debug, Clone)]
pub struct Compact {
    upsweep: Kernel,
    spine: Kernel,
    indices: Kernel,
    values: Kernel,
    partials: Buffer<u64>,
    max: u32,
    tuning: Tuning,
}

impl Compact {
    /// Prepares compactions of up to `max` elements.
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
        let [upsweep, spine, indices, values] = recipes(&Block::of(gpu, &tuning));
        Ok(Self {
            upsweep: upsweep.kernel(gpu)?,
            spine: spine.kernel(gpu)?,
            indices: indices.kernel(gpu)?,
            values: values.kernel(gpu)?,
            partials: Buffer::storage(gpu, "partial sums", tuning.workgroups_for(max, 1).into())?,
            max,
            tuning,
        })
    }

    /// Binds the compaction of the indices of the first `count` flags into `output`, which needs room for them all;
    /// `kept`, a buffer and an index in it, takes how many were kept. The rest of `output` is left alone.
    ///
    /// # Errors
    /// [`PrimitiveError::TooShort`] and [`PrimitiveError::CountBeyondMaximum`] if the lengths do not fit.
    pub fn bind_indices(
        &self,
        gpu: &Gpu,
        count: &Count,
        flags: &Buffer<u32>,
        output: &Buffer<u32>,
        kept: (&Buffer<u32>, u32),
    ) -> Result<Task, PrimitiveError> {
        self.task(gpu, count, flags, &self.indices, &[("output", output.raw())], output, kept)
    }

    /// Binds the compaction of the first `count` of `values`; the rest as [`Compact::bind_indices`].
    ///
    /// # Errors
    /// As [`Compact::bind_indices`].
    pub fn bind_values(
        &self,
        gpu: &Gpu,
        count: &Count,
        flags: &Buffer<u32>,
        values: &Buffer<u32>,
        output: &Buffer<u32>,
        kept: (&Buffer<u32>, u32),
    ) -> Result<Task, PrimitiveError> {
        at_least("values", values, count.bound(self.max)?.into())?;
        let buffers = [("values", values.raw()), ("output", output.raw())];
        self.task(gpu, count, flags, &self.values, &buffers, output, kept)
    }

    #[expect(clippy::too_many_arguments, reason = "the two public forms share it")]
    fn task(
        &self,
        gpu: &Gpu,
        count: &Count,
        flags: &Buffer<u32>,
        pick: &Kernel,
        buffers: &[(&str, &wgpu::Buffer)],
        output: &Buffer<u32>,
        (kept, destination): (&Buffer<u32>, u32),
    ) -> Result<Task, PrimitiveError> {
        let bound = count.bound(self.max)?;
        at_least("flags", flags, bound.into())?;
        at_least("output", output, bound.into())?;
        at_least("kept", kept, u64::from(destination) + 1)?;
        let workgroups = self.tuning.workgroups_for(bound, 1);
        let params = Params { maximum: bound, destination, options: workgroups, ..Params::default() };
        let (flags, partials) = (("input", flags.raw()), ("partials", self.partials.raw()));
        let mut task = Task::new();
        task.push(gpu, &self.upsweep, workgroups, count, &params, &[flags, partials])?;
        task.push(gpu, &self.spine, 1, count, &params, &[partials, ("total", kept.raw())])?;
        let buffers = [&[flags, partials], buffers].concat();
        task.push(gpu, pick, workgroups, count, &params, &buffers)?;
        Ok(task)
    }
}

pub(super) fn recipes(block: &Block) -> [Recipe; 4] {
    [
        Recipe::new("upsweep", &["acc_sum_wide", "lift_flag"], block),
        Recipe::new("spine", &["acc_sum_wide", "total_word"], block),
        Recipe::new("pick", &["acc_sum", "picked_index"], block),
        Recipe::new("pick", &["acc_sum", "picked_value"], block),
    ]
}
