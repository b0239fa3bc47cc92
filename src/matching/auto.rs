//! Which way candidates are found, and how much room they take. Both are known when the device has looked at the sets; but a lone
//! submission with a wait for that takes longer than the work. So the way and the room of the last call with sets like these are
//! assumed, the look is part of the same submission, and where it tells something else the call is made again. What is found does not
//! depend on what was assumed, nor does its order. Where the device has no room for what was assumed, it is forgotten (`Kernels::forget_if_failed`).

use std::sync::{Mutex, PoisonError};

use super::kernels::{Kernels, Wanted};
use super::matches::Source;
use super::sample::Sample;
use super::set::Columns;
use super::work::MAX_TASKS;
use super::{Algorithm, MatchingError, grid, sweep};
use crate::gpu::{Gpu, Plan};

/// Where candidates come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// A sweep along this dimension.
    Sort { dim: u32 },
    /// A grid.
    Grid { cells: Option<u32> },
}

/// Whether brute force takes no longer than the passes over all regions, and the submissions, of the other algorithms.
pub(super) fn brute_serves(gpu: &Gpu, subscriptions: &Columns, updates: &Columns) -> bool {
    let (n, m) = (f64::from(subscriptions.filled), f64::from(updates.filled));
    let free = match (gpu.on_processor(), subscriptions.dims) {
        (true, _) => FREE_TESTS_ON_PROCESSOR,
        (false, 1) => FREE_TESTS_1D,
        (false, _) => FREE_TESTS,
    };
    n * m <= free + TESTS_PER_REGION * (n + m)
}

/// Tests of two sets of 8,400 regions in one dimension, and of 12,200 in more: there brute force takes as long as a sort, or a grid, on an H200 (the table of times in
/// mod.rs, in which it takes 0.12 ms and what grows with the tests; 0.16 and 0.33 ms are the others' least: 30,000 regions went from 0.29, 0.39 and 0.50 ms to 0.14, 0.32 and 0.31). For other GPUs a guess.
const FREE_TESTS_1D: f64 = 7e7;
const FREE_TESTS: f64 = 1.5e8;

/// The same on a processor that plays a GPU: two sets of 2,000 regions. A guess.
const FREE_TESTS_ON_PROCESSOR: f64 = 4e6;

/// Each region costs the other algorithms so many tests at the least, for its part in a sort. A guess on the low side: the
/// 5.19 ms in which an H200 sorts the bounds of 10⁸ regions are 160 tests for each.
const TESTS_PER_REGION: f64 = 64.0;

/// Beyond so many candidates per region, a sweep along one dimension takes longer than a grid. A guess: in the table of
/// times in mod.rs the sweep takes 2.3 times as long at 30,000 regions in 2 dimensions, where a region has some 90 candidates, and a grid of regions that are
/// not spread evenly takes longer than theirs. (Not much less: the sample sees a set that is matched with itself meet itself.)
const SWEEP_CANDIDATES: f64 = 64.0;

/// The dimension in which the fewest pairs overlap, and how many do: by the overlaps in each.
fn fewest(overlaps: Vec<f64>) -> (u32, f64) {
    (0..).zip(overlaps).min_by(|a, b| a.1.total_cmp(&b.1)).expect("a region has a dimension")
}

/// The dimension to sweep along.
pub(super) async fn best_dimension(kernels: &Kernels, sides: [&Columns; 2]) -> Result<u32, MatchingError> {
    if sides[0].dims == 1 {
        return Ok(0);
    }
    let sample = Sample::new(kernels, sides)?;
    let read = kernels.run(&[sample.plan()], false, &[sample.wanted()]).await?;
    Ok(fewest(sample.overlaps(&read[0])).0)
}

/// What [`Algorithm::Auto`] takes for sets that are too large for brute force.
pub(super) async fn way(kernels: &Kernels, sides: [&Columns; 2]) -> Result<Way, MatchingError> {
    let mut look = Look::new(kernels, sides, Algorithm::Auto)?;
    look.alone(kernels).await?;
    Ok(look.way)
}

/// A look at the sets, and the way that is taken for right.
pub(super) struct Look {
    /// None where nothing is to be looked at, or nothing any more.
    sample: Option<Sample>,
    always_sort: bool,
    regions: f64,
    pub(super) way: Way,
}

impl Look {
    fn new(kernels: &Kernels, sides: [&Columns; 2], algorithm: Algorithm) -> Result<Self, MatchingError> {
        let way = match algorithm {
            Algorithm::Grid { cells } => Way::Grid { cells },
            _ => Way::Sort { dim: 0 },
        };
        let known = sides[0].dims == 1 || matches!(way, Way::Grid { .. });
        Ok(Self {
            sample: if known { None } else { Some(Sample::new(kernels, sides)?) },
            always_sort: algorithm == Algorithm::Sort,
            regions: sides.iter().map(|side| f64::from(side.filled)).sum(),
            way,
        })
    }

    /// What is to be done for it first, and brought first.
    pub(super) fn part(&self) -> Option<(&Plan, Wanted<'_>)> {
        self.sample.as_ref().map(|sample| (sample.plan(), sample.wanted()))
    }

