use super::{philox4x32, words};

/// A stream of random words, named by (seed, owner, index): say the run's seed, the logical process, and the
/// event's number.
///
/// Draw `d` is word `d % 4` of `philox4x32([d / 4, owner, index low, index high], [seed low, seed high])`.
/// Streams of one seed share no counter, so their words are as independent as Philox makes them.
///
/// A stream has 2^32 draws; after them it starts again from its first.
///
/// WGSL: `stream_open`, `draw`, `stream_seek`, `stream_position`.
#[derive(Clone, Debug)]
pub struct Stream {
    seed: [u32; 2],
    owner: u32,
    index: [u32; 2],
    next: u32,
    /// The block that holds draw `next`, unless `next` is a multiple of 4: then it is still to be computed.
    block: [u32; 4],
}

impl Stream {
    /// The stream of this name, at its first draw.
    pub const fn new(seed: u64, owner: u32, index: u64) -> Self {
        Self { seed: words(seed), owner, index: words(index), next: 0, block: [0; 4] }
    }

    /// The next word, uniform over all 2^32 values.
    pub fn draw(&mut self) -> u32 {
        if self.next.is_multiple_of(4) {
            let [low, high] = self.index;
            self.block = philox4x32([self.next / 4, self.owner, low, high], self.seed);
        }
        let word = self.block[(self.next % 4) as usize];
        self.next = self.next.wrapping_add(1);
        word
    }

    /// Continues at draw `draw`, in constant time.
    pub fn seek(&mut self, draw: u32) {
        self.next = draw & !3;
        while self.next != draw {
            self.draw();
        }
    }

    /// The number of the next draw: what [`seek`](Self::seek) needs to continue here.
    pub const fn position(&self) -> u32 {
        self.next
    }
}
