//! Which way candidates are found, and how much room they take. Both are known when the device has
//! looked at the sets; but a lone submission with a wait for that takes longer than the work. So
//! the way and the room of the last call with sets like these are assumed, the look is part of the
//! same submission, and where it tells something else the call is made again. What is found does
//! not depend on what was assumed, nor does its order. Where the device has no room for what was
//! assumed, it is forgotten (`Kernels::forget_if_failed`).

use super::call_size::{CallKind, CallSize, CandidateSource};
use super::kernels::Kernels;
use super::sample_decision::SampleDecision;
use super::set::Columns;
use super::source::Source;
use super::{Algorithm, MatchingError, grid, sweep};
use crate::gpu::{Gpu, tune};

/// Whether brute force takes no longer than the passes over all regions, and the submissions, of
/// the other algorithms.
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

/// Tests of two sets of 8,400 regions in one dimension, and of 12,200 in more: there brute force
/// takes as long as a sort, or a grid, on an H200 (the table of times in mod.rs, in which it takes
/// 0.12 ms and what grows with the tests; 0.16 and 0.33 ms are the others' least: 30,000 regions
/// went from 0.29, 0.39 and 0.50 ms to 0.14, 0.32 and 0.31). For other GPUs a guess.
const FREE_TESTS_1D: f64 = 7e7;
const FREE_TESTS: f64 = 1.5e8;

/// The same on a processor that plays a GPU: two sets of 2,000 regions. A guess.
const FREE_TESTS_ON_PROCESSOR: f64 = 4e6;

/// Each region costs the other algorithms so many tests at the least, for its part in a sort. A
/// guess on the low side: the 5.19 ms in which an H200 sorts the bounds of 10⁸ regions are 160
/// tests for each.
const TESTS_PER_REGION: f64 = 64.0;

/// Matches by candidates: sets that are not empty, and any algorithm but brute force and trees.
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
        // Another way is right, and it is known now.
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

    /// A lone submission with a wait takes longer than the work on small sets: of calls that are
    /// alike, the second needs no other.
    #[test]
    fn calls_that_are_alike_wait_once() {
        let matcher = Matcher::new(&Gpu::for_test());
        // More than brute force serves.
        let regions = if matcher.gpu().is_software() { 5_000 } else { 13_000 };
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
    fn took(kernels: &Kernels, count: u32, tasks: u32) -> CallKind {
        let alike = CallKind { algorithm: Algorithm::Sort, dims: 2, sizes: [count.ilog2(); 2] };
        let mut room = CallSize::guess(CandidateSource::Sort { dim: 0 }, [count; 2]);
        room.tasks = tasks;
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
