//! Staging memory between the host and a device, cached for the next readback or write.

#[cfg(not(target_arch = "wasm32"))]
use std::sync::Arc;
use std::sync::{Mutex, PoisonError};

/// Maximum size of a readback's staging memory. Two are in use: the device fills one while the host
/// empties the other.
pub(crate) const STAGING_BYTES: u64 = 32 << 20;
/// Bytes cached for the next readbacks: creating staging memory costs drivers more than filling it.
const KEPT_BYTES: u64 = 2 * STAGING_BYTES;

/// Size of the pieces of a long write: the device copies one while the host fills the next.
#[cfg(not(target_arch = "wasm32"))]
pub(crate) const CHUNK_BYTES: u64 = 16 << 20;
/// Pieces of a write in flight at once.
#[cfg(not(target_arch = "wasm32"))]
pub(super) const CHUNKS: usize = 4;
/// Bytes cached in buffers up to the size of a piece. One longer buffer is cached in addition.
#[cfg(not(target_arch = "wasm32"))]
const KEPT_CHUNKS: u64 = CHUNKS as u64 * CHUNK_BYTES;

/// Mapped ranges are multiples of 8 bytes.
pub(super) fn map_bytes(bytes: u64) -> u64 {
    bytes.next_multiple_of(8)
}

pub(super) fn usize_of(bytes: u64) -> usize {
    usize::try_from(bytes).expect("staging memory fits the host's address space")
}

/// Staging memory that no readback uses.
#[derive(Debug, Default)]
pub(super) struct Staging(Mutex<Vec<wgpu::Buffer>>);

impl Staging {
    /// The smallest buffer that holds `bytes`, unless it is many times larger.
    pub(super) fn take(&self, bytes: u64) -> Option<wgpu::Buffer> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let fits =
            |buffer: &wgpu::Buffer| buffer.size() >= map_bytes(bytes) && buffer.size() / 4 <= bytes.max(64);
        let fitting = (0..kept.len()).filter(|&place| fits(&kept[place]));
        let place = fitting.min_by_key(|&place| kept[place].size())?;
        Some(kept.swap_remove(place))
    }

    /// Caches the buffer first, and earlier ones as far as the limits allow.
    pub(super) fn give(&self, buffer: wgpu::Buffer) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.insert(0, buffer);
        let mut room = KEPT_BYTES;
        kept.retain(|buffer| {
            let left = room.checked_sub(buffer.size());
            room = left.unwrap_or(room);
            left.is_some()
        });
        kept.truncate(16);
    }
}

/// Mapped memory that no write uses.
#[cfg(not(target_arch = "wasm32"))]
#[derive(Debug, Default, Clone)]
pub(super) struct Uploads(Arc<Mutex<Vec<wgpu::Buffer>>>);

#[cfg(not(target_arch = "wasm32"))]
impl Uploads {
    /// The smallest buffer that holds `bytes`, unless it is many times larger.
    pub(super) fn take(&self, bytes: u64) -> Option<wgpu::Buffer> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let fits = |buffer: &wgpu::Buffer| buffer.size() >= bytes && buffer.size() / 8 <= bytes;
        let fitting = (0..kept.len()).filter(|&place| fits(&kept[place]));
        let place = fitting.min_by_key(|&place| kept[place].size())?;
        Some(kept.remove(place))
    }

    /// Caches the buffer, and drops the oldest of its kind beyond the limit. Long and short buffers
    /// do not displace each other, so a program that alternates between both finds both again.
    pub(super) fn give(&self, buffer: wgpu::Buffer) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let long = buffer.size() > CHUNK_BYTES;
        let room = if long { buffer.size() } else { KEPT_CHUNKS };
        let alike = |kept: &wgpu::Buffer| (kept.size() > CHUNK_BYTES) == long;
        kept.push(buffer);
        while kept.iter().filter(|kept| alike(kept)).map(wgpu::Buffer::size).sum::<u64>() > room {
            let oldest = kept.iter().position(alike).expect("the new buffer is in the cache");
            kept.remove(oldest);
        }
    }
}