    /// Takes in what [`Look::part`] wanted. Whether the way is right: if not, it is another one now.
    pub(super) fn told(&mut self, hits: &[u32]) -> bool {
        let Some(sample) = self.sample.take() else { return true };
        let (dim, candidates) = fewest(sample.overlaps(hits));
        let many = candidates > SWEEP_CANDIDATES * self.regions && !self.always_sort;
        let way = if many { Way::Grid { cells: None } } else { Way::Sort { dim } };
        let right = way == self.way;
        self.way = way;
        right
    }

    async fn alone(&mut self, kernels: &Kernels) -> Result<(), MatchingError> {
        if let Some((plan, wanted)) = self.part() {
            let read = kernels.run(&[plan], false, &[wanted]).await?;
            self.told(&read[0]);
        }
        Ok(())
    }
}

/// Calls whose sets are so alike that one may tell about the next: the same algorithm, and sizes within a factor of two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Alike {
    algorithm: Algorithm,
    dims: u32,
    sizes: [u32; 2],
}

/// What a call took.
#[derive(Debug, Clone, Copy)]
pub(super) struct Room {
    way: Way,
    /// Regions of each side.
    counts: [u32; 2],
    /// Room for entries of a grid, of each side.
    pub(super) entries: [u32; 2],
    /// Room for tiles of candidates.
    pub(super) tasks: u32,
}

/// Room that is spared in any case.
const SPARE: u32 = 512;
/// Candidates per region that there is room for before anything is known: an empty task costs next to nothing.
const CANDIDATES: u32 = 16;

impl Room {
    /// A guess: where there is too little the call is made again.
    fn guess(way: Way, counts: [u32; 2]) -> Self {
        let tasks = counts[0].saturating_add(counts[1]) / (sweep::TILE / CANDIDATES) + SPARE;
        Self { way, counts, entries: counts.map(|count| room(0, count)), tasks }
    }

    /// The same for sets of other sizes.
    fn for_counts(self, counts: [u32; 2]) -> Self {
        if self.counts == counts {
            return self;
        }
        let scaled = |room: u32, side: usize| {
            let scaled = u64::from(room) * u64::from(counts[side]) / u64::from(self.counts[side].max(1));
            u32::try_from(scaled + 1).unwrap_or(u32::MAX)
        };
        let entries = [scaled(self.entries[0], 0), scaled(self.entries[1], 1)];
        let tasks = scaled(self.tasks, 0).max(scaled(self.tasks, 1)).min(MAX_TASKS);
        Self { counts, entries, tasks, ..self }
    }
}

/// Room for what needs `needed`: what there is, if that is enough and not far too much.
pub(super) fn room(now: u32, needed: u32) -> u32 {
    let more = needed.saturating_add(needed / 8).saturating_add(SPARE);
    if now >= needed && u64::from(now) <= 2 * u64::from(more) { now } else { more }
}

/// What the last calls took.
#[derive(Debug, Default)]
pub(super) struct Took(Mutex<Vec<(Alike, Room)>>);

/// Calls of so many kinds are kept in mind.
const KINDS: usize = 16;

impl Took {
    pub(super) fn clear(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    fn last(&self, alike: Alike) -> Option<Room> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.iter().find(|(kind, _)| *kind == alike).map(|(_, room)| *room)
    }

    fn keep(&self, alike: Alike, room: Room) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|(kind, _)| *kind != alike);
        kept.truncate(KINDS - 1);
        kept.insert(0, (alike, room));
    }
}

