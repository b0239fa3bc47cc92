//! Typed buffers: plain data on the host, the same bytes on the device.

use std::collections::VecDeque;
use std::marker::PhantomData;
use std::sync::{Arc, OnceLock};

use bytemuck::Pod;
use rayon::prelude::*;

use super::compilations::is_in_background;
use super::staging::{STAGING_BYTES, map_bytes, usize_of};
#[cfg(not(target_arch = "wasm32"))]
use super::upload;
use super::{Gpu, GpuError, Submission, dedicated};

/// One core copies up to this many bytes; longer copies use several cores.
const COPIED_ALONE: usize = 1 << 20;
/// `len` values of `T` in device memory.
#[derive(Debug, Clone)]
pub struct Buffer<T> {
    label: Arc<str>,
    raw: wgpu::Buffer,
    len: u64,
    values: PhantomData<T>,
}

impl<T: Pod> Buffer<T> {
    /// A storage buffer of `len` zeroed values; it can be copied from and to.
    ///
    /// # Errors
    /// [`GpuError::TooLarge`] beyond the device's limits, [`GpuError::OutOfMemory`] if the driver
    /// has no memory.
    pub fn storage(gpu: &Gpu, label: &str, len: u64) -> Result<Self, GpuError> {
        let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST;
        Self::create(gpu, label, len, usage)
    }

    fn create(gpu: &Gpu, label: &str, len: u64, usage: wgpu::BufferUsages) -> Result<Self, GpuError> {
        // wgpu rejects an empty binding, and kernels that move vectors of 16 bytes must reach the
        // last element.
        let size = Self::bytes(len).clamp(16, u64::MAX - 15).next_multiple_of(16);
        let limit = gpu.max_buffer_bytes();
        if size > limit {
            return Err(GpuError::TooLarge { what: label.to_owned(), needed: size, limit });
        }
        let desc = wgpu::BufferDescriptor { label: Some(label), size, usage, mapped_at_creation: false };
        let large = if size < dedicated::LARGE { None } else { dedicated::create(gpu, &desc) };
        let raw = match large {
            Some(raw) => raw,
            None => gpu.catch(label, |device| device.create_buffer(&desc))?,
        };
        Ok(Self { label: label.into(), raw, len, values: PhantomData })
    }

    /// A storage buffer that holds `values`.
    ///
    /// # Errors
    /// As [`Buffer::storage`].
    pub fn storage_from(gpu: &Gpu, label: &str, values: &[T]) -> Result<Self, GpuError> {
        let buffer = Self::storage(gpu, label, values.len() as u64)?;
        buffer.write(gpu, 0, values)?;
        Ok(buffer)
    }

    /// A uniform buffer that holds `value`.
    ///
    /// # Errors
    /// [`GpuError::OutOfMemory`] if the driver has no memory.
    pub fn uniform(gpu: &Gpu, label: &str, value: &T) -> Result<Self, GpuError> {
        Self::uniform_from(gpu, label, std::slice::from_ref(value))
    }

    /// A uniform buffer that holds `values`.
    pub(crate) fn uniform_from(gpu: &Gpu, label: &str, values: &[T]) -> Result<Self, GpuError> {
        let usage = wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST;
        let buffer = Self::create(gpu, label, values.len() as u64, usage)?;
        buffer.write(gpu, 0, values)?;
        Ok(buffer)
    }

    /// The number of values.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether it has no values.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The buffer itself, to bind in an application's own passes.
    pub fn raw(&self) -> &wgpu::Buffer {
        &self.raw
    }

