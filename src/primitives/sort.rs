//! Stable radix sort.

use std::marker::PhantomData;
use std::ops::Range;

use bytemuck::Pod;

use super::count::{at_least, checked};
use super::task::{Params, Task, kernel};
use super::tuning::{block_baseline, block_subgroup, subgroup_pool};
use super::{Count, PrimitiveError, Tuning};
use crate::gpu::{Buffer, Gpu, Kernel};

/// What a [`RadixSort`] sorts by: `u32`, or `u64` (on the device two words, the low one first).
pub trait SortKey: Pod + sealed::Words {
    /// Bits of a key.
    const BITS: u32;
}

mod sealed {
    pub trait Words {
        const FILE: &'static str;
    }
}

impl sealed::Words for u32 {
    const FILE: &'static str = "key_word";
}

impl SortKey for u32 {
    const BITS: u32 = 32;
}

impl sealed::Words for u64 {
    const FILE: &'static str = "key_wide";
}

impl SortKey for u64 {
    const BITS: u32 = 64;
}

/// Values of a digit.
const DIGITS: u64 = 256;

/// Sorts keys, and values with them, in place: ascending, equal keys in their old order.
#[derive(Debug, Clone)]
pub struct RadixSort<K> {
    histogram: Kernel,
    digits: Kernel,
    pairs: Kernel,
    keys: Kernel,
    other_keys: Buffer<K>,
    other_values: Buffer<u32>,
    counts: Buffer<u32>,
    max: u32,
    tuning: Tuning,
    key: PhantomData<K>,
}

impl<K: SortKey> RadixSort<K> {
    /// Prepares sorts of up to `max` keys. It allots scratch memory for as many keys and values.
    ///
    /// # Errors
    /// [`PrimitiveError`] if `max` is too large or the device fails.
    pub fn new(gpu: &Gpu, max: u64) -> Result<Self, PrimitiveError> {
        Self::with_tuning(gpu, max, Tuning::sort(gpu))
    }

    /// The same, cut as `tuning` says.
    ///
    /// # Errors
    /// Further [`PrimitiveError::Tuning`].
    pub fn with_tuning(gpu: &Gpu, max: u64, tuning: Tuning) -> Result<Self, PrimitiveError> {
        let max = checked(max)?;
        let pool = subgroup_pool(gpu, &tuning);
        let tuning = tuning.checked(if pool.is_some() { &[8, 12, 13, 32] } else { &[8] })?;
        let items = match tuning.items {
            32 => "items_32",
            13 => "items_13",
            12 => "items_12",
            _ => "items_8",
        };
        // Ranking by subgroups goes with scanning by subgroups.
        let (block, size) = match pool {
            Some(_) => block_subgroup(gpu, &tuning),
            None => block_baseline(&tuning),
        };
        let (rank, constants) = match pool {
            Some(pool) => ("rank_subgroup", [&size[..], &[("POOL", f64::from(pool))]].concat()),
            None => ("rank_baseline", size.clone()),
        };
        let scatter = |values| {
            let files = [K::FILE, items, rank, values, block, "scatter"];
            kernel(gpu, "scatter", &files, &constants)
        };
        Ok(Self {
            histogram: kernel(gpu, "histogram", &[K::FILE, items, "acc_sum", block, "histogram"], &size)?,
            digits: kernel(gpu, "digits", &["acc_sum", block, "digits"], &size)?,
            pairs: scatter("values_word")?,
            keys: scatter("values_none")?,
            other_keys: Buffer::storage(gpu, "keys in between", max.into())?,
            other_values: Buffer::storage(gpu, "values in between", max.into())?,
            counts: Buffer::storage(
                gpu,
                "digit counts",
                DIGITS * (u64::from(tuning.workgroups_for(max)) + 1),
            )?,
            max,
            tuning,
            key: PhantomData,
        })
    }

