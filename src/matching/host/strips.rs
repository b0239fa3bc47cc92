//! Splits a set: chooses the dimension to sweep along, and strips of another one.

use super::super::region::{Bound, Key};
use super::side::Side;
use crate::random::mix;

/// Maximum sampled regions of a side. It bounds the time of a choice to a millisecond or two.
const SAMPLE: usize = 1 << 12;
/// Maximum number of strips, and minimum regions per strip on average.
const MAX_STRIPS: usize = 1 << 11;
const REGIONS_PER_STRIP: usize = 64;
/// Maximum average number of strips that a region meets, estimated from the sample.
const COPIES: usize = 2;

/// The members of a sample: all of a small set, else one of each of [`SAMPLE`] equal parts, at a
/// place from a fixed hash. A fixed step would see only one kind of alternating regions.
fn sampled(len: usize) -> impl Iterator<Item = usize> {
    let parts = len.min(SAMPLE);
    let begin = move |part: usize| part * (len / parts) + part * (len % parts) / parts;
    (0..parts).map(move |part| {
        let (first, end) = (begin(part), begin(part + 1));
        let hash = mix(0, [u32::try_from(part).unwrap_or(0)]);
        first + usize::try_from(hash % (end - first) as u64).unwrap_or(0)
    })
}

/// The strips of a dimension: the start of each, except for the first.
pub(super) struct Strips<K> {
    pub(super) starts: Vec<K>,
}

/// A sample of the bounds of two sides, by dimension.
struct Sample<K> {
    /// For each dimension and side, lower and upper bounds.
    bounds: Vec<[Vec<(K, K)>; 2]>,
}

impl<K: Key> Sample<K> {
    fn new<T: Bound<Key = K>, const D: usize>(sides: &[Side<'_, T, D>; 2]) -> Self {
        let of = |side: &Side<'_, T, D>, d: usize| {
            let regions = sampled(side.len()).map(|index| side.region(index).1);
            regions
                .filter(|region| !region.is_empty())
                .map(|r| (r.lo[d].to_key(), r.hi[d].to_key()))
                .collect()
        };
        Self { bounds: (0..D).map(|d| [of(&sides[0], d), of(&sides[1], d)]).collect() }
    }

    /// The number of sampled pairs that overlap in a dimension.
    fn overlaps(&self, dimension: usize) -> usize {
        let [some, others] = &self.bounds[dimension];
        let mut starts: Vec<K> = others.iter().map(|bounds| bounds.0).collect();
        let mut ends: Vec<K> = others.iter().map(|bounds| bounds.1).collect();
        starts.sort_unstable();
        ends.sort_unstable();
        let overlaps = |(lo, hi): &(K, K)| {
            starts.partition_point(|start| start < hi) - ends.partition_point(|end| end <= lo)
        };
        some.iter().map(overlaps).sum()
    }
}

