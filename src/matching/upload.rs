//! Brings regions to the device: uploads them from the host, or imports them from a buffer.

use std::marker::PhantomData;

use bytemuck::Pod;
#[cfg(not(target_arch = "wasm32"))]
use rayon::prelude::*;

use super::region::{Coordinate, Region};
use super::set::{Columns, Regions, wrong};
#[cfg(not(target_arch = "wasm32"))]
use super::set::{check, look};
use super::{Matcher, MatchingError, programs};
use crate::gpu::{Buffer, Gpu, Plan};
#[cfg(not(target_arch = "wasm32"))]
use crate::gpu::{CHUNK_BYTES, Flow, Upload};

/// Maximum number of regions of a set: kernels number the words of `2·dims` columns, and of one
/// more while sorting, with 32 bits.
const fn max_regions(dims: u64) -> u64 {
    let words = u32::MAX as u64 / (2 * dims + 1);
    if words < 1 << 30 { words } else { 1 << 30 }
}

shared! {
    "matching/import.wgsl":
    struct ImportParams {
        regions: u32,
        first: u32,
        rows: u32,
    }
}

impl Matcher {
    /// Checks regions and copies them to the device. Errors name the set `label`.
    ///
    /// # Errors
    /// [`MatchingError::Inverted`] or [`MatchingError::NotANumber`] for the first invalid region,
    /// [`MatchingError::TooManyRegions`], and [`MatchingError::Gpu`] (a set takes `8·D` bytes per
    /// region in one binding).
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
        const { assert!(D >= 1 && D <= 4, "regions have 1 to 4 dimensions") };
        self.check_len::<D>(label, regions.len() as u64)?;
        #[cfg(not(target_arch = "wasm32"))]
        {
            self.send(label, regions)
        }
        // A browser has one core, and copies written data anyway.
        #[cfg(target_arch = "wasm32")]
        {
            let rows = Buffer::storage_from(self.gpu(), label, regions)?;
            self.import_async(label, &rows).await
        }
    }

    /// Sends rows in pieces: the host's cores check and copy one piece while the device builds the
    /// columns of the previous one. Nothing waits for the device.
    #[cfg(not(target_arch = "wasm32"))]
    fn send<T: Coordinate, const D: usize>(
        &self,
        label: &str,
        regions: &[Region<T, D>],
    ) -> Result<Regions<T, D>, MatchingError> {
        let gpu = self.gpu();
        let mut columns = Columns::new::<T, D>(gpu, label, regions.len())?;
        let per_chunk = usize::try_from(CHUNK_BYTES).expect("megabytes") / size_of::<Region<T, D>>();
        // The device builds the columns of each piece before the next one arrives.
        let rows = regions.len().min(per_chunk) * size_of::<Region<T, D>>() / 4;
        let rows = self.kernels().lend("rows of regions", rows as u64)?;
        let status = self.kernels().lend("status of regions", 2)?;
        let mut flow = Flow::default();
        for (number, chunk) in regions.chunks(per_chunk).enumerate() {
            flow.ready(gpu)?;
            let bytes = size_of_val(chunk) as u64;
            let upload = Upload::new(gpu, label, bytes)?;
            let share_bytes = (SHARE * size_of::<Region<T, D>>()) as u64;
            let parts = (0..bytes).step_by(SHARE * size_of::<Region<T, D>>());
            let parts = parts.map(|first| upload.part(gpu, first..bytes.min(first + share_bytes)));
            let parts = parts.collect::<Result<Vec<_>, _>>()?;
            let filled = match parts.len() {
                1 => parts.into_iter().map(|part| fill(chunk, part)).sum::<Option<u32>>(),
                _ => {
                    let shares = parts.into_par_iter().zip(chunk.par_chunks(SHARE));
                    shares.map(|(part, share)| fill(share, part)).sum::<Option<u32>>()
                }
            };
            let first = number * per_chunk;
            let Some(filled) = filled else {
                // A region is invalid: report the first one.
                (first..).zip(chunk).try_for_each(|(region, row)| {
                    check(label, u32::try_from(region).expect("the length was checked"), row)
                })?;
                unreachable!("a region was at fault");
            };
            columns.filled += filled;
            let plan = self.columns_plan(&columns, first, chunk.len(), &rows, &status)?;
            let mut encoder = gpu.encoder("regions");
            upload.record(gpu, &mut encoder, [(0, (rows.raw().clone(), 0), bytes)])?;
            plan.record(&mut encoder);
            flow.submit(gpu, encoder)?;
        }
        Ok(Regions { columns, values: PhantomData })
    }

    /// A plan that builds the columns of `count` rows, the regions of a set from `first` on.
    fn columns_plan(
        &self,
        columns: &Columns,
        first: usize,
        count: usize,
        rows: &Buffer<impl Pod>,
        status: &Buffer<u32>,
    ) -> Result<Plan, MatchingError> {
        let [first, count] =
            [first, count].map(|number| u32::try_from(number).expect("the length was checked"));
        let mut plan = Plan::new("import regions");
        let recipe = programs::import_rows(columns.dims, columns.kind);
        let params = ImportParams { regions: columns.count, first, rows: count };
        let buffers = [("rows", rows.raw()), ("columns", columns.keys.raw()), ("status", status.raw())];
        // Large sets have too many pieces for the cache of parameters.
        match first {
            0 => self.kernels().add_each(&mut plan, &recipe, count, &params, &buffers)?,
            _ => self.kernels().add_once(&mut plan, &recipe, count, &params, &buffers)?,
        }
        Ok(plan)
    }

    /// Checks that a set of `regions` regions in `D` dimensions is possible, before it is built.
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

    /// Uses regions that are already on the device, checks them there and does not change the
    /// buffer.
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
        let count = usize::try_from(rows.len()).expect("the length was checked");
        let mut columns = Columns::new::<T, D>(gpu, label, count)?;
        let status = Buffer::storage_from(gpu, "status of regions", &[u32::MAX, 0])?;
        if count > 0 {
            self.columns_plan(&columns, 0, count, rows, &status)?.submit(gpu)?;
        }
        let status = status.read_async(gpu).await?;
        if status[0] != u32::MAX {
            return Err(fault(gpu, label, rows, status[0] / columns.dims, status[0] % columns.dims).await?);
        }
        columns.filled = status[1];
        Ok(Regions { columns, values: PhantomData })
    }
}

