//! Stable radix sort.

use std::marker::PhantomData;
use std::ops::Range;

use super::count::{at_least, checked};
use super::ranking::Rank;
use super::tuning::MAX_WORKGROUPS;
use super::work::{Params, Work, kernel, recipe};
use super::{Count, PrimitiveError, SortKey, Tuning};
use crate::gpu::{Buffer, Gpu, GpuError, Kernel, Plan, Recipe};

shared! {
    "primitives/params.wgsl":
    /// Number of values of a digit.
    const DIGITS: u32;
}

/// Sorts keys, alone or with values, in place: ascending and stable.
#[derive(Debug, Clone)]
pub struct RadixSort<K> {
    histogram: Kernel,
    digits: Kernel,
    begins: Kernel,
    pairs: Kernel,
    keys: Kernel,
    other_keys: Buffer<K>,
    other_values: Buffer<u32>,
    counts: Buffer<u32>,
    /// The number of arrays sorted at once. `max` is the maximum number of keys of each.
    arrays: u32,
    max: u32,
    tuning: Tuning,
    key: PhantomData<K>,
}

impl<K: SortKey> RadixSort<K> {
    /// Prepares sorts of up to `max` keys. Allocates scratch memory for the same number of keys and
    /// values.
    ///
    /// # Errors
    /// [`PrimitiveError`] if `max` is too large or the device fails.
    pub fn new(gpu: &Gpu, max: u64) -> Result<Self, PrimitiveError> {
        Self::with_tuning(gpu, max, Tuning::sort::<K>(gpu))
    }

    /// Like [`RadixSort::new`], with the given `tuning`.
    ///
    /// # Errors
    /// As [`RadixSort::new`], and [`PrimitiveError::Tuning`].
    #[doc(hidden)]
    pub fn with_tuning(gpu: &Gpu, max: u64, tuning: Tuning) -> Result<Self, PrimitiveError> {
        let rank = Rank::of::<K>(gpu, &tuning);
        Self::with_rank(gpu, max, tuning, &rank)
    }

    fn with_rank(gpu: &Gpu, max: u64, tuning: Tuning, rank: &Rank) -> Result<Self, PrimitiveError> {
        let max = checked(max)?;
        let tuning = tuning.checked(&[rank.items])?;
        let [histogram, digits, begins, pairs, keys] = recipes(K::FILE, rank);
        Ok(Self {
            histogram: kernel(&histogram, gpu)?,
            digits: kernel(&digits, gpu)?,
            begins: kernel(&begins, gpu)?,
            pairs: kernel(&pairs, gpu)?,
            keys: kernel(&keys, gpu)?,
            other_keys: Buffer::storage(gpu, "keys in between", max.into())?,
            other_values: Buffer::storage(gpu, "values in between", max.into())?,
            counts: counts(gpu, &tuning, max, 1)?,
            arrays: 1,
            max,
            tuning,
            key: PhantomData,
        })
    }

    /// The same sort of `arrays` arrays at once, each of up to `max / arrays` keys. It shares the
    /// scratch memory. With few keys it takes little longer than a sort of one array.
    ///
    /// The arrays follow each other in one buffer. If the host knows the [`Count`], each begins
    /// after the `count` keys of the previous one, else `max / arrays` keys after its start. All
    /// have the same count.
    ///
    /// # Errors
    /// [`PrimitiveError::Arrays`] beyond 65,535 arrays, [`PrimitiveError::Gpu`] if the device
    /// fails.
    pub fn arrays(&self, gpu: &Gpu, arrays: u32) -> Result<Self, PrimitiveError> {
        // An array has at least one workgroup.
        if !(1..=MAX_WORKGROUPS).contains(&arrays) {
            return Err(PrimitiveError::Arrays { arrays, limit: MAX_WORKGROUPS });
        }
        let max = self.arrays * self.max / arrays;
        let counts = counts(gpu, &self.tuning, max, arrays)?;
        Ok(Self { counts, arrays, max, ..self.clone() })
    }

