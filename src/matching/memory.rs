//! Memory between calls: what they are lent, and what is kept whole for the next one of its kind.

use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, PoisonError};

use bytemuck::Pod;

use super::MatchingError;
use crate::gpu::{Buffer, Gpu};

/// Memory that no call uses.
pub(super) type Pool<T> = Arc<Mutex<Vec<Buffer<T>>>>;

/// So much of it is kept, by number: what a call takes.
const KEPT: usize = 20;

/// Memory of a call's, of at least the length that was asked for and with rubbish in it. It is kept
/// for the next call when it is dropped: that may have it at once, because what it submits runs
/// later.
#[derive(Debug)]
pub(super) struct PooledBuffer<T: Pod> {
    buffer: Buffer<T>,
    home: Pool<T>,
}

impl<T: Pod> PooledBuffer<T> {
    pub(super) fn new(gpu: &Gpu, home: &Pool<T>, label: &str, len: u64) -> Result<Self, MatchingError> {
        let kept = {
            let mut kept = home.lock().unwrap_or_else(PoisonError::into_inner);
            // The smallest that serves, and not many times as long.
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

/// Where one prepared thing is kept while nobody uses it.
#[derive(Debug)]
pub(super) struct Slot<T>(Arc<Mutex<Option<T>>>);

impl<T> Default for Slot<T> {
    fn default() -> Self {
        Self(Arc::default())
    }
}

impl<T> Slot<T> {
    /// Gives back what is kept.
    pub(super) fn clear(&self) {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        // Outside of the lock.
        drop(kept);
    }

    /// What is kept, if it `serves`, and else what is made. What does not serve gives its memory
    /// back before.
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

/// A thing of a [`Slot`], which goes back there when it is dropped.
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
        // Outside of the lock.
        drop(older);
    }
}
