//! Staging memory for writes: mapped, filled on all cores, and cached for the next ones, because
//! fresh memory costs more than the copy.

use std::collections::VecDeque;
use std::ops::Range;

use rayon::prelude::*;

use super::compilations::is_in_background;
use super::staging::{CHUNK_BYTES, CHUNKS, Uploads, map_bytes, usize_of};
use super::{Gpu, GpuError, Submission};

/// Minimum bytes of writes through cached memory; shorter ones use wgpu's `write_buffer`.
pub(super) const LONG: usize = 1 << 18;
/// Minimum bytes that one core fills at once. `SHARES` is the maximum number of such parts.
const SHARE: u64 = 1 << 18;
const SHARES: u64 = 256;

/// Mapped memory of one write.
#[derive(Debug)]
pub(crate) struct Upload {
    staging: wgpu::Buffer,
    home: Uploads,
}

impl Upload {
    /// Staging memory for `bytes` bytes.
    pub(crate) fn new(gpu: &Gpu, label: &str, bytes: u64) -> Result<Self, GpuError> {
        // Completed copies return their memory.
        gpu.look()?;
        let home = gpu.uploads().clone();
        // Long ones are rare: they get a quarter in reserve.
        let size = match map_bytes(bytes.max(1 << 10)) {
            short @ ..=CHUNK_BYTES => short.next_power_of_two(),
            long => map_bytes(long + long / 4),
        };
        let size = size.min(gpu.limits().max_buffer_size / 8 * 8).max(map_bytes(bytes));
        if let Some(staging) = home.take(map_bytes(bytes)) {
            return Ok(Self { staging, home });
        }
        let staging = gpu.catch(label, |device| {
            device.create_buffer(&wgpu::BufferDescriptor {
                label: Some(label),
                size,
                usage: wgpu::BufferUsages::MAP_WRITE | wgpu::BufferUsages::COPY_SRC,
                mapped_at_creation: true,
            })
        })?;
        Ok(Self { staging, home })
    }

    /// A part of the memory to fill: its bounds are multiples of 8 bytes. No byte may be in two
    /// parts.
    pub(crate) fn part(&self, gpu: &Gpu, bytes: Range<u64>) -> Result<wgpu::BufferViewMut, GpuError> {
        let view = self.staging.get_mapped_range_mut(bytes);
        view.map_err(|error| gpu.failure("an upload", &error))
    }

    /// Fills it with these bytes, one piece after the other, on all cores.
    pub(crate) fn fill(&self, gpu: &Gpu, pieces: &[&[u8]]) -> Result<(), GpuError> {
        let mapped = map_bytes(pieces.iter().map(|piece| piece.len() as u64).sum());
        let share = mapped.div_ceil(SHARES).next_multiple_of(8).max(SHARE);
        let spans = (0..mapped).step_by(usize_of(share));
        let views =
            spans.map(|first| Ok((usize_of(first), self.part(gpu, first..mapped.min(first + share))?)));
        let views = views.collect::<Result<Vec<_>, GpuError>>()?;
        let fill = |(first, mut view): (usize, wgpu::BufferViewMut)| {
            let (end, mut place) = (first + view.len(), 0);
            for piece in pieces {
                let (from, to) = (first.max(place), end.min(place + piece.len()));
                if from < to {
                    view.slice(from - first..to - first).copy_from_slice(&piece[from - place..to - place]);
                }
                place += piece.len();
            }
        };
        match views.len() {
            0 | 1 => views.into_iter().for_each(fill),
            // All cores may be in long runs while a thread prepares a device.
            _ if is_in_background() => views.into_iter().for_each(fill),
            _ => views.into_par_iter().for_each(fill),
        }
        Ok(())
    }

    /// Records copies of parts, each with its place here, its destination and its bytes. The memory
    /// returns to the cache when the submission is done.
    pub(crate) fn record(
        self,
        gpu: &Gpu,
        encoder: &mut wgpu::CommandEncoder,
        copies: impl IntoIterator<Item = (u64, (wgpu::Buffer, u64), u64)>,
    ) -> Result<(), GpuError> {
        // Another thread may have lost the device since.
        gpu.catch("an upload", |_| self.staging.unmap())?;
        for (from, (to, place), bytes) in copies {
            encoder.copy_buffer_to_buffer(&self.staging, from, &to, place, bytes);
        }
        let (home, staging) = (self.home, self.staging.clone());
        encoder.map_buffer_on_submit(&self.staging, wgpu::MapMode::Write, .., move |mapped| {
            if mapped.is_ok() {
                home.give(staging);
            }
        });
        Ok(())
    }
}

/// Waits while too many pieces of a write are in flight.
#[derive(Debug, Default)]
pub(crate) struct Flow(VecDeque<Submission>);

impl Flow {
    /// Call it before the next piece is filled.
    pub(crate) fn ready(&mut self, gpu: &Gpu) -> Result<(), GpuError> {
        match self.0.len() < CHUNKS {
            true => Ok(()),
            false => self.0.pop_front().map_or(Ok(()), |oldest| gpu.wait(oldest)),
        }
    }

    /// Submits a piece.
    pub(crate) fn submit(&mut self, gpu: &Gpu, encoder: wgpu::CommandEncoder) -> Result<(), GpuError> {
        self.0.push_back(gpu.submit(encoder)?);
        Ok(())
    }
}

/// Writes whole words to a buffer from byte `first` on, before any work that is submitted later.
pub(super) fn write(gpu: &Gpu, to: &wgpu::Buffer, first: u64, bytes: &[u8]) -> Result<(), GpuError> {
    let mut flow = Flow::default();
    let mut place = first;
    for piece in bytes.chunks(usize_of(CHUNK_BYTES)) {
        flow.ready(gpu)?;
        let upload = Upload::new(gpu, "a write", piece.len() as u64)?;
        upload.fill(gpu, &[piece])?;
        let mut encoder = gpu.encoder("a write");
        upload.record(gpu, &mut encoder, [(0, (to.clone(), place), piece.len() as u64)])?;
        flow.submit(gpu, encoder)?;
        place += piece.len() as u64;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_and_short_writes_by_turns_get_their_memory_again() {
        let gpu = Gpu::new().unwrap();
        let of = |size| {
            gpu.device().create_buffer(&wgpu::BufferDescriptor {
                label: None,
                size,
                usage: wgpu::BufferUsages::MAP_WRITE | wgpu::BufferUsages::COPY_SRC,
                mapped_at_creation: false,
            })
        };
        let uploads = Uploads::default();
        let (long, longer, short) = (of(CHUNK_BYTES + 8), of(CHUNK_BYTES + 16), of(1 << 10));
        for _ in 0..3 {
            uploads.give(long.clone());
            uploads.give(short.clone());
            assert_eq!(uploads.take(1 << 10), Some(short.clone()));
            assert_eq!(uploads.take(CHUNK_BYTES + 8), Some(long.clone()));
            assert_eq!(uploads.take(1 << 10), None);
        }
        // The last long buffer is cached, and short ones up to the limit.
        uploads.give(long);
        uploads.give(longer.clone());
        let many: Vec<_> = (0..=CHUNKS).map(|_| of(CHUNK_BYTES)).collect();
        many.iter().for_each(|buffer| uploads.give(buffer.clone()));
        assert_eq!(uploads.take(CHUNK_BYTES + 8), Some(longer));
        assert_eq!(uploads.take(CHUNK_BYTES + 8), None);
        let left: Vec<_> = std::iter::from_fn(|| uploads.take(CHUNK_BYTES)).collect();
        assert_eq!(left, many[1..]);
    }
}
