//! Changes of a step of moving regions: numbers on the device, pairs on the host.

use rayon::prelude::*;

shared! {
    "matching/moves_search.wgsl":
    const ENDED_HIGH: u64 as ENDED;
}
/// The mark of ended pairs in a change's number.
const ENDED: u64 = ENDED_HIGH << 32;
/// Changes that one core converts.
const ALONE: usize = 1 << 14;

/// The changes of a step. Each pair `[subscription, update]` occurs once, in ascending order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Changes {
    /// Pairs that overlap now and did not before.
    pub began: Vec<[u32; 2]>,
    /// Pairs that overlapped before and do not now.
    pub ended: Vec<[u32; 2]>,
}

impl Changes {
    /// From the device's sorted changes. Fresh memory costs more than the copy, and less on several
    /// cores.
    pub(super) fn new(read: &[u8]) -> Self {
        let (keys, _) = read.as_chunks::<8>();
        let (began, ended) = keys.split_at(keys.partition_point(|key| u64::from_ne_bytes(*key) < ENDED));
        let pair = |key: &[u8; 8]| {
            let key = u64::from_ne_bytes(*key) & !ENDED;
            #[expect(clippy::cast_possible_truncation, reason = "its low word")]
            let update = key as u32;
            [(key >> 32) as u32, update]
        };
        let pairs = |keys: &[[u8; 8]]| match keys.len() < ALONE {
            true => keys.iter().map(pair).collect(),
            false => keys.par_iter().map(pair).collect(),
        };
        Self { began: pairs(began), ended: pairs(ended) }
    }

    /// Adds the changes of another part of the step.
    pub(super) fn append(&mut self, more: Self) {
        for (all, mut more) in [(&mut self.began, more.began), (&mut self.ended, more.ended)] {
            match all.is_empty() {
                true => *all = more,
                false => {
                    all.append(&mut more);
                    // Both lists are sorted: this sort only merges.
                    all.sort();
                }
            }
        }
    }
}

/// The device's changes, sorted.
pub(super) fn in_order(mut keys: Vec<u64>) -> Vec<u64> {
    match keys.len() < ALONE {
        true => keys.sort_unstable(),
        false => keys.par_sort_unstable(),
    }
    keys
}
