//! Memory between calls: a pool of buffers, and prepared objects that are cached for the next call
//! of their kind.

use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, PoisonError};

use bytemuck::Pod;

use super::MatchingError;
use crate::gpu::{Buffer, Gpu};

/// Unused memory.
pub(super) type Pool<T> = Arc<Mutex<Vec<Buffer<T>>>>;

/// Maximum number of cached buffers: the need of a call.
const KEPT: usize = 20;

/// A buffer of a call, at least as long as requested, with arbitrary values. It returns to the pool
/// when it is dropped. The next call may use it at once, because its submissions run later.
#[derive(Debug)]
pub(super) struct PooledBuffer<T: Pod> {
    buffer: Buffer<T>,
    home: Pool<T>,
}

impl<T: Pod> PooledBuffer<T> {
    pub(super) fn new(gpu: &Gpu, home: &Pool<T>, label: &str, len: u64) -> Result<Self, MatchingError> {
        let kept = {
            let mut kept = home.lock().unwrap_or_else(PoisonError::into_inner);
            // The smallest that is long enough, unless it is many times longer.
            let serves = |buffer: &Buffer<T>| buffer.len() >= len && buffer.len() / 4 <= len;
            let serving = (0..kept.len()).filter(|&place| serves(&kept[place]));
            serving.min_by_key(|&place| kept[place].len()).map(|place| kept.remove(place))
        };
        let buffer = kept.map_or_else(|| Buffer::storage(gpu, label, len), Ok)?;
        Ok(Self { buffer, home: Arc::clone(home) })
    }
}

impl<T: Pod> Deref for PooledBuffer<T> {
    type Target = Buffer<T>;

    fn deref(&self) -> &Buffer<T> {
        &self.buffer
    }
}

impl<T: Pod> Drop for PooledBuffer<T> {
    fn drop(&mut self) {
        let mut kept = self.home.lock().unwrap_or_else(PoisonError::into_inner);
        kept.push(self.buffer.clone());
        if kept.len() > KEPT {
            kept.remove(0);
        }
    }
}

/// A cache for one prepared object.
#[derive(Debug)]
pub(super) struct Slot<T>(Arc<Mutex<Option<T>>>);

impl<T> Default for Slot<T> {
    fn default() -> Self {
        Self(Arc::default())
    }
}

impl<T> Slot<T> {
    /// Frees the cached object.
    pub(super) fn clear(&self) {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        // Outside the lock.
        drop(kept);
    }

    /// The cached object if it `serves`, otherwise a new one. An unsuitable object frees its memory
    /// first.
    pub(super) fn take<E>(
        &self,
        serves: impl FnOnce(&T) -> bool,
        make: impl FnOnce() -> Result<T, E>,
    ) -> Result<SlotGuard<T>, E> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        let kept = kept.filter(serves);
        let value = kept.map_or_else(make, Ok)?;
        Ok(SlotGuard { value: Some(value), home: Arc::clone(&self.0) })
    }
}

/// An object of a [`Slot`], which returns there when it is dropped.
#[derive(Debug)]
pub(super) struct SlotGuard<T> {
    value: Option<T>,
    home: Arc<Mutex<Option<T>>>,
}

impl<T> Deref for SlotGuard<T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.value.as_ref().expect("taken when it is dropped")
    }
}

impl<T> DerefMut for SlotGuard<T> {
    fn deref_mut(&mut self) -> &mut T {
        self.value.as_mut().expect("taken when it is dropped")
    }
}

impl<T> Drop for SlotGuard<T> {
    fn drop(&mut self) {
        let value = self.value.take();
        let older = std::mem::replace(&mut *self.home.lock().unwrap_or_else(PoisonError::into_inner), value);
        // Outside the lock.
        drop(older);
    }
}