    /// The whole buffer as a resource to bind.
    pub fn binding(&self) -> wgpu::BindingResource<'_> {
        self.raw.as_entire_binding()
    }

    /// Writes `values` from index `first` on, before any work that is submitted later.
    ///
    /// # Errors
    /// [`GpuError::OutOfRange`] if they reach beyond the end, [`GpuError::Lost`] if the device is
    /// lost, [`GpuError::Refused`] if a write does not cover whole words. A long write (256 KiB and
    /// more) is submitted in pieces and may wait for the first ones. It can also return
    /// [`GpuError::OutOfMemory`] and [`GpuError::Timeout`], after which some pieces may be written.
    pub fn write(&self, gpu: &Gpu, first: u64, values: &[T]) -> Result<(), GpuError> {
        self.check_range("a write to", first, values.len() as u64)?;
        if values.is_empty() {
            return Ok(());
        }
        #[cfg(not(target_arch = "wasm32"))]
        if size_of_val(values) >= upload::LONG
            && Self::bytes(first).is_multiple_of(4)
            && size_of_val(values).is_multiple_of(4)
        {
            return upload::write(gpu, &self.raw, Self::bytes(first), bytemuck::cast_slice(values));
        }
        gpu.catch("a write", |_| {
            gpu.queue().write_buffer(&self.raw, Self::bytes(first), bytemuck::cast_slice(values));
        })
    }

    /// Reads all values back, after the work submitted so far.
    ///
    /// # Errors
    /// [`GpuError::Lost`], [`GpuError::Timeout`] and [`GpuError::OutOfMemory`] if the device fails.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn read(&self, gpu: &Gpu) -> Result<Vec<T>, GpuError> {
        pollster::block_on(self.read_async(gpu))
    }

    /// [`Buffer::read`] without blocking in browsers.
    ///
    /// # Errors
    /// As [`Buffer::read_range`].
    pub async fn read_async(&self, gpu: &Gpu) -> Result<Vec<T>, GpuError> {
        self.read_range(gpu, 0, self.len).await
    }

    /// Reads `len` values back from index `first` on, without blocking in browsers.
    ///
    /// # Errors
    /// [`GpuError::OutOfRange`] if they reach beyond the end, [`GpuError::Lost`],
    /// [`GpuError::Timeout`] and [`GpuError::OutOfMemory`] if the device fails. In browsers also
    /// the errors of [`Gpu::wait_async`].
    pub async fn read_range(&self, gpu: &Gpu, first: u64, len: u64) -> Result<Vec<T>, GpuError> {
        self.check_range("a read of", first, len)?;
        // The system supplies zeroed pages on first access, so the cores that copy touch them
        // first.
        let mut values =
            bytemuck::zeroed_vec::<T>(usize::try_from(len).expect("a readback fits the host's memory"));
        self.read_into(gpu, first, &mut values).await?;
        Ok(values)
    }

    /// [`Buffer::read_range`] into the caller's memory: reads `values.len()` values.
    pub(crate) async fn read_into(&self, gpu: &Gpu, first: u64, values: &mut [T]) -> Result<(), GpuError> {
        let len = values.len() as u64;
        self.check_range("a read of", first, len)?;
        let (mut from, end) = (Self::bytes(first), Self::bytes(first + len));
        let mut rest: &mut [u8] = bytemuck::cast_slice_mut(values);
        let mut flying = VecDeque::new();
        loop {
            while from < end && flying.len() < 2 {
                // Copies are whole words. A type of another size is read with the bytes around it.
                let start = from / wgpu::COPY_BUFFER_ALIGNMENT * wgpu::COPY_BUFFER_ALIGNMENT;
                let stop = end.min(start + STAGING_BYTES);
                let bytes = stop.next_multiple_of(wgpu::COPY_BUFFER_ALIGNMENT) - start;
                let download = Download::new(gpu, "readback", bytes)?;
                let mut encoder = gpu.encoder("readback");
                download.record(&mut encoder, &self.raw, start);
                let submission = gpu.submit(encoder)?;
                flying.push_back((download, submission, usize_of(from - start), usize_of(stop - from)));
                from = stop;
            }
            let Some((download, submission, skip, count)) = flying.pop_front() else { break };
            let (now, later) = std::mem::take(&mut rest).split_at_mut(count);
            let take = |bytes: &[u8]| copy(now, &bytes[skip..skip + count]);
            download.finish_with(gpu, submission, take).await?;
            rest = later;
        }
        Ok(())
    }

    fn check_range(&self, what: &str, first: u64, len: u64) -> Result<(), GpuError> {
        match first.checked_add(len) {
            Some(end) if end <= self.len => Ok(()),
            _ => {
                let what = format!("{what} \"{}\"", self.label);
                Err(GpuError::OutOfRange { what, first, len, size: self.len })
            }
        }
    }

    /// Saturates: a buffer with that many bytes is rejected as too large.
    fn bytes(len: u64) -> u64 {
        len.saturating_mul(size_of::<T>() as u64)
    }
}

/// Copies `from` to `to`. Several cores, because first access to fresh host memory costs more than
/// the copy.
pub(crate) fn copy(to: &mut [u8], from: &[u8]) {
    // In the background, all cores may be in long runs.
    match to.len() <= COPIED_ALONE || is_in_background() {
        true => to.copy_from_slice(from),
        false => {
            let parts = to.par_chunks_mut(COPIED_ALONE).zip(from.par_chunks(COPIED_ALONE));
            parts.for_each(|(to, from)| to.copy_from_slice(from));
        }
    }
}

/// Staging memory for one readback.
#[derive(Debug)]
pub(crate) struct Download {
    staging: wgpu::Buffer,
    /// Bytes of the staging buffer that are read.
    bytes: u64,
    /// The result of the mapping, once known. `None` before the first [`Download::poll`].
    mapped: Option<Arc<OnceLock<Result<(), wgpu::BufferAsyncError>>>>,
}

