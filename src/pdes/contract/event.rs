//! Events, and what they carry.

use bytemuck::Pod;

use crate::time::Ticks;

/// What an event carries besides its time: `[u32; 2]` or `[u32; 6]`, words of the model's own.
pub trait Payload: sealed::Sealed + Pod + Ord + std::fmt::Debug + Send + Sync {
    /// The WGSL file with the functions that take such events apart.
    #[doc(hidden)]
    const FILE: &str;

    /// The words.
    fn words(&self) -> &[u32];
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for [u32; 2] {}
    impl Sealed for [u32; 6] {}
}

impl Payload for [u32; 2] {
    const FILE: &str = "pdes/payload_2.wgsl";

    fn words(&self) -> &[u32] {
        self
    }
}

impl Payload for [u32; 6] {
    const FILE: &str = "pdes/payload_6.wgsl";

    fn words(&self) -> &[u32] {
        self
    }
}

/// An event: 16 bytes, or 32 with a payload of 6 words.
///
/// Events have a total order: time, then payload words. Two events that are equal in all their
/// bytes at the same LP are interchangeable, which is why the order in which they arrive can never
/// show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(C)]
pub struct Event<P = [u32; 2]> {
    /// When it happens.
    pub time: Ticks,
    /// Words of the model's own.
    pub payload: P,
}

// SAFETY: zeros are a time and a payload.
unsafe impl<P: Payload> bytemuck::Zeroable for Event<P> {}

// SAFETY: 8 bytes aligned to 8, and then 8 or 24 bytes of words: there is no padding, and any bits
// are a value of either.
unsafe impl<P: Payload> Pod for Event<P> {}

impl<P: Payload> Event<P> {
    /// The words that kernels see: time (low, high), payload.
    pub fn words(&self) -> impl Iterator<Item = u32> {
        self.time.to_words().into_iter().chain(self.payload.words().iter().copied())
    }
}
