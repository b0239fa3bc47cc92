//! Sets of regions on the device.

use std::fmt::Display;
use std::marker::PhantomData;

use bytemuck::{Pod, Zeroable};

use super::programs;
use super::region::{Coordinate, Kind, Region};
use super::{Matcher, MatchingError};
use crate::gpu::{Buffer, Gpu, Plan};

/// The most regions of a set in so many dimensions: kernels number the words of `2·dims` columns, and of one more where they
/// are put in order, with 32 bits.
const fn max_regions(dims: u64) -> u64 {
    let words = u32::MAX as u64 / (2 * dims + 1);
    if words < 1 << 30 { words } else { 1 << 30 }
}

/// As in import.wgsl.
#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
struct ImportParams {
    regions: u32,
}

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
    #[cfg(not(target_arch = "wasm32"))]
    pub fn upload<T: Coordinate, const D: usize>(
        &self,
        label: &str,
        regions: &[Region<T, D>],
    ) -> Result<Regions<T, D>, MatchingError> {
        pollster::block_on(self.upload_async(label, regions))
    }

    /// [`Matcher::upload`] without blocking.
    ///
    /// # Errors
    /// As [`Matcher::upload`].
    pub async fn upload_async<T: Coordinate, const D: usize>(
        &self,
        label: &str,
        regions: &[Region<T, D>],
    ) -> Result<Regions<T, D>, MatchingError> {
        self.check_len::<D>(label, regions.len() as u64)?;
        let rows = Buffer::storage_from(self.gpu(), label, regions)?;
        self.import_async(label, &rows).await
    }

    /// Whether a set of so many regions in `D` dimensions can be had, before it is made.
    ///
    /// # Errors
    /// [`MatchingError::TooManyRegions`].
    pub fn check_len<const D: usize>(&self, label: &str, regions: u64) -> Result<(), MatchingError> {
        let limit = const { max_regions(D as u64) }.min(self.gpu().max_buffer_bytes() / (8 * D as u64));
        match regions > limit {
            true => Err(MatchingError::TooManyRegions { set: label.to_owned(), regions, limit }),
            false => Ok(()),
        }
    }

    /// Takes regions that are on the device already, checks them there and leaves the buffer as it is.
    ///
    /// # Errors
    /// As [`Matcher::upload`].
    #[cfg(not(target_arch = "wasm32"))]
    pub fn import<T: Coordinate, const D: usize>(
        &self,
        label: &str,
        rows: &Buffer<Region<T, D>>,
    ) -> Result<Regions<T, D>, MatchingError> {
        pollster::block_on(self.import_async(label, rows))
    }

    /// [`Matcher::import`] without blocking.
    ///
    /// # Errors
    /// As [`Matcher::upload`].
    pub async fn import_async<T: Coordinate, const D: usize>(
        &self,
        label: &str,
        rows: &Buffer<Region<T, D>>,
    ) -> Result<Regions<T, D>, MatchingError> {
        const { assert!(D >= 1 && D <= 4, "regions have 1 to 4 dimensions") };
        let gpu = self.gpu();
        self.check_len::<D>(label, rows.len())?;
        #[expect(clippy::cast_possible_truncation, reason = "both were checked above")]
        let (count, dims) = (rows.len() as u32, D as u32);
        let keys = Buffer::storage(gpu, label, rows.len() * 2 * u64::from(dims))?;
        let status = Buffer::storage_from(gpu, "status of regions", &[u32::MAX, 0])?;
        if count > 0 {
            let mut plan = Plan::new("import regions");
            self.kernels().add_each(
                &mut plan,
                &programs::import_rows(dims, T::KIND),
                count,
                &ImportParams { regions: count },
                &[("rows", rows.raw()), ("columns", keys.raw()), ("status", status.raw())],
            )?;
            plan.submit(gpu)?;
        }
        let status = status.read_async(gpu).await?;
        if status[0] != u32::MAX {
            return Err(fault(gpu, label, rows, status[0] / dims, status[0] % dims).await?);
        }
        let columns =
            Columns { label: label.to_owned(), kind: T::KIND, dims, count, filled: status[1], keys };
        Ok(Regions { columns, values: PhantomData })
    }
}

/// The error for the region that the kernel found at fault.
async fn fault<T: Coordinate, const D: usize>(
    gpu: &Gpu,
    label: &str,
    rows: &Buffer<Region<T, D>>,
    region: u32,
    dimension: u32,
) -> Result<MatchingError, MatchingError> {
    let row = rows.read_range(gpu, u64::from(region), 1).await?[0];
    Ok(wrong(label, region, dimension, &row))
}

/// The error for a bound of a region that is inverted or no number.
fn wrong<T: Copy + PartialOrd + Display, const D: usize>(
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

/// The keys of a region, as the kernel makes those of a set: for each dimension its lower bound's, then its upper bound's.
pub(super) fn keys<T: Coordinate, const D: usize>(region: &Region<T, D>, keys: &mut [u32]) {
    let empty = region.is_empty();
    for (d, pair) in keys.chunks_exact_mut(2).enumerate() {
        pair[0] = if empty { u32::MAX } else { region.lo[d].key() };
        pair[1] = if empty { 0 } else { region.hi[d].key() };
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_lie_as_in_wgsl() {
        crate::gpu::assert_same_layout!(
            programs::import_rows(1, Kind::U32).link().unwrap(),
            ImportParams { regions }
        );
    }
}
