//! Staging memory between the host and a device that is kept for the next readback or write.

#[cfg(not(target_arch = "wasm32"))]
use std::sync::Arc;
use std::sync::{Mutex, PoisonError};

/// Readbacks go through staging memory of this size at the most, two at a time: the device fills
/// one while the host empties the other.
pub(crate) const STAGING_BYTES: u64 = 32 << 20;
/// So much of it is kept for the next readbacks: making it costs drivers more than filling it.
const KEPT_BYTES: u64 = 2 * STAGING_BYTES;

/// A long write is cut: the device copies one piece while the host fills the next.
#[cfg(not(target_arch = "wasm32"))]
pub(crate) const CHUNK_BYTES: u64 = 16 << 20;
/// So many pieces of a write are under way at once.
#[cfg(not(target_arch = "wasm32"))]
pub(super) const CHUNKS: usize = 4;
/// So much is kept of what is no longer than a piece; and one that is longer.
#[cfg(not(target_arch = "wasm32"))]
const KEPT_CHUNKS: u64 = CHUNKS as u64 * CHUNK_BYTES;

/// Maps are of multiples of 8 bytes.
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
    /// The smallest that holds so many bytes, and not many times as many.
    pub(super) fn take(&self, bytes: u64) -> Option<wgpu::Buffer> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let fits =
            |buffer: &wgpu::Buffer| buffer.size() >= map_bytes(bytes) && buffer.size() / 4 <= bytes.max(64);
        let fitting = (0..kept.len()).filter(|&place| fits(&kept[place]));
        let place = fitting.min_by_key(|&place| kept[place].size())?;
        Some(kept.swap_remove(place))
    }

    /// Keeps it, and what came last beside it, as far as there is room.
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
    /// The smallest that holds so many bytes, and not many times as many.
    pub(super) fn take(&self, bytes: u64) -> Option<wgpu::Buffer> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let fits = |buffer: &wgpu::Buffer| buffer.size() >= bytes && buffer.size() / 8 <= bytes;
        let fitting = (0..kept.len()).filter(|&place| fits(&kept[place]));
        let place = fitting.min_by_key(|&place| kept[place].size())?;
        Some(kept.remove(place))
    }

    /// Keeps it, and drops those of its kind that came before it and for which there is no room.
    /// Long ones and short ones do not drop each other: who writes much and little by turns gets
    /// both again.
    pub(super) fn give(&self, buffer: wgpu::Buffer) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let long = buffer.size() > CHUNK_BYTES;
        let room = if long { buffer.size() } else { KEPT_CHUNKS };
        let alike = |kept: &wgpu::Buffer| (kept.size() > CHUNK_BYTES) == long;
        kept.push(buffer);
        while kept.iter().filter(|kept| alike(kept)).map(wgpu::Buffer::size).sum::<u64>() > room {
            let oldest = kept.iter().position(alike).expect("what was given is kept");
            kept.remove(oldest);
        }
    }
}
