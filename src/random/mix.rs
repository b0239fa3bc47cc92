//! The hash whose sums are fingerprints: the reference implementation of `shaders/random/mix.wgsl`.

/// 64 bits that depend on every bit of `kind` and of every word: rows of different kinds are
/// unrelated.
///
/// It distinguishes runs; it does not resist deliberate collisions.
pub fn mix(kind: u32, words: impl IntoIterator<Item = u32>) -> u64 {
    words.into_iter().fold(Mix::of(kind), Mix::word).end()
}

/// The same, word by word: for hashes of each event, because a chain of iterators is slower.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mix([u32; 2]);

impl Mix {
    #[inline]
    pub(crate) fn of(kind: u32) -> Self {
        Self([0x9e37_79b9, 0x7f4a_7c15]).word(kind)
    }

    #[inline]
    pub(crate) fn word(self, word: u32) -> Self {
        let first = (self.0[0] ^ word).wrapping_mul(0x85eb_ca6b);
        let second = (self.0[1] ^ word).wrapping_mul(0xc2b2_ae35);
        Self([first ^ (first >> 15), second ^ (second >> 13)])
    }

    #[inline]
    pub(crate) fn end(self) -> u64 {
        let first = lane(self.0[0]);
        let high = lane(self.0[1] ^ first);
        let low = lane(first.wrapping_add(high));
        u64::from(high) << 32 | u64::from(low)
    }
}

fn lane(lane: u32) -> u32 {
    let mixed = (lane ^ (lane >> 16)).wrapping_mul(0x85eb_ca6b);
    let mixed = (mixed ^ (mixed >> 13)).wrapping_mul(0xc2b2_ae35);
    mixed ^ (mixed >> 16)
}

#[cfg(test)]
mod tests {
    use super::mix;
    use crate::random::Stream;

    /// Rows of an event's size, half of them with small numbers as models write them.
    fn rows(count: u64) -> impl Iterator<Item = [u32; 5]> {
        (0..count).map(|row| {
            let mut stream = Stream::new(7, 0, row);
            let mask = if row % 2 == 0 { u32::MAX } else { 0xff };
            [(); 5].map(|()| stream.draw() & mask)
        })
    }

    #[test]
    fn every_bit_of_every_word_reaches_every_bit_of_the_hash() {
        const ROWS: u64 = 4096;
        for bit in 0..160 {
            let mut flips = [0_u32; 64];
            for mut words in rows(ROWS) {
                let before = mix(1, words);
                words[bit / 32] ^= 1 << (bit % 32);
                let changed = before ^ mix(1, words);
                for (place, count) in flips.iter_mut().enumerate() {
                    *count += u32::from(changed >> place & 1 == 1);
                }
            }
            // Binomial with a standard deviation of 32: of 10,240 counts none is six deviations
            // off.
            for (place, &count) in flips.iter().enumerate() {
                assert!(count.abs_diff(2048) < 6 * 32, "bit {bit} to bit {place}: {count} of {ROWS}");
            }
        }
    }

    #[test]
    fn the_same_change_of_two_rows_shows_in_their_sum() {
        let all: Vec<_> = rows(400_000).collect();
        for bit in [0, 31, 128, 159] {
            let unchanged = all.chunks_exact(2).filter(|pair| {
                let sum = |rows: [[u32; 5]; 2]| {
                    rows.map(|row| mix(1, row)).iter().fold(0_u64, |a, b| a.wrapping_add(*b))
                };
                let flipped = [pair[0], pair[1]].map(|mut row| {
                    row[bit / 32] ^= 1 << (bit % 32);
                    row
                });
                sum([pair[0], pair[1]]) == sum(flipped)
            });
            assert_eq!(unchanged.count(), 0, "bit {bit}");
        }
    }
}