/// All dimensions, with the one to sweep along first, then the one of the strips; and the strips.
pub(super) fn choose<T: Bound, const D: usize>(sides: &[Side<'_, T, D>; 2]) -> ([usize; D], Strips<T::Key>) {
    let mut dimensions: [usize; D] = std::array::from_fn(|d| d);
    if D == 1 {
        return (dimensions, Strips { starts: Vec::new() });
    }
    let sample = Sample::new(sides);
    // The dimensions with the fewest overlaps come first.
    dimensions.sort_by_cached_key(|d| sample.overlaps(*d));
    let all = sides[0].len() + sides[1].len();
    let strips = Strips::new(&sample.bounds[dimensions[1]], all / REGIONS_PER_STRIP);
    (dimensions, strips)
}

impl<K: Key> Strips<K> {
    fn new(bounds: &[Vec<(K, K)>; 2], most: usize) -> Self {
        let mut starts: Vec<K> = bounds.iter().flatten().map(|bounds| bounds.0).collect();
        starts.sort_unstable();
        let sampled = starts.len();
        // A power of two, so that fewer strips are unions of these.
        let finest = most.min(MAX_STRIPS).min(sampled / 2).checked_ilog2().unwrap_or(0);
        let finest_starts = (1..1usize << finest).map(|strip| starts[(strip * sampled) >> finest]).collect();
        let fine = Self { starts: finest_starts };
        let met: Vec<_> = bounds.iter().flatten().map(|&(lo, hi)| (fine.first(lo), fine.last(hi))).collect();
        let copies = |joined: u32| -> usize {
            met.iter().map(|&(first, last)| (last >> joined) - (first >> joined) + 1).sum()
        };
        let joined = (0..finest).find(|joined| copies(*joined) <= COPIES * sampled).unwrap_or(finest);
        let kept = fine.starts.into_iter().enumerate().filter(|(index, _)| (index + 1) % (1 << joined) == 0);
        Self { starts: kept.map(|(_, start)| start).collect() }
    }

    pub(super) fn len(&self) -> usize {
        self.starts.len() + 1
    }

    /// The strip that contains a lower bound.
    pub(super) fn first(&self, lo: K) -> usize {
        self.starts.partition_point(|start| *start <= lo)
    }

    /// The last strip that a region with this upper bound meets.
    pub(super) fn last(&self, hi: K) -> usize {
        self.starts.partition_point(|start| *start < hi)
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::region::Region;
    use super::*;

    #[test]
    fn a_sample_has_one_member_of_each_part_of_a_set() {
        for len in [0, 1, SAMPLE - 1, SAMPLE, SAMPLE + 1, 5 * SAMPLE, 5 * SAMPLE + 77] {
            let members: Vec<_> = sampled(len).collect();
            assert_eq!(members.len(), len.min(SAMPLE));
            assert!(members.is_sorted_by(|a, b| a < b) && members.last().is_none_or(|last| *last < len));
        }
    }

    /// Each member takes memory in every strip that it meets.
    #[test]
    fn sets_that_alternate_are_cut_for_all_their_regions() {
        const SIDE: u32 = 1 << 16;
        for period in [2, 4, 8, 16] {
            // Dots; one region in `period` is a bar across everything in the dimension of the
            // strips.
            let region = |index: u32| {
                let (x, y) = (index * 7 % SIDE, index * 40_503 % SIDE);
                match index % period {
                    0 => Region::new([x, 0], [x + 1, SIDE]),
                    _ => Region::new([x, y], [x + 1, y + 1]),
                }
            };
            let regions: Vec<Region<u32, 2>> = (0..16 * 4096).map(region).collect();
            let (dimensions, strips) = choose(&[Side::all(&regions), Side::all(&regions)]);
            assert_eq!(dimensions, [0, 1]);
            let copies =
                |r: &Region<u32, 2>| strips.last(r.hi[1].to_key()) - strips.first(r.lo[1].to_key()) + 1;
            let copies: usize = regions.iter().map(copies).sum();
            assert!(copies <= (COPIES + 1) * regions.len(), "{period}: {} strips, {copies}", strips.len());
        }
    }

    #[test]
    fn strips_are_joined_until_regions_meet_few() {
        // Places 0 to 999, and regions that extend over 100 of them.
        let bounds = |width: i64| [(0..1000).map(|lo| (lo, lo + width)).collect(), Vec::new()];
        let narrow = Strips::new(&bounds(1), 100);
        assert_eq!(narrow.len(), 64);
        let wide = Strips::new(&bounds(100), 100);
        assert!((5..=10).contains(&wide.len()), "{}", wide.len());
        let all = Strips::new(&[vec![(0i64, 9); 500], vec![(0, 9); 500]], 100);
        assert!(all.first(0) == all.last(9), "identical regions lie in one strip");
        assert_eq!(Strips::<i64>::new(&[Vec::new(), Vec::new()], 100).len(), 1);
        assert_eq!((narrow.first(0), narrow.first(999), narrow.last(1000)), (0, 63, 63));
    }
}
