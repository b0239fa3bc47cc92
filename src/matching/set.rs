//! Sets of regions on the device.

use std::fmt::Display;
use std::marker::PhantomData;

use rayon::prelude::*;

use super::MatchingError;
use super::region::{Bound, Coordinate, Kind, Region};
use crate::gpu::{Buffer, Gpu, GpuError};

/// Regions on the device, checked and ready to match. A region's id is its index.
#[derive(Debug, Clone)]
pub struct Regions<T, const D: usize> {
    pub(super) columns: Columns,
    pub(super) values: PhantomData<T>,
}

/// A set as kernels read it: `2·dims` columns of order-preserving keys in one buffer.
#[derive(Debug, Clone)]
pub(super) struct Columns {
    pub(super) label: String,
    pub(super) kind: Kind,
    pub(super) dims: u32,
    pub(super) count: u32,
    /// The number of regions that are not empty.
    pub(super) filled: u32,
    pub(super) keys: Buffer<u32>,
}

impl Columns {
    /// The columns of a set with this many regions, to be filled. The length was checked.
    pub(super) fn new<T: Coordinate, const D: usize>(
        gpu: &Gpu,
        label: &str,
        count: usize,
    ) -> Result<Self, GpuError> {
        #[expect(clippy::cast_possible_truncation, reason = "dimensions are few, and the length was checked")]
        let (count, dims) = (count as u32, D as u32);
        let keys = Buffer::storage(gpu, label, u64::from(count) * 2 * u64::from(dims))?;
        Ok(Self { label: label.to_owned(), kind: T::KIND, dims, count, filled: 0, keys })
    }

    /// The byte offset of a column within the buffer: column `2d` holds lower bounds of dimension
    /// `d`, `2d + 1` upper ones.
    pub(super) fn column_offset(&self, column: u32) -> u64 {
        u64::from(column) * u64::from(self.count) * 4
    }
}

/// The number of non-empty regions, or `None` if one is invalid. Iterations are independent, so
/// that several run at once.
pub(super) fn look<T: Bound, const D: usize>(regions: &[Region<T, D>]) -> Option<u32> {
    let (mut right, mut filled) = (true, 0);
    for Region { lo, hi } in regions {
        let mut apart = true;
        for d in 0..D {
            right &= lo[d] <= hi[d];
            apart &= lo[d] != hi[d];
        }
        filled += u32::from(apart);
    }
    right.then_some(filled)
}

/// The error for a region with an inverted bound, or one that is not a number.
pub(super) fn wrong<T: Copy + PartialOrd + Display, const D: usize>(
    label: &str,
    region: u32,
    dimension: u32,
    row: &Region<T, D>,
) -> MatchingError {
    let (lo, hi) = (row.lo[dimension as usize], row.hi[dimension as usize]);
    let (set, not_a_number) = (label.to_owned(), lo.partial_cmp(&hi).is_none());
    let (lo, hi) = (lo.to_string(), hi.to_string());
    match not_a_number {
        true => MatchingError::NotANumber { set, region, dimension, lo, hi },
        false => MatchingError::Inverted { set, region, dimension, lo, hi },
    }
}

/// Checks one region on the host as the kernel checks a whole set.
pub(super) fn check<T: Copy + PartialOrd + Display, const D: usize>(
    label: &str,
    region: u32,
    row: &Region<T, D>,
) -> Result<(), MatchingError> {
    for (dimension, (lo, hi)) in (0..).zip(row.lo.iter().zip(&row.hi)) {
        if lo.partial_cmp(hi).is_none_or(std::cmp::Ordering::is_gt) {
            return Err(wrong(label, region, dimension, row));
        }
    }
    Ok(())
}

/// Whether the host can hold a set of this many regions: ids have 32 bits, with space for two
/// bounds of two sets.
pub(super) fn check_host_len(label: &str, regions: u64) -> Result<(), MatchingError> {
    const LIMIT: u64 = 1 << 30;
    match regions > LIMIT {
        true => Err(MatchingError::TooManyRegions { set: label.to_owned(), regions, limit: LIMIT }),
        false => Ok(()),
    }
}

/// Checks a set on the host.
pub(super) fn check_all<T: Bound, const D: usize>(
    label: &str,
    regions: &[Region<T, D>],
) -> Result<(), MatchingError> {
    const { assert!(D >= 1 && D <= 4, "regions have 1 to 4 dimensions") };
    check_host_len(label, regions.len() as u64)?;
    if regions.par_chunks(1 << 12).all(|some| look(some).is_some()) {
        return Ok(());
    }
    // One after the other, so that the error names the first invalid region.
    (0..).zip(regions).try_for_each(|(number, region)| check(label, number, region))
}

/// The keys of a region, as the kernel computes them: for each dimension the lower bound's, then
/// the upper bound's.
pub(super) fn keys<T: Coordinate, const D: usize>(region: &Region<T, D>, keys: &mut [u32]) {
    let empty = region.is_empty();
    for (d, pair) in keys.chunks_exact_mut(2).enumerate() {
        pair[0] = if empty { u32::MAX } else { region.lo[d].key() };
        pair[1] = if empty { 0 } else { region.hi[d].key() };
    }
}

impl<T: Coordinate, const D: usize> Regions<T, D> {
    /// The number of regions, including empty ones.
    pub fn len(&self) -> u32 {
        self.columns.count
    }

    /// Whether there are no regions.
    pub fn is_empty(&self) -> bool {
        self.columns.count == 0
    }

    /// The set's name in errors.
    pub fn label(&self) -> &str {
        &self.columns.label
    }
}
