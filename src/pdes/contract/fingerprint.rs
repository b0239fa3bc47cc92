//! The fingerprint of a run: the Rust implementation of `shaders/pdes/results/fingerprint.wgsl`.

use crate::random::Mix;

use super::event::{Event, LpEvent, Payload};

shared! {
    "pdes/results/fingerprint.wgsl":
    const EXECUTED: u32 as DIGEST_EXECUTED;
    const STATE: u32 as DIGEST_STATE;
    const PENDING: u32 as DIGEST_PENDING;
    const MEMORY: u32 as DIGEST_MEMORY;
}

/// A 64-bit sum over the executed events, the final states, LP memory and the pending events.
///
/// Equal runs have equal fingerprints on every device and with every queue and workgroup size, so
/// two machines compare a run in one line. Different runs have equal fingerprints with a
/// probability of about 2⁻⁶⁴. It does not protect against deliberate collisions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Fingerprint(pub u64);

impl Fingerprint {
    /// Adds events and their LPs, eight at a time: the words of one hash depend on each other, and
    /// eight hashes are independent.
    pub(crate) fn executed<P: Payload>(&mut self, events: &[LpEvent<P>]) {
        let (eights, rest) = events.as_chunks::<8>();
        for events in eights {
            let mut hashes = events.map(|LpEvent { event, lp }| {
                let [low, high] = event.time.to_words();
                Mix::of(EXECUTED).word(lp).word(low).word(high)
            });
            for word in 0..size_of::<P>() / 4 {
                for (hash, LpEvent { event, .. }) in hashes.iter_mut().zip(events) {
                    *hash = hash.word(event.payload.words()[word]);
                }
            }
            self.0 = hashes.iter().fold(self.0, |sum, hash| sum.wrapping_add(hash.end()));
        }
        for LpEvent { event, lp } in rest {
            self.add_event(EXECUTED, *lp, event);
        }
    }

    pub(crate) fn pending(&mut self, lp: u32, event: &Event<impl Payload>) {
        self.add_event(PENDING, lp, event);
    }

    pub(crate) fn state(&mut self, lp: u32, words: &[u32]) {
        self.add(words.iter().fold(Mix::of(STATE).word(lp), |mix, &word| mix.word(word)));
    }

    /// Adds LP memory. Zero rows add nothing, so the number of rows has no effect.
    pub(crate) fn memory(&mut self, lp: u32, rows: &[[u32; 4]]) {
        for (index, row) in (0..).zip(rows) {
            if *row != [0; 4] {
                self.add(row.iter().fold(Mix::of(MEMORY).word(lp).word(index), |mix, &word| mix.word(word)));
            }
        }
    }

    fn add_event(&mut self, kind: u32, lp: u32, event: &Event<impl Payload>) {
        let [low, high] = event.time.to_words();
        let begun = Mix::of(kind).word(lp).word(low).word(high);
        self.add(event.payload.words().iter().fold(begun, |mix, &word| mix.word(word)));
    }

    fn add(&mut self, words: Mix) {
        self.0 = self.0.wrapping_add(words.end());
    }
}

impl std::fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}
