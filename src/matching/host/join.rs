//! The pairs of two sets, by strips and a sweep along each.

use std::ops::Range;

use rayon::prelude::*;

use super::super::region::{Bound, Key};
use super::side::Side;
use super::strips::{self, Strips};

/// Regions of a side that one core sweeps at a time.
const CHUNK: usize = 1 << 10;
/// Minimum size of sets that all cores sort.
const SORT_ALONE: usize = 1 << 14;
/// Every pair is tested if that takes at most this many tests per region.
const TESTS_PER_REGION: usize = 16;

/// A consumer of pairs.
pub(super) trait Sink: Default + Send {
    type Output: Send + Default;
    /// Consumes a pair if it overlaps.
    fn test(&mut self, overlaps: bool, pair: [u32; 2]);
    /// Consumes these pairs, all of which overlap.
    fn all(&mut self, pairs: impl ExactSizeIterator<Item = [u32; 2]>);
    /// Joins all parts in order.
    fn joined(parts: Vec<Self>) -> Self::Output;
}

/// Counts pairs.
#[derive(Default)]
pub(super) struct Count(u64);

impl Sink for Count {
    type Output = u64;

    fn test(&mut self, overlaps: bool, _: [u32; 2]) {
        self.0 += u64::from(overlaps);
    }

    fn all(&mut self, pairs: impl ExactSizeIterator<Item = [u32; 2]>) {
        self.0 += pairs.len() as u64;
    }

    fn joined(parts: Vec<Self>) -> u64 {
        parts.into_iter().map(|part| part.0).sum()
    }
}

/// Size of the buffer of pairs, which avoids a branch per test.
const WAITING: usize = 256;

/// Collects pairs.
pub(super) struct Pairs {
    found: Vec<[u32; 2]>,
    waiting: Box<[[u32; 2]; WAITING]>,
    filled: usize,
}

impl Default for Pairs {
    fn default() -> Self {
        Self { found: Vec::new(), waiting: Box::new([[0; 2]; WAITING]), filled: 0 }
    }
}

impl Pairs {
    fn flush(&mut self) {
        self.found.extend_from_slice(&self.waiting[..self.filled]);
        self.filled = 0;
    }
}

impl Sink for Pairs {
    type Output = Vec<[u32; 2]>;

    fn test(&mut self, overlaps: bool, pair: [u32; 2]) {
        self.waiting[self.filled % WAITING] = pair;
        self.filled += usize::from(overlaps);
        if self.filled == WAITING {
            self.flush();
        }
    }

    fn all(&mut self, pairs: impl ExactSizeIterator<Item = [u32; 2]>) {
        self.found.extend(pairs);
    }

    fn joined(mut parts: Vec<Self>) -> Vec<[u32; 2]> {
        parts.iter_mut().for_each(Self::flush);
        if parts.len() < 2 {
            return parts.pop().unwrap_or_default().found;
        }
        let mut joined = vec![[0; 2]; parts.iter().map(|part| part.found.len()).sum()];
        let mut rest = &mut joined[..];
        let mut copies = Vec::new();
        for part in parts {
            let (own, others) = rest.split_at_mut(part.found.len());
            copies.push((own, part.found));
            rest = others;
        }
        // All cores touch fresh memory.
        copies.into_par_iter().for_each(|(own, found)| own.copy_from_slice(&found));
        joined
    }
}

type Indexed<T> = <<T as Bound>::Key as Key>::Indexed;

/// A region in a strip: the dimension of the sweep first, then the dimension of the strips.
#[derive(Clone, Copy)]
struct Item<K, const D: usize> {
    lo: [K; D],
    hi: [K; D],
    id: u32,
}

/// A strip of both sides, each ordered by lower bounds.
struct Strip<K, const D: usize> {
    sides: [Vec<Item<K, D>>; 2],
    /// The start of the strip; `None` for the first.
    start: Option<K>,
}

