//! Reductions: many elements to one.

use std::marker::PhantomData;

use bytemuck::Pod;

use super::count::{at_least, checked};
use super::task::{Params, Task, kernel};
use super::tuning::block;
use super::{Count, PrimitiveError, Tuning};
use crate::gpu::{Buffer, Gpu, Kernel};

/// What can be compared on the device: `u32`, `i32`, and `f32` in its total order (as [`f32::total_cmp`]).
pub trait Element: Pod + sealed::Lift {}

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

/// Combines elements of type `T` to one result of type `R`.
#[derive(Debug, Clone)]
pub struct Reduce<T, R = T> {
    upsweep: Kernel,
    finish: Kernel,
    partials: Buffer<u64>,
    max: u32,
    tuning: Tuning,
    files: [&'static str; 3],
    types: PhantomData<(T, R)>,
}

impl<T: Element> Reduce<T> {
    /// Finds the smallest of up to `max` elements; of none, the greatest value of the type (for `f32` a NaN).
    ///
    /// # Errors
    /// [`PrimitiveError`] if `max` is too large or the device fails.
    pub fn min(gpu: &Gpu, max: u64) -> Result<Self, PrimitiveError> {
        Self::new(gpu, max, Tuning::sweep(gpu), ["acc_min", T::FILE, "finished_word"])
    }

    /// Finds the greatest of up to `max` elements; of none, the smallest value of the type (for `f32` a negative NaN).
    ///
    /// # Errors
    /// [`PrimitiveError`] if `max` is too large or the device fails.
    pub fn max(gpu: &Gpu, max: u64) -> Result<Self, PrimitiveError> {
        Self::new(gpu, max, Tuning::sweep(gpu), ["acc_max", T::FILE, "finished_word"])
    }
}

impl Reduce<u32> {
    /// Adds up to `max` elements, modulo 2^32.
    ///
    /// # Errors
    /// [`PrimitiveError`] if `max` is too large or the device fails.
    pub fn sum(gpu: &Gpu, max: u64) -> Result<Self, PrimitiveError> {
        Self::new(gpu, max, Tuning::sweep(gpu), ["acc_sum", "lift_u32", "finished_word"])
    }
}

impl Reduce<u32, u64> {
    /// Adds up to `max` elements of 32 bits to a sum of 64 bits, which cannot overflow.
    ///
    /// # Errors
    /// [`PrimitiveError`] if `max` is too large or the device fails.
    pub fn sum_wide(gpu: &Gpu, max: u64) -> Result<Self, PrimitiveError> {
        Self::new(gpu, max, Tuning::sweep(gpu), ["acc_sum_wide", "lift_u32", "finished_wide"])
    }
}

impl<T: Pod, R: Pod> Reduce<T, R> {
    fn new(gpu: &Gpu, max: u64, tuning: Tuning, files: [&'static str; 3]) -> Result<Self, PrimitiveError> {
        let [acc, lift, finished] = files;
        let max = checked(max)?;
        let tuning = tuning.checked(&[16])?;
        let (block, size) = block(gpu, &tuning);
        Ok(Self {
            upsweep: kernel(gpu, "upsweep", &[acc, lift, block, "upsweep"], &size)?,
            finish: kernel(gpu, "finish", &[acc, lift, finished, block, "finish"], &size)?,
            partials: Buffer::storage(gpu, "partial results", tuning.workgroups_for(max).into())?,
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
        let workgroups = self.tuning.workgroups_for(bound);
        let params = Params { maximum: bound, destination: index, options: workgroups, ..Params::default() };
        let mut task = Task::new();
        let partials = ("partials", self.partials.raw());
        task.push(gpu, &self.upsweep, workgroups, count, &params, &[("input", input.raw()), partials])?;
        task.push(gpu, &self.finish, 1, count, &params, &[partials, ("output", output.raw())])?;
        Ok(task)
    }
}
