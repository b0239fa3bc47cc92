//! How many elements a plan works on.

use super::PrimitiveError;
use crate::gpu::{Buffer, Gpu};

/// How many elements a plan works on: known on the host, or read from a buffer when the plan runs.
#[derive(Debug, Clone)]
pub struct Count {
    pub(super) buffer: Buffer<u32>,
    pub(super) index: u32,
    pub(super) status: Status,
    host: Option<u32>,
}

impl Count {
    /// `len` elements.
    ///
    /// # Errors
    /// [`PrimitiveError::TooLong`] from 2^31 elements on, [`PrimitiveError::Gpu`] if the device
    /// fails.
    pub fn host(gpu: &Gpu, len: u64) -> Result<Self, PrimitiveError> {
        let len = checked(len)?;
        let buffer = Buffer::storage_from(gpu, "count", &[len])?;
        Ok(Self { buffer, index: 0, status: Status::new(gpu)?, host: Some(len) })
    }

    /// The word `buffer[index]` at the time the plan runs.
    ///
    /// Each plan is prepared for a maximum. If the word is larger, the plan acts as on no elements,
    /// and `status` stores the count: see [`Status::check`].
    ///
    /// # Errors
    /// [`PrimitiveError::TooShort`] if `buffer` has no such word.
    pub fn device(buffer: &Buffer<u32>, index: u32, status: &Status) -> Result<Self, PrimitiveError> {
        at_least("count", buffer, u64::from(index) + 1)?;
        Ok(Self { buffer: buffer.clone(), index, status: status.clone(), host: None })
    }

    /// The maximum number of elements of a plan with this count that was prepared for `max`.
    pub(super) fn bound(&self, max: u32) -> Result<u32, PrimitiveError> {
        match self.host {
            None => Ok(max),
            Some(len) if len <= max => Ok(len),
            Some(len) => Err(PrimitiveError::CountBeyondMaximum { count: len.into(), max: max.into() }),
        }
    }
}

/// Records that a count on the device exceeded the maximum that a plan was prepared for. Clones
/// share the record.
#[derive(Debug, Clone)]
pub struct Status {
    buffer: Buffer<u32>,
}

impl Status {
    /// A status without a failure.
    ///
    /// # Errors
    /// [`PrimitiveError::Gpu`] if the device fails.
    pub fn new(gpu: &Gpu) -> Result<Self, PrimitiveError> {
        Ok(Self { buffer: Buffer::storage(gpu, "primitives status", 2)? })
    }

    /// Waits for the work submitted so far and returns the first failure in it.
    ///
    /// # Errors
    /// [`PrimitiveError::CountTooLarge`] if a plan read such a count, [`PrimitiveError::Gpu`] if
    /// the device fails.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn check(&self, gpu: &Gpu) -> Result<(), PrimitiveError> {
        pollster::block_on(self.check_async(gpu))
    }

    /// [`Status::check`] without blocking.
    ///
    /// # Errors
    /// As [`Status::check`].
    pub async fn check_async(&self, gpu: &Gpu) -> Result<(), PrimitiveError> {
        Self::verdict(&self.buffer.read_async(gpu).await?)
    }

    /// Two words, `[count, max]` of the first failure, or zeros. Read them back with other results,
    /// or let kernels stop on a failure. Zero them to reuse the status.
    pub fn buffer(&self) -> &Buffer<u32> {
        &self.buffer
    }

    /// Interprets the words of [`Status::buffer`].
    ///
    /// # Errors
    /// [`PrimitiveError::CountTooLarge`] if a plan read such a count.
    pub(crate) fn verdict(words: &[u32]) -> Result<(), PrimitiveError> {
        match *words {
            [count, max, ..] if count != 0 => Err(PrimitiveError::CountTooLarge { count, max }),
            _ => Ok(()),
        }
    }
}

/// `len` as a kernel index. It is below 2^31, so that rounding up to whole tiles never wraps.
pub(super) fn checked(len: u64) -> Result<u32, PrimitiveError> {
    const LIMIT: u32 = (1 << 31) - 1;
    match u32::try_from(len) {
        Ok(len) if len <= LIMIT => Ok(len),
        _ => Err(PrimitiveError::TooLong { len, limit: LIMIT.into() }),
    }
}

/// Rejects a buffer that is too short.
pub(super) fn at_least<T: bytemuck::Pod>(
    what: &'static str,
    buffer: &Buffer<T>,
    needed: u64,
) -> Result<(), PrimitiveError> {
    if buffer.len() < needed {
        return Err(PrimitiveError::TooShort { what, needed, len: buffer.len() });
    }
    Ok(())
}
