//! The host engine: pairs, counts and changes against tests of each pair.

use std::collections::BTreeSet;

use eventhorizon::matching::{Bound, MatchingError, Region, host, reference};
use proptest::prelude::*;

use super::{SHAPES, Shape, regions};

/// Checks count and pairs against every pair, on one core and on several.
fn check<T: Bound, const D: usize>(subscriptions: &[Region<T, D>], updates: &[Region<T, D>]) {
    let expected = reference::find(subscriptions, updates);
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let count = host::count(subscriptions, updates).unwrap();
            (count, host::find(subscriptions, updates).unwrap())
        })
    };
    let (count, mut pairs) = on(1);
    assert_eq!(on(3), (count, pairs.clone()), "the order depends on the number of cores");
    assert_eq!(count, expected.len() as u64);
    pairs.sort_unstable();
    assert!(pairs == expected, "{} pairs of {}", pairs.len(), expected.len());
}

fn check_shapes<const D: usize>() {
    for (seed, shape) in (1..).zip(SHAPES) {
        check(&regions::<D>(seed, 500, shape), &regions::<D>(seed + 100, 400, shape));
        // One side far smaller than the other.
        check(&regions::<D>(seed, 3, shape), &regions::<D>(seed + 100, 3000, shape));
        check(&regions::<D>(seed, 40, shape), &regions::<D>(seed + 100, 1500, shape));
    }
}

#[test]
fn every_shape_in_every_dimension() {
    check_shapes::<1>();
    check_shapes::<2>();
    check_shapes::<3>();
    check_shapes::<4>();
    check(&regions::<2>(1, 0, Shape::Random), &regions::<2>(2, 9, Shape::Random));
}

/// Sets of many strips and chunks, with regions that lie in many of them.
#[test]
fn large_and_small_regions_together() {
    let set = |seed| {
        let mut set = regions::<2>(seed, 3000, Shape::Random);
        set.extend(regions::<2>(seed + 1, 60, Shape::Nested));
        set.extend(regions::<2>(seed + 2, 2000, Shape::Clustered));
        set.extend(regions::<2>(seed + 3, 20, Shape::Extremes));
        set
    };
    check(&set(10), &set(20));
}

/// Bounds at few positions, including the ends of the type's range; many widths are zero.
fn bounds<const D: usize>() -> impl Strategy<Value = Vec<Region<i64, D>>> {
    let place = prop_oneof![6 => 0i64..40, 1 => Just(i64::MIN), 1 => Just(i64::MAX - 9), 1 => Just(1 << 40)];
    let width = prop_oneof![4 => 0i64..5, 1 => 5i64..10];
    let region = (proptest::array::uniform::<_, D>(place), proptest::array::uniform::<_, D>(width));
    let region =
        region.prop_map(|(lo, width)| Region::new(lo, std::array::from_fn::<_, D, _>(|d| lo[d] + width[d])));
    proptest::collection::vec(region, 0..160)
}

/// The same as floats, with infinite bounds and both zeros.
fn doubles<const D: usize>(regions: &[Region<i64, D>]) -> Vec<Region<f64, D>> {
    #[expect(clippy::cast_precision_loss, reason = "small numbers")]
    let place = |x: i64| match x {
        i64::MIN => f64::NEG_INFINITY,
        20 => -0.0,
        21 => 0.0,
        x if x > 1000 => 1e300 * (1.0 + (x % 16) as f64),
        x => (x as f64 - 20.0) * 1e-310,
    };
    let region = |region: &Region<i64, D>| {
        let (lo, hi) = (region.lo.map(place), region.hi.map(place));
        let ordered = |f: fn(f64, f64) -> f64| std::array::from_fn(|d| f(lo[d], hi[d]));
        Region::new(ordered(f64::min), ordered(f64::max))
    };
    regions.iter().map(region).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn any_bounds_in_one_dimension(s in bounds::<1>(), u in bounds::<1>()) {
        check(&s, &u);
        check(&doubles(&s), &doubles(&u));
    }

    #[test]
    fn any_bounds_in_two_dimensions(s in bounds::<2>(), u in bounds::<2>()) {
        check(&s, &u);
        check(&doubles(&s), &doubles(&u));
    }

    #[test]
    fn any_bounds_in_three_dimensions(s in bounds::<3>(), u in bounds::<3>()) {
        check(&s, &u);
    }

    /// Steps in which one, some, or most regions move.
    #[test]
    fn changes_are_those_between_two_matchings(
        start in (bounds::<2>(), bounds::<2>()),
        steps in proptest::collection::vec((bounds::<2>(), bounds::<2>(), 1usize..40), 1..6),
    ) {
        let mut sets = [start.0, start.1];
        let mut moving = host::MovingRegions::new(&sets[0], &sets[1]).unwrap();
        for (s, u, every) in steps {
            let before: BTreeSet<_> = reference::find(&sets[0], &sets[1]).into_iter().collect();
            let moved = [s, u].map(|to| (0u32..).step_by(every).zip(to).collect::<Vec<_>>());
            let moved: Vec<Vec<_>> = moved.into_iter().zip(&sets)
                .map(|(moved, set)| moved.into_iter().filter(|(id, _)| (*id as usize) < set.len()).collect())
                .collect();
            for (set, moved) in sets.iter_mut().zip(&moved) {
                for (id, region) in moved {
                    set[*id as usize] = *region;
                }
            }
            let changes = moving.update(&moved[0], &moved[1]).unwrap();
            let after: BTreeSet<_> = reference::find(&sets[0], &sets[1]).into_iter().collect();
            prop_assert_eq!(changes.began, (&after - &before).into_iter().collect::<Vec<_>>());
            prop_assert_eq!(changes.ended, (&before - &after).into_iter().collect::<Vec<_>>());
            prop_assert_eq!(moving.matches(), after.into_iter().collect::<Vec<_>>());
        }
    }
}

#[test]
fn bad_regions_are_errors_and_nothing_moves() {
    let good = [Region::new([0.0], [1.0]), Region::new([0.5], [2.0])];
    let bad = [good[0], Region::new([f64::NAN], [1.0]), Region::new([1.0], [0.0])];
    let error = host::find(&good, &bad).unwrap_err();
    assert!(
        matches!(&error, MatchingError::NotANumber { set, region: 1, .. } if set == "updates"),
        "{error}"
    );
    let error = host::count(&bad[2..], &good).unwrap_err();
    assert!(matches!(&error, MatchingError::Inverted { region: 0, .. }), "{error}");
    let mut moving = host::MovingRegions::new(&good, &good).unwrap();
    let away = (0, Region::new([8.0], [9.0]));
    let error = moving.update(&[away, away], &[]).unwrap_err();
    assert!(matches!(error, MatchingError::MovedTwice { region: 0, .. }), "{error}");
    let error = moving.update(&[away], &[(2, away.1)]).unwrap_err();
    assert!(matches!(error, MatchingError::UnknownRegion { region: 2, regions: 2, .. }), "{error}");
    let error = moving.update(&[away, (1, bad[2])], &[]).unwrap_err();
    assert!(matches!(error, MatchingError::Inverted { region: 1, .. }), "{error}");
    assert_eq!(moving.matches(), [[0, 0], [0, 1], [1, 0], [1, 1]]);
    let changes = moving.update(&[away], &[]).unwrap();
    assert_eq!((changes.began, changes.ended), (vec![], vec![[0, 0], [0, 1]]));
}
