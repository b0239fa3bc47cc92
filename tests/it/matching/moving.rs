//! Moving regions: the changes of each step against a matching from scratch.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use super::common::gpu;
use eventhorizon::matching::{Matcher, MatchingError, MovingRegions, Region, reference};
use proptest::prelude::*;

fn matcher() -> &'static Matcher {
    static MATCHER: OnceLock<Matcher> = OnceLock::new();
    MATCHER.get_or_init(|| Matcher::new(&gpu()))
}

type Pairs = BTreeSet<[u32; 2]>;

/// Moved regions of both sides: ids and new bounds.
type Step<const D: usize> = [Vec<(u32, Region<i32, D>)>; 2];

/// Applies the steps and checks what each reports.
fn check<const D: usize>(
    mut subscriptions: Vec<Region<i32, D>>,
    mut updates: Vec<Region<i32, D>>,
    steps: &[Step<D>],
) {
    let mut moving = MovingRegions::new(matcher(), &subscriptions, &updates).unwrap();
    let mut pairs: Pairs = reference::find(&subscriptions, &updates).into_iter().collect();
    for [s, u] in steps {
        for (id, bounds) in s {
            subscriptions[*id as usize] = *bounds;
        }
        for (id, bounds) in u {
            updates[*id as usize] = *bounds;
        }
        let changes = moving.update(s, u).unwrap();
        let after: Pairs = reference::find(&subscriptions, &updates).into_iter().collect();
        assert_eq!(changes.began, after.difference(&pairs).copied().collect::<Vec<_>>(), "began");
        assert_eq!(changes.ended, pairs.difference(&after).copied().collect::<Vec<_>>(), "ended");
        let mut all = moving.matches().unwrap().read().unwrap();
        all.sort_unstable();
        assert_eq!(all, after.iter().copied().collect::<Vec<_>>(), "all pairs");
        pairs = after;
    }
}

fn region<const D: usize>() -> impl Strategy<Value = Region<i32, D>> {
    let lo = proptest::array::uniform::<_, D>(-20i32..20);
    (lo, proptest::array::uniform::<_, D>(0i32..9))
        .prop_map(|(lo, width)| Region::new(lo, std::array::from_fn(|d| lo[d] + width[d])))
}

/// Some regions of `count`, each at most once, with new bounds.
fn moves<const D: usize>(count: u32) -> impl Strategy<Value = Vec<(u32, Region<i32, D>)>> {
    proptest::collection::btree_map(0..count, region::<D>(), 0..20)
        .prop_map(|moved| moved.into_iter().collect())
}

fn steps<const D: usize>() -> impl Strategy<Value = Vec<Step<D>>> {
    proptest::collection::vec((moves::<D>(60), moves::<D>(50)).prop_map(|(s, u)| [s, u]), 1..4)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 8, ..ProptestConfig::default() })]

    #[test]
    fn changes_are_the_difference_of_two_matchings(
        s in proptest::collection::vec(region::<1>(), 60),
        u in proptest::collection::vec(region::<1>(), 50),
        steps in steps::<1>(),
    ) {
        check(s, u, &steps);
    }

    #[test]
    fn changes_in_two_dimensions(
        s in proptest::collection::vec(region::<2>(), 60),
        u in proptest::collection::vec(region::<2>(), 50),
        steps in steps::<2>(),
    ) {
        check(s, u, &steps);
    }
}

#[test]
fn when_all_move_each_change_comes_once() {
    let set = |shift: i32| -> Vec<_> {
        (0..3000).map(|i| Region::new([i * 7 % 5000 + shift], [i * 7 % 5000 + shift + 30])).collect()
    };
    let moved = |shift| (0u32..).zip(set(shift)).collect::<Vec<_>>();
    check(set(0), set(11), &[[moved(40), moved(-5)], [moved(40), moved(-5)], [vec![], moved(41)]]);
}

