//! Which of many runs of a model a run is.

/// A run among those of an experiment: what tells its random streams from those of the others.
///
/// Replica (p, r) of seed s has the same bits alone
/// ([`Options::replica`](crate::pdes::Options::replica)) and among any others. That of point 0 with
/// number 0 is the run that nobody counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Replica {
    /// The point's part of the streams' key: 0 at all points where random numbers are common.
    pub point: u32,
    /// Its number: what `replica()` tells a model's WGSL.
    pub number: u32,
}

impl Replica {
    /// The key of its streams. Those of different replicas of one seed differ.
    pub(crate) fn key(self, seed: u64) -> u64 {
        // The finalizer of SplitMix64: it maps numbers of 64 bits to each other one to one, and
        // zero to zero.
        let mut mixed = u64::from(self.point) << 32 | u64::from(self.number);
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        seed ^ mixed ^ mixed >> 31
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_differ_and_the_first_is_the_seed() {
        assert_eq!(Replica::default().key(42), 42);
        let replicas = (0..100).flat_map(|point| (0..100).map(move |number| Replica { point, number }));
        let mut keys: Vec<_> = replicas.map(|replica| replica.key(7)).collect();
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys.len(), 10_000);
    }
}
