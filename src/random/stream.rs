use super::{philox4x32, words};

/// A stream of random words, named by (seed, owner, index): say the run's seed, the logical process, and the
/// event's number.
///
/// Draw `d` is word `d % 4` of `philox4x32([d / 4, owner, index low, index high], [seed low, seed high])`.
/// Streams of one seed share no counter, so their words are as independent as Philox makes them.
///
/// A stream has 2^32 draws; after them it starts again from its first.
///
/// WGSL: `stream_open`, `stream_complement`, `draw`, `draw_block`, `stream_block`, `stream_seek`,
/// `stream_position`.
#[derive(Clone, Debug)]
pub struct Stream {
    seed: [u32; 2],
    owner: u32,
    index: [u32; 2],
    next: u32,
    /// The block that holds draw `next`, unless `next` is a multiple of 4: then it is still to be computed.
    block: [u32; 4],
    /// All ones where every word is complemented.
    mask: u32,
}

impl Stream {
    /// The stream of this name, at its first draw.
    pub const fn new(seed: u64, owner: u32, index: u64) -> Self {
        Self { seed: words(seed), owner, index: words(index), next: 0, block: [0; 4], mask: 0 }
    }

    /// The same stream with every word complemented: `!word` is as uniform as `word` and moves the other way,
    /// which makes the second half of an antithetic pair. To be called before the first draw.
    #[must_use]
    pub const fn complement(self) -> Self {
        Self { mask: u32::MAX, ..self }
    }

    /// Draws 4 `b` to 4 `b` + 3; the position does not move.
    pub fn block(&self, b: u32) -> [u32; 4] {
        let [low, high] = self.index;
        philox4x32([b, self.owner, low, high], self.seed).map(|word| word ^ self.mask)
    }

    /// The next word, uniform over all 2^32 values.
    pub fn draw(&mut self) -> u32 {
        if self.next.is_multiple_of(4) {
            self.block = self.block(self.next / 4);
        }
        let word = self.block[(self.next % 4) as usize];
        self.next = self.next.wrapping_add(1);
        word
    }

    /// The next four draws of a block of their own: what is left of a block that was begun is passed over.
    /// Where all draws are made four at a time, it saves the GPU the bookkeeping of [`draw`](Self::draw).
    pub fn draw_block(&mut self) -> [u32; 4] {
        let b = self.next.div_ceil(4) % (1 << 30);
        self.next = (b * 4).wrapping_add(4);
        self.block(b)
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
