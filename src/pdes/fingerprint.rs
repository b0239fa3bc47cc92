//! The fingerprint of a run: the Rust twin of `shaders/pdes/fingerprint.wgsl`.

use super::{Event, Payload};
use crate::random::mix;

const EXECUTED: u32 = 1;
const STATE: u32 = 2;
const PENDING: u32 = 3;
const MEMORY: u32 = 4;

/// A 64-bit sum over the events executed, the final states and LP memory, and the events still pending.
///
/// Runs that did the same have the same fingerprint, on whatever device, queue and workgroup size; two machines
/// compare a run in one line. Runs that differ have different ones but for a chance of about 2⁻⁶⁴; it is no defence
/// against someone who wants them to collide.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Fingerprint(pub u64);

impl Fingerprint {
    pub(crate) fn executed(&mut self, lp: u32, event: &Event<impl Payload>) {
        self.add(EXECUTED, lp, event.words());
    }

    pub(crate) fn pending(&mut self, lp: u32, event: &Event<impl Payload>) {
        self.add(PENDING, lp, event.words());
    }

    pub(crate) fn state(&mut self, lp: u32, words: &[u32]) {
        self.add(STATE, lp, words.iter().copied());
    }

    /// Rows that are zero count nothing, so that how many there are does not show.
    pub(crate) fn memory(&mut self, lp: u32, rows: &[[u32; 4]]) {
        for (index, row) in (0..).zip(rows) {
            if *row != [0; 4] {
                self.add(MEMORY, lp, std::iter::once(index).chain(*row));
            }
        }
    }

    fn add(&mut self, kind: u32, lp: u32, words: impl Iterator<Item = u32>) {
        let hash = mix(kind, std::iter::once(lp).chain(words));
        self.0 = self.0.wrapping_add(hash);
    }
}

impl std::fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}