    /// Binds the sort of the first `count` pairs of `keys` and `values` by the key's `bits`
    /// (`0..32` and `0..64` are whole keys). Pairs behind them do not change.
    ///
    /// # Errors
    /// [`PrimitiveError::TooShort`] and [`PrimitiveError::CountBeyondMaximum`] if the lengths do
    /// not fit, [`PrimitiveError::Bits`] if the range does not.
    pub fn bind(
        &self,
        gpu: &Gpu,
        count: &Count,
        keys: &Buffer<K>,
        values: &Buffer<u32>,
        bits: Range<u32>,
    ) -> Result<Plan, PrimitiveError> {
        at_least("values", values, u64::from(self.arrays) * u64::from(count.bound(self.max)?))?;
        self.plan(gpu, count, keys, Some(values), bits)
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
    ) -> Result<Plan, PrimitiveError> {
        self.plan(gpu, count, keys, None, bits)
    }

    fn plan(
        &self,
        gpu: &Gpu,
        count: &Count,
        keys: &Buffer<K>,
        values: Option<&Buffer<u32>>,
        bits: Range<u32>,
    ) -> Result<Plan, PrimitiveError> {
        let bound = count.bound(self.max)?;
        at_least("keys", keys, u64::from(self.arrays) * u64::from(bound))?;
        if bits.is_empty() || bits.end > K::BITS {
            return Err(PrimitiveError::Bits { start: bits.start, end: bits.end, width: K::BITS });
        }
        let groups = self.tuning.workgroups_for(bound, self.arrays);
        let chunk = chunk(groups);
        let chunks = groups.div_ceil(chunk);
        let mut params = Params { array_length: bound, chunk, ..Params::new(bound, groups) };
        let mut work = Work::new(gpu, "sort", count, params)?;
        let counts = ("counts", self.counts.raw());
        let kernel = if values.is_some() { &self.pairs } else { &self.keys };
        let (mut keys, mut other_keys) = (keys.raw(), self.other_keys.raw());
        let other = self.other_values.raw();
        let (mut values, mut other_values) = (values.map_or(other, Buffer::raw), other);
        let all = self.arrays * groups;
        for digit in digits(bits) {
            (params.first_bit, params.digit_mask) = (digit.start, (1 << digit.len()) - 1);
            work.set(params)?;
            work.dispatch(&self.histogram, all, &[("keys", keys), counts])?;
            work.dispatch(&self.digits, self.arrays * chunks, &[counts])?;
            if chunks > FEW_CHUNKS {
                work.dispatch(&self.begins, self.arrays, &[counts])?;
            }
            let buffers = [
                ("keys", keys),
                ("values", values),
                counts,
                ("sorted_keys", other_keys),
                ("sorted_values", other_values),
            ];
            work.dispatch(kernel, all, &buffers)?;
            std::mem::swap(&mut keys, &mut other_keys);
            std::mem::swap(&mut values, &mut other_values);
        }
        Ok(work.plan())
    }
}

/// The smallest number of shares whose counts a workgroup sums: the number it loads at once
/// (`sum_rows` of `shaders/primitives/digits.wgsl`).
const LEAST_CHUNK: u32 = 16;

shared! {
    "primitives/params.wgsl":
    /// At most this number of chunks needs no extra dispatch.
    const FEW_CHUNKS: u32;
}

/// The number of shares, of an array's `groups`, whose counts a workgroup sums. Up to four times
/// the least if there are few chunks then; else about the number of chunks.
fn chunk(groups: u32) -> u32 {
    let few = groups.div_ceil(FEW_CHUNKS).next_multiple_of(LEAST_CHUNK);
    if few <= 4 * LEAST_CHUNK { few } else { groups.isqrt().next_multiple_of(LEAST_CHUNK) }
}

/// Beyond this number of shares there are more than `FEW_CHUNKS` chunks.
const MANY_SHARES: u32 = FEW_CHUNKS * 4 * LEAST_CHUNK;

/// Rows of counts of an array, at most: its shares, their chunks and, of many shares, the array.
/// Never falls as shares grow. One share has two rows, so that the maximum number of arrays fits a
/// binding of the size that every adapter has.
fn rows(groups: u32) -> u32 {
    groups + groups.div_ceil(LEAST_CHUNK) + u32::from(groups > MANY_SHARES)
}

/// Memory for the digit counts of every workgroup's share and of every array.
fn counts(gpu: &Gpu, tuning: &Tuning, max: u32, arrays: u32) -> Result<Buffer<u32>, GpuError> {
    let rows = u64::from(arrays) * u64::from(rows(tuning.workgroups_for(max, arrays)));
    Buffer::storage(gpu, "digit counts", u64::from(DIGITS) * rows)
}

