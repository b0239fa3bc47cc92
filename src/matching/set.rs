//! Sets of regions on the device.

use std::marker::PhantomData;

use super::programs;
use super::region::{Coordinate, Kind, Region};
use super::{Matcher, MatchingError};
use crate::gpu::{Buffer, Gpu};

/// The most regions of a set: kernels number region times dimension with 32 bits.
const MAX_REGIONS: u64 = 1 << 30;

/// Regions on the device, checked and ready to match. A region's id is its index.
#[derive(Debug, Clone)]
pub struct Regions<T, const D: usize> {
    pub(super) columns: Columns,
    values: PhantomData<T>,
}

/// What the kernels see of a set: `2·dims` columns of order-preserving keys in one buffer.
#[derive(Debug, Clone)]
pub(super) struct Columns {
    pub(super) label: String,
    pub(super) kind: Kind,
    pub(super) dims: u32,
    pub(super) count: u32,
    /// How many regions are not empty.
    pub(super) filled: u32,
    pub(super) keys: Buffer<u32>,
}

impl Columns {
    /// The bytes of a column within the buffer: column `2d` holds lower bounds of dimension `d`, `2d + 1` upper
    /// ones.
    pub(super) fn column_offset(&self, column: u32) -> u64 {
        u64::from(column) * u64::from(self.count) * 4
    }
}

impl Matcher {
    /// Copies regions to the device and checks them there. `label` is what errors call the set.
    ///
    /// # Errors
    /// [`MatchingError::Inverted`] or [`MatchingError::NotANumber`] for the first region at fault,
    /// [`MatchingError::TooManyRegions`], and [`MatchingError::Gpu`] (a set takes `8·D` bytes per region in one
    /// binding).
    pub fn upload<T: Coordinate, const D: usize>(
        &self,
        label: &str,
        regions: &[Region<T, D>],
    ) -> Result<Regions<T, D>, MatchingError> {
        let rows = Buffer::storage_from(self.gpu(), label, regions)?;
        self.import(label, &rows)
    }

    /// Takes regions that are on the device already, checks them there and leaves the buffer as it is.
    ///
    /// # Errors
    /// As [`Matcher::upload`].
    pub fn import<T: Coordinate, const D: usize>(
        &self,
        label: &str,
        rows: &Buffer<Region<T, D>>,
    ) -> Result<Regions<T, D>, MatchingError> {
        const { assert!(D >= 1 && D <= 4, "regions have 1 to 4 dimensions") };
        let gpu = self.gpu();
        if rows.len() > MAX_REGIONS {
            let (set, regions) = (label.to_owned(), rows.len());
            return Err(MatchingError::TooManyRegions { set, regions, limit: MAX_REGIONS });
        }
        #[expect(clippy::cast_possible_truncation, reason = "both were checked above")]
        let (count, dims) = (rows.len() as u32, D as u32);
        let keys = Buffer::storage(gpu, label, rows.len() * 2 * u64::from(dims))?;
        let status = Buffer::storage_from(gpu, "status of regions", &[u32::MAX, 0])?;
        if count > 0 {
            let kernel =
                self.kernels().get(&programs::IMPORT, &[("DIMS", dims), ("KIND", T::KIND as u32)])?;
            let buffers = [("rows", rows.raw()), ("columns", keys.raw()), ("status", status.raw())];
            self.kernels().run(&kernel, count, &[count], &buffers)?;
        }
        let status = status.read(gpu)?;
        if status[0] != u32::MAX {
            return Err(fault(gpu, label, rows, status[0] / dims, status[0] % dims)?);
        }
        let columns =
            Columns { label: label.to_owned(), kind: T::KIND, dims, count, filled: status[1], keys };
        Ok(Regions { columns, values: PhantomData })
    }
}

/// The error for the region that the kernel found at fault.
fn fault<T: Coordinate, const D: usize>(
    gpu: &Gpu,
    label: &str,
    rows: &Buffer<Region<T, D>>,
    region: u32,
    dimension: u32,
) -> Result<MatchingError, MatchingError> {
    let row = pollster::block_on(rows.read_range(gpu, u64::from(region), 1))?[0];
    Ok(wrong(label, region, dimension, &row))
}

/// The error for a bound of a region that is inverted or no number.
fn wrong<T: Coordinate, const D: usize>(
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

/// Checks one region on the host as the kernel does all of a set.
pub(super) fn check<T: Coordinate, const D: usize>(
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

impl<T: Coordinate, const D: usize> Regions<T, D> {
    /// How many regions there are, empty ones included.
    pub fn len(&self) -> u32 {
        self.columns.count
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.columns.count == 0
    }

    /// What errors call the set.
    pub fn label(&self) -> &str {
        &self.columns.label
    }
}
