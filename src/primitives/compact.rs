//! Stream compaction: keeps the elements whose flag is set, in their order.

use super::count::{at_least, checked};
use super::ranking::Block;
use super::reduce::Elements;
use super::tuning::SWEEP_ITEMS;
use super::work::{Params, Work, kernel, recipe};
use super::{Count, PrimitiveError, Tuning};
use crate::gpu::{Buffer, Gpu, Kernel, Plan, Recipe};

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

    /// Like [`Compact::new`], with the given `tuning`.
    ///
    /// # Errors
    /// As [`Compact::new`], and [`PrimitiveError::Tuning`].
    #[doc(hidden)]
    pub fn with_tuning(gpu: &Gpu, max: u64, tuning: Tuning) -> Result<Self, PrimitiveError> {
        let max = checked(max)?;
        let tuning = tuning.checked(&[SWEEP_ITEMS])?;
        let [upsweep, spine, indices, values] = recipes(&Block::of(gpu, &tuning));
        Ok(Self {
            upsweep: kernel(&upsweep, gpu)?,
            spine: kernel(&spine, gpu)?,
            indices: kernel(&indices, gpu)?,
            values: kernel(&values, gpu)?,
            partials: Buffer::storage(gpu, "partial sums", tuning.workgroups_for(max, 1).into())?,
            max,
            tuning,
        })
    }

    /// Binds the compaction of the indices of the first `count` flags into `output`, which needs
    /// room for all of them. The number of kept elements is written to `kept`, a buffer and an
    /// index in it. The rest of `output` does not change.
    ///
    /// # Errors
    /// [`PrimitiveError::TooShort`] and [`PrimitiveError::CountBeyondMaximum`] if the lengths do
    /// not fit, [`PrimitiveError::CountOverwritten`] if `kept` is the word that holds the count.
    pub fn bind_indices(
        &self,
        gpu: &Gpu,
        count: &Count,
        flags: &Buffer<u32>,
        output: &Buffer<u32>,
        kept: (&Buffer<u32>, u32),
    ) -> Result<Plan, PrimitiveError> {
        self.plan(gpu, count, flags, &self.indices, &[("output", output.raw())], output, kept)
    }

    /// Binds the compaction of the first `count` of `values`. Everything else is as in
    /// [`Compact::bind_indices`].
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
    ) -> Result<Plan, PrimitiveError> {
        at_least("values", values, count.bound(self.max)?.into())?;
        let buffers = [("values", values.raw()), ("output", output.raw())];
        self.plan(gpu, count, flags, &self.values, &buffers, output, kept)
    }

    #[expect(clippy::too_many_arguments, reason = "the two public forms share it")]
    fn plan(
        &self,
        gpu: &Gpu,
        count: &Count,
        flags: &Buffer<u32>,
        pick: &Kernel,
        buffers: &[(&str, &wgpu::Buffer)],
        output: &Buffer<u32>,
        (kept, destination): (&Buffer<u32>, u32),
    ) -> Result<Plan, PrimitiveError> {
        let bound = count.bound(self.max)?;
        at_least("flags", flags, bound.into())?;
        at_least("output", output, bound.into())?;
        at_least("kept", kept, u64::from(destination) + 1)?;
        // Kernels after the spine would read the number of kept elements as the count.
        if kept.raw() == count.buffer.raw() && destination == count.index {
            return Err(PrimitiveError::CountOverwritten { index: destination });
        }
        let groups = self.tuning.workgroups_for(bound, 1);
        let params = Params { destination, ..Params::new(bound, groups) };
        let mut work = Work::new(gpu, "compact", count, params)?;
        let (flags, partials) = (flags.raw(), self.partials.raw());
        work.dispatch(&self.upsweep, groups, &[("input", flags), ("partials", partials)])?;
        work.dispatch(&self.spine, 1, &[("rows", partials), ("total", kept.raw())])?;
        let buffers = [&[("input", flags), ("partials", partials)], buffers].concat();
        work.dispatch(pick, groups, &buffers)?;
        Ok(work.plan())
    }
}

pub(super) fn recipes(block: &Block) -> [Recipe; 4] {
    let constants = |more: &[(&'static str, f64)]| [block.constants.clone(), more.to_vec()];
    [
        recipe("upsweep", &["reduce", "acc_wide", block.file], &constants(&[Elements::Flags.constant()])),
        // The number of kept elements is one word: it counts elements of one buffer.
        recipe("spine", &["spine", "acc_wide", block.file], &constants(&[("TOTAL_WORDS", 1.0)])),
        recipe("pick_indices", &["pick", "acc_word", block.file], &constants(&[])),
        recipe("pick_values", &["pick", "acc_word", block.file], &constants(&[])),
    ]
}