/// Histogram, digit sums, digit offsets, scatter of pairs, scatter of keys.
fn recipes(key: &str, rank: &Rank) -> [Recipe; 5] {
    let block = &rank.block;
    let constants = [block.constants.clone(), rank.constants.clone()];
    // The block's scan runs over the counts of the ranking.
    let ranked = |entry, file| {
        let files = [file, key, rank.file, block.file];
        recipe(entry, &[&files[..], rank.acc].concat(), &constants)
    };
    [
        ranked("histogram", "histogram"),
        recipe("digits", &["digits", "acc_word", block.file], &constants[..1]),
        recipe("begins", &["digits", "acc_word", block.file], &constants[..1]),
        ranked("scatter_pairs", "scatter").with(vec![("IN_TURNS", rank.in_turns.into())]),
        ranked("scatter_keys", "scatter"),
    ]
}

pub(super) fn all() -> Vec<Recipe> {
    fn of<K: SortKey>() -> impl Iterator<Item = Recipe> {
        let ranks = [
            Rank::baseline(256),
            Rank::subgroup::<K>(256, 32, 8, false),
            Rank::subgroup::<K>(256, 128, 8, false),
            Rank::subgroup::<K>(256, 128, 8, true),
        ];
        let in_turns = Rank { in_turns: true, ..Rank::subgroup::<K>(256, 32, 8, false) };
        ranks.into_iter().chain([in_turns]).flat_map(|rank| recipes(K::FILE, &rank))
    }
    of::<u32>().chain(of::<u64>()).collect()
}

/// Cuts `bits` into an even number of digits of at most 8 bits, so that the last pass ends in the
/// caller's buffers.
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
    use super::super::sort_key::sealed::Words as _;
    use super::*;

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

    #[test]
    fn the_most_arrays_fit_the_least_binding() {
        let bytes = u64::from(MAX_WORKGROUPS) * u64::from(rows(1)) * u64::from(DIGITS) * 4;
        assert!(bytes <= wgpu::Limits::default().max_storage_buffer_binding_size);
    }

    #[test]
    fn chunks_have_the_rows_that_are_allotted() {
        let mut most = 0;
        for groups in 1..=MAX_WORKGROUPS {
            let chunks = groups.div_ceil(chunk(groups));
            let used = groups + chunks + u32::from(chunks > FEW_CHUNKS);
            assert!(used <= rows(groups), "{groups} shares in {chunks} chunks");
            assert_eq!(chunks > FEW_CHUNKS, groups > MANY_SHARES, "{groups} shares");
            assert!(rows(groups) > most);
            most = rows(groups);
        }
    }

    /// A driver may compile the kernel with more subgroups than there are counters. No device of
    /// the tests does that by default.
    #[test]
    fn sorts_are_right_with_more_subgroups_than_counters() {
        let gpu = Gpu::for_test();
        let Some(subgroups) = gpu.subgroups().and_then(|seen| seen.of(128).copied()) else { return };
        let tuning = Tuning { group_size: 128, items: u32::ITEMS, workgroups: 3 };
        let count = Count::host(&gpu, 5000).unwrap();
        let keys: Vec<u32> = (0..5000u32).map(|i| i.wrapping_mul(0x9e37_79b9) >> 7 & 0xf00_0fff).collect();
        let indices: Vec<u32> = (0..5000).collect();
        let mut expected = indices.clone();
        expected.sort_by_key(|&index| keys[index as usize]);
        // With no counters any number of subgroups is too many; the other case has enough.
        for (room, gpu) in [(0, gpu.checked()), (128 / subgroups.min, gpu.clone())] {
            let rank = Rank::subgroup::<u32>(128, subgroups.max, room, true);
            let sort = RadixSort::<u32>::with_rank(&gpu, 5000, tuning, &rank).unwrap();
            let on_device = Buffer::storage_from(&gpu, "keys", &keys).unwrap();
            let values = Buffer::storage_from(&gpu, "values", &indices).unwrap();
            sort.bind(&gpu, &count, &on_device, &values, 0..32).unwrap().submit(&gpu).unwrap();
            assert_eq!(values.read(&gpu).unwrap(), expected, "counters for {room} subgroups");
        }
    }
}