    /// Binds the sort of the first `count` pairs of `keys` and `values` by the key's `bits` (`0..32` and `0..64` are
    /// whole keys). What lies behind them is left alone.
    ///
    /// # Errors
    /// [`PrimitiveError::TooShort`] and [`PrimitiveError::CountBeyondMaximum`] if the lengths do not fit,
    /// [`PrimitiveError::Bits`] if the range does not.
    pub fn bind(
        &self,
        gpu: &Gpu,
        count: &Count,
        keys: &Buffer<K>,
        values: &Buffer<u32>,
        bits: Range<u32>,
    ) -> Result<Task, PrimitiveError> {
        at_least("values", values, count.bound(self.max)?.into())?;
        self.task(gpu, count, keys, Some(values), bits)
    }

    /// [`RadixSort::bind`] for keys alone.
    ///
    /// # Errors
    /// As [`RadixSort::bind`].
    pub fn bind_keys(
        &self,
        gpu: &Gpu,
        count: &Count,
        keys: &Buffer<K>,
        bits: Range<u32>,
    ) -> Result<Task, PrimitiveError> {
        self.task(gpu, count, keys, None, bits)
    }

    fn task(
        &self,
        gpu: &Gpu,
        count: &Count,
        keys: &Buffer<K>,
        values: Option<&Buffer<u32>>,
        bits: Range<u32>,
    ) -> Result<Task, PrimitiveError> {
        let bound = count.bound(self.max)?;
        at_least("keys", keys, bound.into())?;
        if bits.is_empty() || bits.end > K::BITS {
            return Err(PrimitiveError::Bits { start: bits.start, end: bits.end, width: K::BITS });
        }
        let workgroups = self.tuning.workgroups_for(bound);
        let counts = ("counts", self.counts.raw());
        let kernel = if values.is_some() { &self.pairs } else { &self.keys };
        let (mut keys, mut other_keys) = (keys.raw(), self.other_keys.raw());
        let other = self.other_values.raw();
        let (mut values, mut other_values) = (values.map_or(other, Buffer::raw), other);
        let mut task = Task::new();
        for digit in digits(bits) {
            let params = Params {
                maximum: bound,
                first_bit: digit.start,
                digit_mask: (1 << digit.len()) - 1,
                options: workgroups,
                ..Params::default()
            };
            task.push(gpu, &self.histogram, workgroups, count, &params, &[("keys", keys), counts])?;
            let rows = u32::try_from(DIGITS).expect("256");
            task.push(gpu, &self.digits, rows, count, &params, &[counts])?;
            let buffers = [
                ("keys", keys),
                ("values", values),
                counts,
                ("sorted_keys", other_keys),
                ("sorted_values", other_values),
            ];
            task.push(gpu, kernel, workgroups, count, &params, &buffers)?;
            std::mem::swap(&mut keys, &mut other_keys);
            std::mem::swap(&mut values, &mut other_values);
        }
        Ok(task)
    }
}

/// Cuts `bits` into an even number of digits of at most 8 bits, so that the last pass ends in the caller's buffers.
fn digits(bits: Range<u32>) -> impl Iterator<Item = Range<u32>> {
    let width = bits.end - bits.start;
    let passes = 2 * width.div_ceil(16);
    (0..passes).map(move |pass| {
        let edge = |pass| bits.start + width * pass / passes;
        edge(pass)..edge(pass + 1)
    })
}

#[cfg(test)]
mod tests {
    use super::digits;

    #[test]
    fn digits_cover_the_bits_in_an_even_number_of_passes() {
        for start in 0..64u32 {
            for end in start + 1..=64 {
                let cut: Vec<_> = digits(start..end).collect();
                assert_eq!(cut.len() % 2, 0);
                assert_eq!((cut[0].start, cut[cut.len() - 1].end), (start, end));
                assert!(cut.windows(2).all(|pair| pair[0].end == pair[1].start));
                assert!(cut.iter().all(|digit| digit.len() <= 8));
            }
        }
    }
}
