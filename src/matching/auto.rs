//! Decides how candidates are found, and how much memory they need. Both follow from a sample of
//! the sets, but a submission of its own with a wait takes longer than the work. So a call assumes
//! the candidate source and the sizes of the last call with similar sets. Its own submission
//! includes the sample; if that disagrees, the call is repeated. Results and their order do not
//! depend on the assumptions. If the device lacks memory for them, they are dropped
//! (`Kernels::forget_if_failed`).

use super::call_size::{CallKind, CallSize, CandidateSource};
use super::kernels::Kernels;
use super::sample_decision::SampleDecision;
use super::set::Columns;
use super::source::Source;
use super::{Algorithm, MatchingError, grid, sweep};
use crate::gpu::{Gpu, tune};

/// Whether brute force takes no longer than the submissions of the other algorithms and their
/// passes over all regions.
pub(super) fn brute_serves(gpu: &Gpu, subscriptions: &Columns, updates: &Columns) -> bool {
    let (n, m) = (f64::from(subscriptions.filled), f64::from(updates.filled));
    let free = match (gpu.is_software(), subscriptions.dims) {
        (true, _) => FREE_TESTS_ON_PROCESSOR,
        (false, 1) => FREE_TESTS_1D,
        (false, _) => FREE_TESTS,
    };
    let costs = [("brute force", n * m), ("by regions", free + TESTS_PER_REGION * (n + m))];
    tune::cheapest("matching algorithm", &costs) == 0
}

/// Tests that brute force runs in the minimum time of a sort or a grid on an H200: two sets of
/// 8,400 regions in one dimension, and of 12,200 in more.
const FREE_TESTS_1D: f64 = 7e7;
const FREE_TESTS: f64 = 1.5e8;

/// The same on software adapters: two sets of 2,000 regions.
const FREE_TESTS_ON_PROCESSOR: f64 = 4e6;

/// Minimum cost of a region in the other algorithms, in tests, for its part in a sort. Set low: an
/// H200 needs 160 tests.
const TESTS_PER_REGION: f64 = 64.0;

/// Matches by candidates: for sets that are not empty, and any algorithm except brute force and
/// trees.
pub(super) async fn matches(
    kernels: &Kernels,
    sides: [&Columns; 2],
    algorithm: Algorithm,
) -> Result<(u64, Source), MatchingError> {
    let counts = sides.map(|side| side.count);
    let alike = CallKind { algorithm, dims: sides[0].dims, sizes: counts.map(u32::ilog2) };
    let mut look = SampleDecision::new(kernels, sides, algorithm)?;
    let mut room = match kernels.took.last(alike) {
        Some(last) if look.has_part() || last.source == look.source => {
            look.source = last.source;
            last.for_counts(counts)
        }
        _ => {
            look.alone(kernels).await?;
            CallSize::guess(look.source, counts)
        }
    };
    loop {
        let found = match look.source {
            CandidateSource::Sort { dim } => {
                sweep::matches(kernels, sides, dim, &mut look, &mut room).await?
            }
            CandidateSource::Grid { cells } => {
                grid::matches(kernels, sides, cells, &mut look, &mut room).await?
            }
        };
        if let Some(found) = found {
            kernels.took.keep(alike, room);
            return Ok(found);
        }
        // Another source is right, and it is known now.
        room = CallSize::guess(look.source, counts);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::CALLS;
    use crate::matching::limits::{TILE, UNIT};
    use crate::matching::work::{Memory, PlacedWork};
    use crate::matching::{Matcher, Region, Regions};

    /// Two sides of a random set of squares of that size.
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

    /// A separate submission with a wait takes longer than the work on small sets: the second of
    /// similar calls needs only one.
    #[test]
    fn calls_that_are_alike_wait_once() {
        let matcher = Matcher::new(&Gpu::for_test());
        // More regions than brute force would serve.
        let regions = if matcher.gpu().is_software() { 5_000 } else { 13_000 };
        // A grid if squares are large, and sweeps if they are small.
        for (size, expected) in [(40_000, Algorithm::Grid { cells: None }), (2_000, Algorithm::Sort)] {
            let [s, u] = sides(&matcher, regions, size);
            assert_eq!(matcher.choose(&s, &u).unwrap(), expected);
            for algorithm in [Algorithm::Auto, expected] {
                let first = matcher.count(&s, &u, algorithm).unwrap();
                let (count, of_count) = calls(|| matcher.count(&s, &u, algorithm).unwrap());
                let (matches, of_find) = calls(|| matcher.find(&s, &u, algorithm).unwrap());
                assert_eq!((count, matches.total()), (first, first), "{algorithm:?}");
                assert_eq!((of_count, of_find), ([1, 1], [1, 1]), "{algorithm:?}, squares of {size}");
                // Other, slightly larger sets.
                let [s, u] = sides(&matcher, regions + regions / 100, size);
                let (_, of_others) = calls(|| matcher.count(&s, &u, algorithm).unwrap());
                assert_eq!(of_others, [1, 1], "{algorithm:?}, squares of {size}");
            }
        }
    }

    /// Presets the sizes of the last call with sets like these by sorting.
    fn took(kernels: &Kernels, count: u32, tasks: u32) -> CallKind {
        let alike = CallKind { algorithm: Algorithm::Sort, dims: 2, sizes: [count.ilog2(); 2] };
        let mut room = CallSize::guess(CandidateSource::Sort { dim: 0 }, [count; 2]);
        room.tasks = tasks;
        kernels.took.keep(alike, room);
        alike
    }

    #[test]
    fn room_that_the_device_refuses_is_forgotten() {
        // A buffer holds 2^18 words; this number of tiles needs one more.
        let matcher = Matcher::new(&Gpu::for_test().binding_at_most(1 << 20));
        let tasks = 1 << 18;
        let [s, u] = sides(&matcher, 300, 40_000);
        let expected = matcher.count(&s, &u, Algorithm::Brute).unwrap();
        let kernels = matcher.kernels();
        // Record such a speed of tests that all go into one submission.
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

    /// Empty tiles take no time, so slices of them would wrongly show that tests do not either.
    #[test]
    fn tests_in_slices_have_no_spare_tiles() {
        let matcher = Matcher::new(&Gpu::for_test());
        let kernels = matcher.kernels();
        let all = matcher.upload("identical", &[Region::new([3u32, 3], [5, 5]); 3_800]).unwrap().columns;
        // More tiles than the first submission has, and few enough to be cached.
        took(kernels, 3_800, UNIT + 100);
        let found = matches(kernels, [&all, &all], Algorithm::Sort);
        let (total, source) = pollster::block_on(found).unwrap();
        assert_eq!(total, 3_800 * 3_800);
        let Source::PlacedWork(PlacedWork { memory: Memory::Sweep(memory), .. }) = source else {
            panic!("not a sweep")
        };
        assert!(memory.1.is_at_once((3_800u32 * 3_800).div_ceil(TILE)));
    }
}
