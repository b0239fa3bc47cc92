//! Prefix sums.

use super::count::{at_least, checked};
use super::ranking::Block;
use super::tuning::SWEEP_ITEMS;
use super::work::{Params, Work, kernel, recipe};
use super::{Count, PrimitiveError, Tuning};
use crate::gpu::{Buffer, Gpu, Kernel, Plan, Recipe};

/// Which elements the sum at an element includes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ScanKind {
    /// The elements before it.
    Exclusive,
    /// The elements before it and the element itself.
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

    /// Like [`Scan::new`], with the given `tuning`.
    ///
    /// # Errors
    /// As [`Scan::new`], and [`PrimitiveError::Tuning`].
    #[doc(hidden)]
    pub fn with_tuning(gpu: &Gpu, max: u64, tuning: Tuning) -> Result<Self, PrimitiveError> {
        let max = checked(max)?;
        let tuning = tuning.checked(&[SWEEP_ITEMS])?;
        let [upsweep, spine, words, wide] = recipes(&Block::of(gpu, &tuning));
        Ok(Self {
            upsweep: kernel(&upsweep, gpu)?,
            spine: kernel(&spine, gpu)?,
            words: kernel(&words, gpu)?,
            wide: kernel(&wide, gpu)?,
            partials: Buffer::storage(gpu, "partial sums", tuning.workgroups_for(max, 1).into())?,
            no_total: Buffer::storage(gpu, "total", 1)?,
            max,
            tuning,
        })
    }

    /// Binds the scan of the first `count` words of `input` into `output`, another buffer.
    ///
    /// Sums are modulo 2^32. The 64-bit sum of all elements is written to `total`, a buffer and an
    /// index in it; it shows whether any sum wrapped.
    ///
    /// # Errors
    /// [`PrimitiveError::TooShort`] and [`PrimitiveError::CountBeyondMaximum`] if the lengths do
    /// not fit.
    pub fn bind(
        &self,
        gpu: &Gpu,
        kind: ScanKind,
        count: &Count,
        input: &Buffer<u32>,
        output: &Buffer<u32>,
        total: Option<(&Buffer<u64>, u32)>,
    ) -> Result<Plan, PrimitiveError> {
        at_least("output", output, count.bound(self.max)?.into())?;
        self.plan(gpu, kind, count, input, &self.words, output.raw(), total)
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
    ) -> Result<Plan, PrimitiveError> {
        at_least("output", output, count.bound(self.max)?.into())?;
        self.plan(gpu, kind, count, input, &self.wide, output.raw(), total)
    }

    #[expect(clippy::too_many_arguments, reason = "the two public forms share it")]
    fn plan(
        &self,
        gpu: &Gpu,
        kind: ScanKind,
        count: &Count,
        input: &Buffer<u32>,
        downsweep: &Kernel,
        output: &wgpu::Buffer,
        total: Option<(&Buffer<u64>, u32)>,
    ) -> Result<Plan, PrimitiveError> {
        let bound = count.bound(self.max)?;
        at_least("input", input, bound.into())?;
        let (total, destination) = total.unwrap_or((&self.no_total, 0));
        at_least("total", total, u64::from(destination) + 1)?;
        let groups = self.tuning.workgroups_for(bound, 1);
        let inclusive = u32::from(kind == ScanKind::Inclusive);
        let params = Params { destination, inclusive, ..Params::new(bound, groups) };
        let mut work = Work::new(gpu, "scan", count, params)?;
        let (input, partials) = (("input", input.raw()), self.partials.raw());
        work.dispatch(&self.upsweep, groups, &[input, ("partials", partials)])?;
        work.dispatch(&self.spine, 1, &[("rows", partials), ("total", total.raw())])?;
        work.dispatch(downsweep, groups, &[input, ("partials", partials), ("output", output)])?;
        Ok(work.plan())
    }
}

pub(super) fn recipes(block: &Block) -> [Recipe; 4] {
    let recipe =
        |entry, file, acc| recipe(entry, &[file, acc, block.file], std::slice::from_ref(&block.constants));
    [
        recipe("upsweep", "reduce", "acc_wide"),
        recipe("spine", "spine", "acc_wide"),
        recipe("downsweep", "downsweep", "acc_word"),
        recipe("downsweep", "downsweep", "acc_wide"),
    ]
}