/// The overlapping pairs of two checked sets.
pub(super) fn join<T: Bound, const D: usize, S: Sink>(sides: [Side<'_, T, D>; 2]) -> S::Output {
    let [n, m] = [sides[0].len(), sides[1].len()];
    if n.saturating_mul(m) <= TESTS_PER_REGION * (n + m) {
        return every_pair::<T, D, S>(sides);
    }
    let (dimensions, strips) = strips::choose(&sides);
    let members = [0, 1].map(|side| Members::new(&sides[side], dimensions, &strips));
    let make = |number: usize| Strip {
        sides: [0, 1].map(|side: usize| members[side].items(number, &sides[side], dimensions)),
        start: number.checked_sub(1).map(|before| strips.starts[before]),
    };
    let strips: Vec<Strip<T::Key, D>> = (0..strips.len()).into_par_iter().map(make).collect();
    let chunks = |strip: usize, side: usize| {
        let len = strips[strip].sides[side].len();
        (0..len).step_by(CHUNK).map(move |first| (strip, side, first..len.min(first + CHUNK)))
    };
    let tasks: Vec<_> =
        (0..strips.len()).flat_map(|strip| [0, 1].map(|side| chunks(strip, side))).flatten().collect();
    let sweep = |mut sink: S, (strip, side, chunk): (usize, usize, Range<usize>)| {
        match side {
            0 => strips[strip].sweep::<S, 0>(chunk, &mut sink),
            _ => strips[strip].sweep::<S, 1>(chunk, &mut sink),
        }
        sink
    };
    match rayon::current_num_threads() {
        1 => S::joined(vec![tasks.into_iter().fold(S::default(), sweep)]),
        _ => S::joined(tasks.into_par_iter().fold(S::default, sweep).collect()),
    }
}

fn every_pair<T: Bound, const D: usize, S: Sink>(sides: [Side<'_, T, D>; 2]) -> S::Output {
    // The cores share the larger side.
    let larger = usize::from(sides[1].len() > sides[0].len());
    let tested =
        (0..sides[larger].len()).into_par_iter().with_min_len(CHUNK).fold(S::default, |mut sink, i| {
            let (id, region) = sides[larger].region(i);
            for (other_id, other) in (0..sides[1 - larger].len()).map(|i| sides[1 - larger].region(i)) {
                let pair = if larger == 0 { [id, other_id] } else { [other_id, id] };
                sink.test(region.overlaps(other), pair);
            }
            sink
        });
    S::joined(tested.collect())
}

/// The members of each strip, in parts of the set.
struct Members(Vec<Part>);

/// The members of a part: for each strip the end of its range of indices.
struct Part {
    ends: Vec<u32>,
    indices: Vec<u32>,
}

impl Members {
    fn new<T: Bound, const D: usize>(
        side: &Side<'_, T, D>,
        dimensions: [usize; D],
        strips: &Strips<T::Key>,
    ) -> Self {
        // Smaller parts would consist mostly of ends of strips.
        let part = side.len().div_ceil(4 * rayon::current_num_threads()).max(4 * strips.len()).max(CHUNK);
        let firsts = (0..side.len()).into_par_iter().step_by(part);
        let parts =
            firsts.map(|first| Part::new(side, first..side.len().min(first + part), dimensions, strips));
        Self(parts.collect())
    }

    /// The members of a strip, by their lower bounds.
    fn items<T: Bound, const D: usize>(
        &self,
        strip: usize,
        side: &Side<'_, T, D>,
        dimensions: [usize; D],
    ) -> Vec<Item<T::Key, D>> {
        let key = |index: u32| side.region(index as usize).1.lo[dimensions[0]].to_key().with_index(index);
        let members = self.0.iter().flat_map(|part| part.members(strip));
        let mut order: Vec<Indexed<T>> = members.map(|index| key(*index)).collect();
        let alone = order.len() < SORT_ALONE || rayon::current_num_threads() == 1;
        match alone {
            true => order.sort_unstable(),
            false => order.par_sort_unstable(),
        }
        let item = |indexed: &Indexed<T>| {
            let (id, region) = side.region(T::Key::index(*indexed) as usize);
            let keys = |bounds: &[T; D]| dimensions.map(|d| bounds[d].to_key());
            Item { lo: keys(&region.lo), hi: keys(&region.hi), id }
        };
        match alone {
            true => order.iter().map(item).collect(),
            false => order.par_iter().map(item).collect(),
        }
    }
}

impl Part {
    /// A counting sort of these members by their strips. Empty regions are omitted.
    fn new<T: Bound, const D: usize>(
        side: &Side<'_, T, D>,
        indices: Range<usize>,
        dimensions: [usize; D],
        strips: &Strips<T::Key>,
    ) -> Self {
        let number = |index: usize| u32::try_from(index).unwrap_or(u32::MAX);
        let filled = || indices.clone().filter(|index| !side.region(*index).1.is_empty());
        if strips.len() == 1 {
            let indices: Vec<u32> = filled().map(number).collect();
            return Self { ends: vec![number(indices.len())], indices };
        }
        let mut ends = vec![0u32; strips.len()];
        let met: Vec<(u32, u32, u32)> = filled()
            .map(|index| {
                let region = side.region(index).1;
                let [lo, hi] = [region.lo, region.hi].map(|bounds| bounds[dimensions[1 % D]].to_key());
                let (first, last) = (strips.first(lo), strips.last(hi));
                ends[first..=last].iter_mut().for_each(|count| *count += 1);
                (number(index), number(first), number(last))
            })
            .collect();
        let mut all = 0;
        for count in &mut ends {
            let begin = all;
            all += *count;
            // Becomes the end as members are placed.
            *count = begin;
        }
        let mut indices = vec![0; all as usize];
        for (index, first, last) in met {
            for end in &mut ends[first as usize..=last as usize] {
                indices[*end as usize] = index;
                *end += 1;
            }
        }
        Self { ends, indices }
    }

    fn members(&self, strip: usize) -> &[u32] {
        let begin = strip.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.indices[begin as usize..self.ends[strip] as usize]
    }
}

impl<K: Key, const D: usize> Strip<K, D> {
    /// The pairs of some regions of a side with the regions of the other side that start inside
    /// them. For the first side also at their lower bounds, so that each pair occurs once.
    fn sweep<S: Sink, const SIDE: usize>(&self, chunk: Range<usize>, sink: &mut S) {
        let (firsts, others) = (&self.sides[SIDE][chunk], &self.sides[1 - SIDE][..]);
        let Some(first) = firsts.first() else { return };
        let before = |other: &Item<K, D>, lo: K| if SIDE == 0 { other.lo[0] < lo } else { other.lo[0] <= lo };
        let mut begin = others.partition_point(|other| before(other, first.lo[0]));
        for item in firsts {
            while others.get(begin).is_some_and(|other| before(other, item.lo[0])) {
                begin += 1;
            }
            let inside = others[begin..].iter();
            let count = inside.take_while(|other| other.lo[0] < item.hi[0]).count();
            let inside = &others[begin..begin + count];
            let pair = |other: &Item<K, D>| if SIDE == 0 { [item.id, other.id] } else { [other.id, item.id] };
            if D == 1 {
                sink.all(inside.iter().map(pair));
                continue;
            }
            // Two regions that meet in several strips are a pair of the first one.
            let begins_here = self.start.is_none_or(|start| item.lo[1 % D] >= start);
            for other in inside {
                let mut overlaps = begins_here | self.start.is_none_or(|start| other.lo[1 % D] >= start);
                for d in 1..D {
                    overlaps &= (item.lo[d] < other.hi[d]) & (other.lo[d] < item.hi[d]);
                }
                sink.test(overlaps, pair(other));
            }
        }
    }
}
