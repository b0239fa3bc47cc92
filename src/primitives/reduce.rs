//! Reductions: many elements to one.

use std::marker::PhantomData;

use bytemuck::Pod;

use super::count::{at_least, checked};
use super::task::{Params, Recipe, Task};
use super::tuning::Block;
use super::{Count, PrimitiveError, Tuning};
use crate::gpu::{Buffer, Gpu, Kernel};

/// What can be compared on the device: `u32`, `i32`, and `f32` in its total order (as [`f32::total_cmp`]).
pub trait Element: Pod + sealed::Lift {}

use sealed::Lift as _;

mod sealed {
    pub trait Lift {
        const FILE: &'static str;
    }
}

macro_rules! element {
    ($($ty:ty => $file:literal),*) => {$(
        impl sealed::Lift for $ty { const FILE: &'static str = $file; }
        impl Element for $ty {}
    )*};
}
element!(u32 => "lift_u32", i32 => "lift_i32", f32 => "lift_f32");

/// What accumulates, how elements are taken, how the result is given.
type Files = [&'static str; 3];
const WORD: &str = "finished_word";
const SUM: Files = ["acc_sum", "lift_u32", WORD];
const SUM_WIDE: Files = ["acc_sum_wide", "lift_u32", "finished_wide"];

/// Combines elements of type `T` to one result of type `R`.
#[derive(Debug, Clone)]
pub struct Reduce<T, R = T> {
    upsweep: Kernel,
    finish: Kernel,
    partials: Buffer<u64>,
    max: u32,
    tuning: Tuning,
    files: Files,
    types: PhantomData<(T, R)>,
}

impl<T: Element> Reduce<T> {
    /// Finds the smallest of up to `max` elements; of none, the greatest value of the type (for `f32` a NaN).
    ///
    /// # Errors
    /// [`PrimitiveError`] if `max` is too large or the device fails.
    pub fn min(gpu: &Gpu, max: u64) -> Result<Self, PrimitiveError> {
        Self::new(gpu, max, Tuning::sweep(gpu), ["acc_min", T::FILE, WORD])
    }

    /// Finds the greatest of up to `max` elements; of none, the smallest value of the type (for `f32` a negative NaN).
    ///
    /// # Errors
    /// [`PrimitiveError`] if `max` is too large or the device fails.
    pub fn max(gpu: &Gpu, max: u64) -> Result<Self, PrimitiveError> {
        Self::new(gpu, max, Tuning::sweep(gpu), ["acc_max", T::FILE, WORD])
    }
}

impl Reduce<u32> {
    /// Adds up to `max` elements, modulo 2^32.
    ///
    /// # Errors
    /// [`PrimitiveError`] if `max` is too large or the device fails.
    pub fn sum(gpu: &Gpu, max: u64) -> Result<Self, PrimitiveError> {
        Self::new(gpu, max, Tuning::sweep(gpu), SUM)
    }
}

impl Reduce<u32, u64> {
    /// Adds up to `max` elements of 32 bits to a sum of 64 bits, which cannot overflow.
    ///
    /// # Errors
    /// [`PrimitiveError`] if `max` is too large or the device fails.
    pub fn sum_wide(gpu: &Gpu, max: u64) -> Result<Self, PrimitiveError> {
        Self::new(gpu, max, Tuning::sweep(gpu), SUM_WIDE)
    }
}

impl<T: Pod, R: Pod> Reduce<T, R> {
    fn new(gpu: &Gpu, max: u64, tuning: Tuning, files: Files) -> Result<Self, PrimitiveError> {
        let max = checked(max)?;
        let tuning = tuning.checked(&[16])?;
        let [upsweep, finish] = recipes(files, &Block::of(gpu, &tuning));
        Ok(Self {
            upsweep: upsweep.kernel(gpu)?,
            finish: finish.kernel(gpu)?,
            partials: Buffer::storage(gpu, "partial results", tuning.workgroups_for(max, 1).into())?,
            max,
            tuning,
            files,
            types: PhantomData,
        })
    }

    /// The same reduction, cut as `tuning` says.
    ///
    /// # Errors
    /// As the constructors, and [`PrimitiveError::Tuning`].
    pub fn with_tuning(&self, gpu: &Gpu, tuning: Tuning) -> Result<Self, PrimitiveError> {
        Self::new(gpu, self.max.into(), tuning, self.files)
    }

    /// Binds the reduction of the first `count` elements of `input` to `output[index]`.
    ///
    /// # Errors
    /// [`PrimitiveError::TooShort`] and [`PrimitiveError::CountBeyondMaximum`] if the lengths do not fit.
    pub fn bind(
        &self,
        gpu: &Gpu,
        count: &Count,
        input: &Buffer<T>,
        output: &Buffer<R>,
        index: u32,
    ) -> Result<Task, PrimitiveError> {
        let bound = count.bound(self.max)?;
        at_least("input", input, bound.into())?;
        at_least("output", output, u64::from(index) + 1)?;
        let workgroups = self.tuning.workgroups_for(bound, 1);
        let params = Params { maximum: bound, destination: index, options: workgroups, ..Params::default() };
        let mut task = Task::new();
        let partials = ("partials", self.partials.raw());
        task.push(gpu, &self.upsweep, workgroups, count, &params, &[("input", input.raw()), partials])?;
        task.push(gpu, &self.finish, 1, count, &params, &[partials, ("output", output.raw())])?;
        Ok(task)
    }
}

fn recipes([acc, lift, finished]: Files, block: &Block) -> [Recipe; 2] {
    [Recipe::new("upsweep", &[acc, lift], block), Recipe::new("finish", &[acc, lift, finished], block)]
}

pub(super) fn all(block: &Block) -> impl Iterator<Item = Recipe> {
    let lifts = [u32::FILE, i32::FILE, f32::FILE];
    let extremes = ["acc_min", "acc_max"].map(|acc| lifts.map(|lift| [acc, lift, WORD]));
    let files = extremes.into_iter().flatten().chain([SUM, SUM_WIDE]);
    files.flat_map(|files| recipes(files, block))
}
