//! The fingerprint of a run: the Rust twin of `shaders/pdes/results/fingerprint.wgsl`.

use crate::random::Mix;

use super::event::{Event, Payload};

shared! {
    "pdes/results/fingerprint.wgsl":
    const EXECUTED: u32 as DIGEST_EXECUTED;
    const STATE: u32 as DIGEST_STATE;
    const PENDING: u32 as DIGEST_PENDING;
    const MEMORY: u32 as DIGEST_MEMORY;
}

/// A 64-bit sum over the events executed, the final states and LP memory, and the events still
/// pending.
///
/// Runs that did the same have the same fingerprint, on whatever device, queue and workgroup size;
/// two machines compare a run in one line. Runs that differ have different ones but for a chance of
/// about 2⁻⁶⁴; it is no defence against someone who wants them to collide.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Fingerprint(pub u64);

impl Fingerprint {
    /// Events and their LPs, eight at a time: each word of a hash waits for the one before it, and
    /// eight hashes do not wait for each other.
    pub(crate) fn executed<P: Payload>(&mut self, events: &[(u32, Event<P>)]) {
        let (eights, rest) = events.as_chunks::<8>();
        for events in eights {
            let mut hashes = events.map(|(lp, event)| {
                let [low, high] = event.time.to_words();
                Mix::of(EXECUTED).word(lp).word(low).word(high)
            });
            for word in 0..size_of::<P>() / 4 {
                for (hash, (_, event)) in hashes.iter_mut().zip(events) {
                    *hash = hash.word(event.payload.words()[word]);
                }
            }
            self.0 = hashes.iter().fold(self.0, |sum, hash| sum.wrapping_add(hash.end()));
        }
        for (lp, event) in rest {
            self.add_event(EXECUTED, *lp, event);
        }
    }

    pub(crate) fn pending(&mut self, lp: u32, event: &Event<impl Payload>) {
        self.add_event(PENDING, lp, event);
    }

    pub(crate) fn state(&mut self, lp: u32, words: &[u32]) {
        self.add(words.iter().fold(Mix::of(STATE).word(lp), |mix, &word| mix.word(word)));
    }

    /// Rows that are zero count nothing, so that how many there are does not show.
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
