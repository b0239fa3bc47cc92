use super::{philox4x32, words};

/// A stream of random words, named by (seed, owner, index): for example the run's seed, the logical
/// process, and the event's number.
///
/// Draw `d` is word `d % 4` of `philox4x32([d / 4, owner, index low, index high], [seed low, seed
/// high])`. Streams of one seed share no counter, so their words are as independent as Philox makes
/// them.
///
/// A stream has 2^32 draws; after them it starts again from its first.
///
/// # Purposes
/// Common random numbers compare two systems best if each number serves the same purpose in both:
/// the third repair of machine 5 takes as long with two crews as with one (Law, Simulation Modeling
/// and Analysis, 5th ed., section 11.2.3). In one stream, numbers move to other purposes as soon as
/// the order of events changes. [`purpose`](Self::purpose) instead selects a substream that is
/// named by a purpose and a number:
///
/// ```
/// use eventhorizon::random::Stream;
///
/// const REPAIR: u32 = 1;
/// let mut stream = Stream::of_replication(42, 0, 7);
/// stream.purpose(REPAIR, 3);
/// let third = stream.draw();
/// stream.main(); // the stream itself, where it was left
/// stream.draw();
/// stream.purpose(REPAIR, 3);
/// assert_eq!(stream.draw(), third);
/// ```
///
/// No substream shares a counter with another substream or stream. Complemented streams have
/// complemented substreams, so antithetic pairs are also pairs in their substreams.
///
/// WGSL: `stream_open`, `stream_complement`, `draw`, `draw_block`, `stream_block`, `stream_seek`,
/// `stream_position`, `stream_purpose`, `stream_named`, `stream_main`.
#[derive(Clone, Debug)]
pub struct Stream {
    seed: [u32; 2],
    /// Owner and index, or the words that replace them in a substream.
    name: [u32; 3],
    next: u32,
    /// The block with draw `next`. If `next` is a multiple of 4, the block is not computed yet.
    block: [u32; 4],
    /// All ones if every word is complemented, else 0.
    mask: u32,
    /// The bits of the counter's first word besides the block's number: 0 in the stream itself.
    first: u32,
    /// The stream's own name, and the number of its next draw while a substream is open.
    home: [u32; 3],
    kept: u32,
    /// Whether substreams follow the layout of replications.
    replication: bool,
    lost: bool,
}

shared! {
    "random/stream.wgsl":
    /// Distinguishes substreams from streams, whose block numbers have 30 bits.
    const SUBSTREAM: u32;
    /// Minimum number of draws of a substream.
    const SUBSTREAM_DRAWS: u32;
}
shared! {
    "pdes/model.wgsl":
    /// Distinguishes substreams of a name from those of a purpose, whose block numbers have 30
    /// bits.
    const NAMED: u32 as SUBSTREAM_NAMED;
}
/// The largest purpose of a replication.
const MOST_PURPOSE: u32 = 0x7fff;

impl Stream {
    /// The stream with this name, at its first draw.
    pub const fn new(seed: u64, owner: u32, index: u64) -> Self {
        let [low, high] = words(index);
        let name = [owner, low, high];
        Self {
            seed: words(seed),
            name,
            next: 0,
            block: [0; 4],
            mask: 0,
            first: 0,
            home: name,
            kept: 0,
            replication: false,
            lost: false,
        }
    }

    /// The stream of a replication of a point, at its first draw: named by (seed, point,
    /// replication), with the substreams of a model of [`replication`](crate::replication).
    pub const fn of_replication(seed: u64, point: u32, replication: u32) -> Self {
        Self { replication: true, ..Self::new(seed, point, replication as u64) }
    }

    /// Goes to the substream of a purpose and a number, at its first draw. Later draws come from
    /// it, until [`main`](Self::main) or the next purpose; the engines return to the stream after
    /// each event and each step.
    ///
    /// In a stream of [`of_replication`](Self::of_replication), a substream is named by (seed,
    /// point, replication, purpose, number). Purposes are 0 to 32,767, and each substream has 2^18
    /// draws. A replication that needs more fails as exhausted.
    ///
    /// In any other stream, a substream is named by (seed, owner, purpose, number) and has 2^32
    /// draws. The index, the number of the event at a logical process, is not part of the name, so
    /// it does not matter which event draws.
    pub fn purpose(&mut self, purpose: u32, number: u32) {
        if self.first == 0 {
            self.kept = self.next;
        } else {
            self.lost |= self.next > SUBSTREAM_DRAWS;
        }
        let [owner, low, _] = self.home;
        (self.first, self.name) = match self.replication {
            true => (SUBSTREAM | (purpose & MOST_PURPOSE) << 16, [owner, low, number]),
            false => (SUBSTREAM, [owner, number, purpose]),
        };
        self.lost |= self.replication && purpose > MOST_PURPOSE;
        self.next = 0;
    }

    /// Goes to the first draw of the substream of (`name`, `number`): a hash of the drawn quantity,
    /// and how often it was drawn before. The owner is not part of the name, so it does not matter
    /// which row of a model draws.
    ///
    /// Each substream has 2^18 draws. A number that wraps after 2^32 events continues with new
    /// substreams, because the upper word of the stream's index, modulo 2^14, is part of the name.
    /// For models of [`pdes`](crate::pdes), whose index is the number of the event. WGSL:
    /// `stream_named`.
    pub fn named(&mut self, name: u64, number: u32) {
        if self.first == 0 {
            self.kept = self.next;
        } else {
            self.lost |= self.next > SUBSTREAM_DRAWS;
        }
        let ([low, high], [_, _, above]) = (words(name), self.home);
        self.first = SUBSTREAM | NAMED | (above & 0x3fff) << 16;
        self.name = [low, high, number];
        self.next = 0;
    }