/// Matches by candidates: sets that are not empty, and any algorithm but brute force and trees.
pub(super) async fn matches(
    kernels: &Kernels,
    sides: [&Columns; 2],
    algorithm: Algorithm,
) -> Result<(u64, Source), MatchingError> {
    let counts = sides.map(|side| side.count);
    let alike = Alike { algorithm, dims: sides[0].dims, sizes: counts.map(u32::ilog2) };
    let mut look = Look::new(kernels, sides, algorithm)?;
    let mut room = match kernels.took.last(alike) {
        Some(last) if look.sample.is_some() || last.way == look.way => {
            look.way = last.way;
            last.for_counts(counts)
        }
        _ => {
            look.alone(kernels).await?;
            Room::guess(look.way, counts)
        }
    };
    loop {
        let found = match look.way {
            Way::Sort { dim } => sweep::matches(kernels, sides, dim, &mut look, &mut room).await?,
            Way::Grid { cells } => grid::matches(kernels, sides, cells, &mut look, &mut room).await?,
        };
        if let Some(found) = found {
            kernels.took.keep(alike, room);
            return Ok(found);
        }
        // Another way is right, and it is known now.
        room = Room::guess(look.way, counts);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::CALLS;
    use crate::matching::work::{Memory, Placed};
    use crate::matching::{Matcher, Region, Regions};

    /// Two sides of a set of squares of that size, by chance.
    fn sides(matcher: &Matcher, count: u32, size: u32) -> [Regions<u32, 2>; 2] {
        [1u32, 2].map(|seed| {
            let mix = |i: u32, factor: u32| (i ^ i >> 15).wrapping_mul(factor);
            let place = |i: u32| mix(mix(mix(4 * i + seed, 0x9e37_79b9), 0x85eb_ca6b), 0xc2b2_ae35) >> 12;
            let region = |i| {
                Region::new([place(2 * i), place(2 * i + 1)], [size + place(2 * i), size + place(2 * i + 1)])
            };
            matcher.upload("set", &(0..count).map(region).collect::<Vec<_>>()).unwrap()
        })
    }

    /// Submissions and waits of a call.
    fn calls<T>(call: impl FnOnce() -> T) -> (T, [u32; 2]) {
        let before = CALLS.get();
        let value = call();
        let after = CALLS.get();
        (value, [after[0] - before[0], after[1] - before[1]])
    }

    /// A lone submission with a wait takes longer than the work on small sets: of calls that are alike, the second needs no other.
    #[test]
    fn calls_that_are_alike_wait_once() {
        let matcher = Matcher::new(&Gpu::for_test());
        // More than brute force serves.
        let regions = if matcher.gpu().on_processor() { 5_000 } else { 13_000 };
        // A grid where squares are large, and sweeps where they are small.
        for (size, expected) in [(40_000, Algorithm::Grid { cells: None }), (2_000, Algorithm::Sort)] {
            let [s, u] = sides(&matcher, regions, size);
            assert_eq!(matcher.choose(&s, &u).unwrap(), expected);
            for algorithm in [Algorithm::Auto, expected] {
                let first = matcher.count(&s, &u, algorithm).unwrap();
                let (count, of_count) = calls(|| matcher.count(&s, &u, algorithm).unwrap());
                let (matches, of_find) = calls(|| matcher.find(&s, &u, algorithm).unwrap());
                assert_eq!((count, matches.total()), (first, first), "{algorithm:?}");
                assert_eq!((of_count, of_find), ([1, 1], [1, 1]), "{algorithm:?}, squares of {size}");
                // Other sets, a little larger.
                let [s, u] = sides(&matcher, regions + regions / 100, size);
                let (_, of_others) = calls(|| matcher.count(&s, &u, algorithm).unwrap());
                assert_eq!(of_others, [1, 1], "{algorithm:?}, squares of {size}");
            }
        }
    }

    /// Presets what the last call with sets like these by sorting took.
    fn took(kernels: &Kernels, count: u32, tasks: u32) -> Alike {
        let alike = Alike { algorithm: Algorithm::Sort, dims: 2, sizes: [count.ilog2(); 2] };
        let room = Room { tasks, ..Room::guess(Way::Sort { dim: 0 }, [count; 2]) };
        kernels.took.keep(alike, room);
        alike
    }

    #[test]
    fn room_that_the_device_refuses_is_forgotten() {
        // A buffer holds 2^18 words, and so many tiles take one more.
        let matcher = Matcher::new(&Gpu::for_test().binding_at_most(1 << 20));
        let tasks = 1 << 18;
        let [s, u] = sides(&matcher, 300, 40_000);
        let expected = matcher.count(&s, &u, Algorithm::Brute).unwrap();
        let kernels = matcher.kernels();
        // Tests are taken for so fast that all go into one submission.
        {
            let mut pace = kernels.test_pace.lock().unwrap();
            while pace.units() < u32::MAX {
                let units = pace.units();
                pace.record(units, std::time::Duration::ZERO);
            }
        }
        let alike = took(kernels, 300, tasks);
        assert_eq!(matcher.count(&s, &u, Algorithm::Sort).unwrap(), expected);
        assert!(kernels.took.last(alike).unwrap().tasks < 2_000);
        let (count, of_count) = calls(|| matcher.count(&s, &u, Algorithm::Sort).unwrap());
        assert_eq!((count, of_count), (expected, [1, 1]));
    }

    /// Empty tiles take no time: slices of them would tell that tests do not.
    #[test]
    fn tests_in_slices_have_no_spare_tiles() {
        let matcher = Matcher::new(&Gpu::for_test());
        let kernels = matcher.kernels();
        let all = matcher.upload("identical", &[Region::new([3u32, 3], [5, 5]); 3_800]).unwrap().columns;
        // More tiles than a first submission has, and few enough to be kept.
        took(kernels, 3_800, sweep::UNIT + 100);
        let found = matches(kernels, [&all, &all], Algorithm::Sort);
        let (total, source) = pollster::block_on(found).unwrap();
        assert_eq!(total, 3_800 * 3_800);
        let Source::Placed(Placed { memory: Memory::Sweep(memory), .. }) = source else {
            panic!("not a sweep")
        };
        assert!(memory.1.is_at_once((3_800u32 * 3_800).div_ceil(sweep::TILE)));
    }

    #[test]
    fn room_is_kept_where_it_serves() {
        let enough = room(0, 1_000);
        assert_eq!(room(enough, 1_000), enough);
        assert_eq!(room(enough, enough), enough);
        assert!(room(enough, enough + 1) > enough);
        assert!(room(100 * enough, 1_000) == enough && room(u32::MAX, u32::MAX) == u32::MAX);
    }
}
