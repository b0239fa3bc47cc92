//! The identity of a run among many runs of a model.

/// The identity of a run in an experiment, which selects its random streams.
///
/// Replica (p, r) of seed s has the same bits as a single run
/// ([`Options::replica`](crate::pdes::Options::replica)) and among any other replicas. A run
/// outside an experiment is replica 0 of point 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Replica {
    /// The point's part of the key of the streams: 0 at all points with common random numbers.
    pub point: u32,
    /// The replica's number: the value of `replica()` in a model's WGSL.
    pub number: u32,
}

impl Replica {
    /// The key of the streams of this replica. Different replicas of one seed have different keys.
    pub(crate) fn key(self, seed: u64) -> u64 {
        // The finalizer of SplitMix64: a bijection of 64-bit numbers that maps zero to zero.
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
