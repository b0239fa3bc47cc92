//! The contents of the file of a run: its sections, and the numbers of the first section.

#[cfg(doc)]
use super::LpSkew;
use super::file::{RUN, Writer};
use super::identity::Identity;

/// The sections of [`RUN`].
pub(super) const NUMBERS: usize = 0;
pub(super) const NAME: usize = 1;
pub(super) const PARAMS: usize = 2;
pub(super) const STATES: usize = 3;
pub(super) const MEMORY: usize = 4;
pub(super) const EXECUTED: usize = 5;
pub(super) const HELD: usize = 6;
pub(super) const PENDING: usize = 7;

/// The numbers of the first section, 8 bytes each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub(super) struct Numbers {
    pub(super) lps: u64,
    pub(super) state_bytes: u64,
    pub(super) payload_words: u64,
    pub(super) memory_rows: u64,
    pub(super) lookahead: u64,
    /// The model's WGSL: its number of bytes without carriage returns, and their CRC-32.
    pub(super) source: [u64; 2],
    /// The model's data: the number of words, and their CRC-32.
    pub(super) data: [u64; 2],
    pub(super) seed: u64,
    /// Point and number.
    pub(super) replica: [u64; 2],
    pub(super) windows: u64,
    pub(super) events: u64,
    /// The executed events' part of the fingerprint.
    pub(super) digest: u64,
    pub(super) done: u64,
    /// Time and events.
    pub(super) until: [u64; 2],
    /// How far LPs may be ahead of each other, and a time after all executed events: [`LpSkew`].
    pub(super) lp_skew: [u64; 2],
}

/// A file with the sections up to the parameters.
pub(super) fn writer(numbers: &Numbers, identity: &Identity) -> Writer {
    let mut file = Writer::new(&RUN);
    file.numbers(numbers);
    file.section(|bytes| bytes.extend(identity.name.as_bytes()));
    file.section(|bytes| bytes.extend(&identity.params));
    file
}