impl Download {
    pub(crate) fn new(gpu: &Gpu, label: &str, bytes: u64) -> Result<Self, GpuError> {
        let make = |device: &wgpu::Device| {
            device.create_buffer(&wgpu::BufferDescriptor {
                label: Some(label),
                size: map_bytes(bytes),
                usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
                mapped_at_creation: false,
            })
        };
        let staging = match gpu.staging().take(bytes) {
            Some(staging) => staging,
            None => gpu.catch(label, make)?,
        };
        Ok(Self { staging, bytes, mapped: None })
    }

    /// For the first bytes of several buffers, one piece after the other, each a multiple of 4.
    /// Records their copies into `encoder`.
    pub(crate) fn of(
        gpu: &Gpu,
        label: &str,
        encoder: &mut wgpu::CommandEncoder,
        pieces: &[(&wgpu::Buffer, u64)],
    ) -> Result<Self, GpuError> {
        let download = Self::new(gpu, label, pieces.iter().map(|(_, bytes)| bytes).sum())?;
        let mut place = 0;
        for &(source, bytes) in pieces {
            download.record_part(encoder, source, 0, (place, bytes));
            place += bytes;
        }
        Ok(download)
    }

    /// Records the copy from `source`, from byte `first` on, into `encoder`.
    pub(crate) fn record(&self, encoder: &mut wgpu::CommandEncoder, source: &wgpu::Buffer, first: u64) {
        self.record_part(encoder, source, first, (0, self.bytes));
    }

    /// The same for a part of the staging memory, given by its place and its bytes.
    pub(crate) fn record_part(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        source: &wgpu::Buffer,
        first: u64,
        (place, bytes): (u64, u64),
    ) {
        encoder.copy_buffer_to_buffer(source, first, &self.staging, place, bytes);
    }

    /// Returns the bytes, once the submission with the copy is done.
    pub(crate) async fn finish(self, gpu: &Gpu, submission: Submission) -> Result<Vec<u8>, GpuError> {
        self.finish_with(gpu, submission, <[u8]>::to_vec).await
    }

    /// Returns the bytes if the submission with the copy is done. Never waits.
    pub(crate) fn poll(&mut self, gpu: &Gpu) -> Result<Option<Vec<u8>>, GpuError> {
        if self.mapped.is_none() {
            let mapped = Arc::new(OnceLock::new());
            let reported = Arc::clone(&mapped);
            gpu.catch("a readback", |_| {
                self.staging.map_async(wgpu::MapMode::Read, ..map_bytes(self.bytes), move |result| {
                    let _ = reported.set(result);
                });
            })?;
            self.mapped = Some(mapped);
        }
        gpu.look()?;
        match self.mapped.as_ref().and_then(|mapped| mapped.get()) {
            None => Ok(None),
            Some(Err(error)) => Err(gpu.failure("a readback", error)),
            Some(Ok(())) => {
                let view = self.staging.get_mapped_range(..map_bytes(self.bytes));
                let view = view.map_err(|error| gpu.failure("a readback", &error))?;
                Ok(Some(view[..usize_of(self.bytes)].to_vec()))
            }
        }
    }

    /// Calls `take` with the bytes and returns its result.
    pub(crate) async fn finish_with<R>(
        self,
        gpu: &Gpu,
        submission: Submission,
        take: impl FnOnce(&[u8]) -> R,
    ) -> Result<R, GpuError> {
        let taken = self.read(gpu, submission, self.bytes, take).await?;
        gpu.staging().give(self.staging);
        Ok(taken)
    }

    /// Its capacity in bytes.
    #[cfg(not(target_arch = "wasm32"))]
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Calls `take` with the first `bytes` bytes, once the submission with the copy is done, and
    /// returns its result. Then the staging memory can be used again.
    pub(crate) async fn read<R>(
        &self,
        gpu: &Gpu,
        submission: Submission,
        bytes: u64,
        take: impl FnOnce(&[u8]) -> R,
    ) -> Result<R, GpuError> {
        let (sender, receiver) = futures_channel::oneshot::channel();
        let mapped = map_bytes(bytes);
        gpu.catch("a readback", |_| {
            self.staging.map_async(wgpu::MapMode::Read, ..mapped, move |result| {
                let _ = sender.send(result);
            });
        })?;
        // A browser maps the memory when the submission is done.
        #[cfg(target_arch = "wasm32")]
        let _ = submission;
        #[cfg(not(target_arch = "wasm32"))]
        gpu.wait(submission)?;
        let reported = receiver.await;
        // An earlier rejected call explains why there is nothing to read.
        gpu.settle().await?;
        let reported = reported.map_err(|error| gpu.failure("a readback", &error))?;
        reported.map_err(|error| gpu.failure("a readback", &error))?;
        let taken = {
            let view = self.staging.get_mapped_range(..mapped);
            let view = view.map_err(|error| gpu.failure("a readback", &error))?;
            take(&view[..usize_of(bytes)])
        };
        self.staging.unmap();
        Ok(taken)
    }
}