/// Regions that one core sends at once; and the number that it checks before it copies them, which
/// fits the nearest cache.
#[cfg(not(target_arch = "wasm32"))]
const SHARE: usize = 1 << 15;
#[cfg(not(target_arch = "wasm32"))]
const LOOK: usize = 1 << 9;

/// Fills a part of mapped memory. Returns the number of non-empty regions, or `None` if one is
/// invalid.
#[cfg(not(target_arch = "wasm32"))]
fn fill<T: Coordinate, const D: usize>(
    regions: &[Region<T, D>],
    mut part: wgpu::BufferViewMut,
) -> Option<u32> {
    let mut filled = 0;
    let mut place = 0;
    for rows in regions.chunks(LOOK) {
        filled += look(rows)?;
        let bytes: &[u8] = bytemuck::cast_slice(rows);
        part.slice(place..place + bytes.len()).copy_from_slice(bytes);
        place += bytes.len();
    }
    Some(filled)
}

/// The error for the invalid region that the kernel found.
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Sets that are sent in several pieces equal those that the kernel builds from the same rows
    /// at once.
    #[test]
    fn what_is_uploaded_is_what_is_imported() {
        fn same<const D: usize>(matcher: &Matcher, count: usize) {
            let place = |i: usize| (i * 7919 % 100_003) as f32 - 5e4;
            // Every fifth region is empty in the last dimension.
            let rows: Vec<_> = (0..count)
                .map(|i| {
                    let lo = [place(i); D];
                    let mut hi = lo.map(|lo| lo + 1.5);
                    hi[D - 1] -= if i % 5 == 4 { 1.5 } else { 0.0 };
                    Region::new(lo, hi)
                })
                .collect();
            let gpu = matcher.gpu();
            let sent = matcher.upload("rows", &rows).unwrap().columns;
            let imported = Buffer::storage_from(gpu, "rows", &rows).unwrap();
            let imported = matcher.import("rows", &imported).unwrap().columns;
            assert_eq!(sent.filled, imported.filled);
            assert!(sent.keys.read(gpu).unwrap() == imported.keys.read(gpu).unwrap(), "{count} in {D}");
        }
        let matcher = Matcher::new(&Gpu::for_test());
        for count in [0, 1, 2, 3, (1 << 15) - 1, (1 << 15) + 1] {
            same::<1>(&matcher, count);
            same::<3>(&matcher, count);
        }
        // Pieces of 2^21 and of 699,050 regions, and an odd number.
        same::<1>(&matcher, (1 << 21) + 3);
        same::<3>(&matcher, 699_050 + 3);
        let mut rows = vec![Region::new([1u32], [2]); (1 << 21) + 9];
        rows[(1 << 21) + 5] = Region::new([2], [1]);
        let error = matcher.upload("rows", &rows).unwrap_err();
        assert!(matches!(error, MatchingError::Inverted { region: 2_097_157, .. }), "{error}");
    }
}
