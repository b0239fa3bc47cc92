//! Reductions: many elements to one.

use std::marker::PhantomData;

use bytemuck::Pod;

use super::count::{at_least, checked};
use super::ranking::Block;
use super::tuning::SWEEP_ITEMS;
use super::work::{Params, Work, kernel, recipe};
use super::{Count, PrimitiveError, Tuning};
use crate::gpu::{Buffer, Gpu, Kernel, Plan, Recipe};

/// A type that is comparable on the device: `u32`, `i32`, and `f32` in its total order (as
/// [`f32::total_cmp`]).
pub trait Element: Pod + sealed::Reduced {}

/// `ELEMENTS` of `shaders/primitives/reduce.wgsl`: how a reduction interprets its elements.
#[derive(Debug, Clone, Copy)]
pub(super) enum Elements {
    Words = 0,
    Signed = 1,
    Floats = 2,
    Flags = 3,
}

impl Elements {
    pub(super) fn constant(self) -> (&'static str, f64) {
        ("ELEMENTS", f64::from(self as u8))
    }
}

mod sealed {
    pub trait Reduced {
        #[expect(private_interfaces, reason = "no other crate implements or reads it")]
        const ELEMENTS: super::Elements;
    }
}

macro_rules! element {
    ($($ty:ty => $elements:ident),*) => {$(
        impl sealed::Reduced for $ty {
            #[expect(private_interfaces, reason = "no other crate implements or reads it")]
            const ELEMENTS: Elements = Elements::$elements;
        }
        impl Element for $ty {}
    )*};
}
element!(u32 => Words, i32 => Signed, f32 => Floats);

/// The operation of a reduction.
#[derive(Debug, Clone, Copy)]
enum Operation {
    /// `OPERATION` of `shaders/primitives/acc_word.wgsl`.
    Sum = 0,
    Smallest = 1,
    Greatest = 2,
    /// `acc_wide.wgsl`, which has no other operation.
    SumWide,
}

/// Combines elements of type `T` to one result of type `R`.
#[derive(Debug, Clone)]
pub struct Reduce<T, R = T> {
    upsweep: Kernel,
    finish: Kernel,
    partials: Buffer<u64>,
    max: u32,
    tuning: Tuning,
    kind: (Operation, Elements),
    types: PhantomData<(T, R)>,
}

impl<T: Element> Reduce<T> {
    /// Finds the smallest of up to `max` elements. Without elements the result is the greatest
    /// value of the type (for `f32` a NaN).
    ///
    /// # Errors
    /// [`PrimitiveError`] if `max` is too large or the device fails.
    pub fn min(gpu: &Gpu, max: u64) -> Result<Self, PrimitiveError> {
        Self::new(gpu, max, Tuning::sweep(gpu), (Operation::Smallest, T::ELEMENTS))
    }

    /// Finds the greatest of up to `max` elements. Without elements the result is the smallest
    /// value of the type (for `f32` a negative NaN).
    ///
    /// # Errors
    /// [`PrimitiveError`] if `max` is too large or the device fails.
    pub fn max(gpu: &Gpu, max: u64) -> Result<Self, PrimitiveError> {
        Self::new(gpu, max, Tuning::sweep(gpu), (Operation::Greatest, T::ELEMENTS))
    }
}

impl Reduce<u32> {
    /// Adds up to `max` elements, modulo 2^32.
    ///
    /// # Errors
    /// [`PrimitiveError`] if `max` is too large or the device fails.
    pub fn sum(gpu: &Gpu, max: u64) -> Result<Self, PrimitiveError> {
        Self::new(gpu, max, Tuning::sweep(gpu), (Operation::Sum, Elements::Words))
    }
}

impl Reduce<u32, u64> {
    /// Adds up to `max` elements of 32 bits to a sum of 64 bits, which cannot overflow.
    ///
    /// # Errors
    /// [`PrimitiveError`] if `max` is too large or the device fails.
    pub fn sum_wide(gpu: &Gpu, max: u64) -> Result<Self, PrimitiveError> {
        Self::new(gpu, max, Tuning::sweep(gpu), (Operation::SumWide, Elements::Words))
    }
}

impl<T: Pod, R: Pod> Reduce<T, R> {
    fn new(gpu: &Gpu, max: u64, tuning: Tuning, kind: (Operation, Elements)) -> Result<Self, PrimitiveError> {
        let max = checked(max)?;
        let tuning = tuning.checked(&[SWEEP_ITEMS])?;
        let [upsweep, finish] = recipes(kind, &Block::of(gpu, &tuning));
        Ok(Self {
            upsweep: kernel(&upsweep, gpu)?,
            finish: kernel(&finish, gpu)?,
            partials: Buffer::storage(gpu, "partial results", tuning.workgroups_for(max, 1).into())?,
            max,
            tuning,
            kind,
            types: PhantomData,
        })
    }

    /// The same reduction with the given `tuning`.
    ///
    /// # Errors
    /// As the constructors, and [`PrimitiveError::Tuning`].
    #[doc(hidden)]
    pub fn with_tuning(&self, gpu: &Gpu, tuning: Tuning) -> Result<Self, PrimitiveError> {
        Self::new(gpu, self.max.into(), tuning, self.kind)
    }

    /// Binds the reduction of the first `count` elements of `input` to `output[index]`.
    ///
    /// # Errors
    /// [`PrimitiveError::TooShort`] and [`PrimitiveError::CountBeyondMaximum`] if the lengths do
    /// not fit.
    pub fn bind(
        &self,
        gpu: &Gpu,
        count: &Count,
        input: &Buffer<T>,
        output: &Buffer<R>,
        index: u32,
    ) -> Result<Plan, PrimitiveError> {
        let bound = count.bound(self.max)?;
        at_least("input", input, bound.into())?;
        at_least("output", output, u64::from(index) + 1)?;
        let groups = self.tuning.workgroups_for(bound, 1);
        let params = Params { destination: index, ..Params::new(bound, groups) };
        let mut work = Work::new(gpu, "reduce", count, params)?;
        let partials = ("partials", self.partials.raw());
        work.dispatch(&self.upsweep, groups, &[("input", input.raw()), partials])?;
        work.dispatch(&self.finish, 1, &[partials, ("output", output.raw())])?;
        Ok(work.plan())
    }
}

fn recipes((operation, elements): (Operation, Elements), block: &Block) -> [Recipe; 2] {
    let (acc, operation) = match operation {
        Operation::SumWide => ("acc_wide", None),
        operation => ("acc_word", Some(("OPERATION", f64::from(operation as u8)))),
    };
    let constants = [block.constants.clone(), operation.into_iter().chain([elements.constant()]).collect()];
    ["upsweep", "finish"].map(|entry| recipe(entry, &["reduce", acc, block.file], &constants))
}

pub(super) fn all(block: &Block) -> impl Iterator<Item = Recipe> {
    let elements = [Elements::Words, Elements::Signed, Elements::Floats];
    let extremes = [Operation::Smallest, Operation::Greatest]
        .map(|extreme| elements.map(|elements| (extreme, elements)));
    let sums = [Operation::Sum, Operation::SumWide].map(|sum| (sum, Elements::Words));
    extremes.into_iter().flatten().chain(sums).flat_map(|kind| recipes(kind, block))
}
