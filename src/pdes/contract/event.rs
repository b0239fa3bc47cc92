//! Events and their payloads.

use bytemuck::Pod;

use crate::time::Ticks;

/// The payload of an event, next to its time: `[u32; 2]` or `[u32; 6]`, words defined by the model.
pub trait Payload: sealed::Sealed + Pod + Ord + std::fmt::Debug + Send + Sync {
    /// The WGSL file with the functions that read and write such events.
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
/// Events have a total order: time, then payload words. Two events at the same LP with equal bytes
/// are interchangeable, so the order of their arrival has no effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(C)]
pub struct Event<P = [u32; 2]> {
    /// When it happens.
    pub time: Ticks,
    /// Words defined by the model.
    pub payload: P,
}

// SAFETY: all zeros are a valid time and a valid payload.
unsafe impl<P: Payload> bytemuck::Zeroable for Event<P> {}

// SAFETY: 8 bytes aligned to 8, then 8 or 24 bytes of words: there is no padding, and all bit
// patterns are valid for both fields.
unsafe impl<P: Payload> Pod for Event<P> {}

/// An event and the LP that gets it, as the CPU engines pass them on: as a whole, because a copy of
/// 16 bytes waits for parts that were just written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub(crate) struct LpEvent<P> {
    pub(crate) event: Event<P>,
    pub(crate) lp: u32,
}

impl<P: Payload> Event<P> {
    /// The words of the event in kernels: time (low, high), payload.
    pub fn words(&self) -> impl Iterator<Item = u32> {
        self.time.to_words().into_iter().chain(self.payload.words().iter().copied())
    }
}
