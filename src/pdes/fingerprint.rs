//! The fingerprint of a run: the Rust twin of `shaders/pdes/fingerprint.wgsl`.

use super::Event;

const EXECUTED: u32 = 1;
const STATE: u32 = 2;
const PENDING: u32 = 3;

/// A 64-bit sum over the events executed, the final states and the events still pending.
///
/// Runs that did the same have the same fingerprint, on whatever device, queue and workgroup size; two machines
/// compare a run in one line. Runs that differ have different ones but for a chance of about 2⁻⁶⁴; it is no defence
/// against someone who wants them to collide.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Fingerprint(pub u64);

impl Fingerprint {
    pub(crate) fn executed(&mut self, lp: u32, event: &Event) {
        self.add(EXECUTED, lp, &event.words());
    }

    pub(crate) fn pending(&mut self, lp: u32, event: &Event) {
        self.add(PENDING, lp, &event.words());
    }

    pub(crate) fn state(&mut self, lp: u32, words: &[u32]) {
        self.add(STATE, lp, words);
    }

    fn add(&mut self, kind: u32, lp: u32, words: &[u32]) {
        let mut lanes = [0x9e37_79b9_u32.wrapping_add(kind), 0x7f4a_7c15_u32.wrapping_add(kind)];
        for word in std::iter::once(&lp).chain(words) {
            lanes[0] = (lanes[0] ^ word).wrapping_mul(0x85eb_ca6b);
            lanes[1] = (lanes[1] ^ word).wrapping_mul(0xc2b2_ae35);
            lanes = [lanes[0] ^ (lanes[0] >> 15), lanes[1] ^ (lanes[1] >> 13)];
        }
        let high = (lanes[1] ^ lanes[0]).wrapping_mul(0x27d4_eb2f);
        let low = lanes[0] ^ (high >> 16);
        self.0 = self.0.wrapping_add(u64::from(high) << 32 | u64::from(low));
    }
}

impl std::fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}