    /// Returns to the stream, at its next draw. No effect if no substream is open.
    pub fn main(&mut self) {
        if self.first != 0 {
            self.lost |= self.next > SUBSTREAM_DRAWS;
            self.first = 0;
            self.name = self.home;
            self.seek(self.kept);
        }
    }

    /// Whether a substream exceeded the draws of a replication's substream. Covers all substreams
    /// after [`main`](Self::main).
    pub(crate) const fn lost(&self) -> bool {
        self.lost
    }

    /// The same stream with every word complemented. `!word` is as uniform as `word` and moves in
    /// the opposite direction, which gives the second half of an antithetic pair. Call it before
    /// the first draw.
    #[must_use]
    pub const fn complement(self) -> Self {
        Self { mask: u32::MAX, ..self }
    }

    /// Draws 4 `b` to 4 `b` + 3, for `b` below 2^30 (2^16 in a substream of a replication). The
    /// position does not move.
    pub fn block(&self, b: u32) -> [u32; 4] {
        let [owner, low, high] = self.name;
        philox4x32([self.first | b, owner, low, high], self.seed).map(|word| word ^ self.mask)
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

    /// The next four draws, from a block of their own: skips the rest of a block that was begun. If
    /// all draws come four at a time, it saves the GPU the bookkeeping of [`draw`](Self::draw).
    pub fn draw_block(&mut self) -> [u32; 4] {
        let b = self.next.div_ceil(4) % (1 << 30);
        self.next = (b * 4).wrapping_add(4);
        self.block(b)
    }

    /// Continues at draw `draw`, in constant time.
    pub fn seek(&mut self, draw: u32) {
        self.lost |= self.first != 0 && draw > SUBSTREAM_DRAWS;
        self.next = draw & !3;
        while self.next != draw {
            self.draw();
        }
    }

    /// The number of the next draw: the argument with which [`seek`](Self::seek) continues here.
    pub const fn position(&self) -> u32 {
        self.next
    }
}

#[cfg(test)]
mod tests {
    use super::Stream;
    use crate::random::philox4x32;

    const SEED: u64 = 0x0123_4567_89ab_cdef;
    const KEY: [u32; 2] = [0x89ab_cdef, 0x0123_4567];

    fn four(stream: &mut Stream) -> [u32; 4] {
        [0; 4].map(|_| stream.draw())
    }

    #[test]
    fn a_substream_of_a_replication_is_named_by_purpose_and_number() {
        let mut stream = Stream::of_replication(SEED, 5, 9);
        stream.purpose(3, 77);
        assert_eq!(four(&mut stream), philox4x32([0x8003_0000, 5, 9, 77], KEY));
        assert_eq!(four(&mut stream), philox4x32([0x8003_0001, 5, 9, 77], KEY));
        stream.main();
        assert_eq!(four(&mut stream), philox4x32([0, 5, 9, 0], KEY));
        assert!(!stream.lost());
    }

    #[test]
    fn a_substream_of_a_logical_process_is_the_same_in_all_events() {
        for event in [0, 1, 1 << 40] {
            let mut stream = Stream::new(SEED, 5, event);
            let first = stream.draw();
            stream.purpose(u32::MAX, 77);
            assert_eq!(four(&mut stream), philox4x32([1 << 31, 5, 77, u32::MAX], KEY));
            stream.main();
            let mut alone = Stream::new(SEED, 5, event);
            assert_eq!([first, stream.draw()], [(); 2].map(|()| alone.draw()));
        }
    }

    #[test]
    fn a_substream_of_a_name_is_the_same_for_all_logical_processes() {
        for (owner, index) in [(5, 0), (6, 1), (u32::MAX, 0xffff_ffff)] {
            let mut stream = Stream::new(SEED, owner, index);
            stream.named(0xfedc_ba98_7654_3210, 77);
            assert_eq!(four(&mut stream), philox4x32([0xc000_0000, 0x7654_3210, 0xfedc_ba98, 77], KEY));
        }
        let mut later = Stream::new(SEED, 5, 3 << 32);
        later.named(0xfedc_ba98_7654_3210, 77);
        assert_eq!(four(&mut later), philox4x32([0xc003_0000, 0x7654_3210, 0xfedc_ba98, 77], KEY));
    }

    #[test]
    fn the_stream_itself_is_as_if_there_were_no_substreams() {
        let (mut with, mut without) = (Stream::of_replication(1, 2, 3), Stream::new(1, 2, 3));
        for number in 0..9 {
            with.purpose(0, number);
            with.draw();
            with.purpose(1, number);
            with.main();
            with.main();
            assert_eq!(with.draw(), without.draw());
        }
        assert_eq!(with.position(), without.position());
    }

    #[test]
    fn substreams_of_the_complement_are_complements() {
        let mut stream = Stream::of_replication(1, 2, 3);
        let mut other = stream.clone().complement();
        for (purpose, number) in [(0, 0), (1, 0), (1, 1), (7, 0)] {
            stream.purpose(purpose, number);
            other.purpose(purpose, number);
            assert_eq!(stream.draw(), !other.draw());
        }
    }
}