/// A pseudo-random number below `end`.
fn mixed(i: usize, end: i32) -> i32 {
    let z = (i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    i32::try_from((z ^ z >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 33).unwrap() % end
}

/// Thousands of regions, one in thirty everywhere and some empty: the share of moved ones
/// determines the method of a step.
fn scattered<const D: usize>(count: usize, seed: usize) -> Vec<Region<i32, D>> {
    let place = |i: usize| {
        let lo: [i32; D] = std::array::from_fn(|d| mixed(seed + D * i + d, 4000) - 2000);
        let width = [60, 60, 60, 4000, 0][if i % 30 == 29 { 3 + i / 30 % 2 } else { i % 3 }];
        Region::new(lo, lo.map(|lo| lo + width))
    };
    (0..count).map(place).collect()
}

fn some_of_thousands<const D: usize>() {
    let (s, u) = (scattered::<D>(2049, 1), scattered::<D>(3000, 500_000));
    let moved = |step: usize, count: usize, of: usize| -> Vec<(u32, Region<i32, D>)> {
        let ids: BTreeSet<u32> =
            (0..count).map(|i| mixed(step * 1000 + i, of as i32).unsigned_abs()).collect();
        ids.into_iter().zip(scattered(count, 7_000_000 * step)).collect()
    };
    let step = |step: usize, s: usize, u: usize| [moved(step, s, 2049), moved(step + 50, u, 3000)];
    check(
        s,
        u,
        &[step(1, 1, 0), step(2, 0, 1), step(3, 9, 9), step(4, 0, 19), step(5, 300, 0), step(6, 7, 7)],
    );
}

#[test]
fn few_and_many_of_thousands_move() {
    some_of_thousands::<2>();
}

#[test]
#[ignore = "long: other numbers of dimensions"]
fn few_and_many_of_thousands_move_in_other_dimensions() {
    some_of_thousands::<1>();
    some_of_thousands::<3>();
    some_of_thousands::<4>();
}

/// Most regions move a little at every step, then some far, then a little again: a step uses the
/// method that suited the last one.
#[test]
fn many_move_near_and_far() {
    let (mut s, mut u) = (scattered::<2>(1500, 1), scattered::<2>(1400, 500_000));
    let (first_s, first_u) = (s.clone(), u.clone());
    let mut steps = Vec::new();
    for step in 0..6 {
        let far = [2, 3].contains(&step);
        let all = |set: &mut Vec<Region<i32, 2>>, seed: usize| -> Vec<(u32, Region<i32, 2>)> {
            let moved = (0..).zip(set.iter_mut()).filter(|(id, _)| (id + step) % 7 != 0);
            moved
                .map(|(id, region)| {
                    let by = if far { 3000 } else { 40 };
                    let by: [i32; 2] =
                        std::array::from_fn(|d| mixed(seed + step * 10_000 + 2 * id + d, by) - by / 2);
                    let shift = |at: [i32; 2]| [at[0] + by[0], at[1] + by[1]];
                    *region = Region::new(shift(region.lo), shift(region.hi));
                    (u32::try_from(id).unwrap(), *region)
                })
                .collect()
        };
        steps.push([all(&mut s, 3), all(&mut u, 4_000_000)]);
    }
    check(first_s, first_u, &steps);
}

/// Sides of one node, of one more region, of two levels, and empty ones.
#[test]
fn sides_around_the_edges_of_nodes() {
    for [n, m] in [[1, 1], [16, 17], [0, 5], [255, 256], [257, 4097]] {
        let (s, u) = (scattered::<2>(n, 3), scattered::<2>(m, 9));
        let last = |count: usize, to| -> Vec<_> {
            let ids = (0..u32::try_from(count).unwrap()).rev().take(3);
            ids.zip(scattered(3, to)).collect()
        };
        check(s, u, &[[last(n, 100), last(m, 200)], [last(n, 300), vec![]], [vec![], last(m, 400)]]);
    }
}

/// One region that covers all others moves to and fro until the trees are rebuilt, and the pairs
/// stay the same.
#[test]
fn trees_are_built_again_between_steps() {
    let (s, mut u) = (scattered::<2>(700, 3), scattered::<2>(400, 9));
    let mut moving = MovingRegions::new(matcher(), &s, &u).unwrap();
    let mut pairs: Pairs = reference::find(&s, &u).into_iter().collect();
    // Each step visits some 700 leaves twice, and the trees are rebuilt after 64 times 1,100.
    for step in 0..70usize {
        let place = step * 13 % 400;
        u[place] = Region::new([-2000, mixed(step, 4000) - 2000], [4000, 4000]);
        let changes = moving.update(&[], &[(u32::try_from(place).unwrap(), u[place])]).unwrap();
        for pair in changes.ended {
            assert!(pairs.remove(&pair), "{pair:?} ended at step {step}");
        }
        for pair in changes.began {
            assert!(pairs.insert(pair), "{pair:?} began at step {step}");
        }
    }
    assert_eq!(pairs, reference::find(&s, &u).into_iter().collect());
}

#[test]
fn bad_moves_are_errors_and_move_nothing() {
    let regions = [Region::new([0], [5]), Region::new([3], [9])];
    let mut moving = MovingRegions::new(matcher(), &regions, &regions).unwrap();
    let fine = (1, Region::new([100], [101]));
    let error = moving.update(&[fine], &[(2, regions[0])]).unwrap_err();
    assert!(matches!(error, MatchingError::UnknownRegion { region: 2, regions: 2, .. }), "{error}");
    let error = moving.update(&[fine, fine], &[]).unwrap_err();
    assert!(matches!(error, MatchingError::MovedTwice { region: 1, .. }), "{error}");
    let error = moving.update(&[fine], &[(0, Region::new([3], [2]))]).unwrap_err();
    assert!(matches!(error, MatchingError::Inverted { region: 0, dimension: 0, .. }), "{error}");
    assert_eq!(moving.matches().unwrap().total(), 4);
    assert_eq!(moving.update(&[], &[]).unwrap(), Default::default());
}
