//! Moving regions: the changes of each step against a matching from scratch.

mod common;

use std::collections::BTreeSet;
use std::sync::OnceLock;

use common::gpu;
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
        let mut began = changes.began.clone();
        began.sort_unstable();
        assert_eq!(began, after.difference(&pairs).copied().collect::<Vec<_>>(), "began");
        let mut ended = changes.ended.clone();
        ended.sort_unstable();
        assert_eq!(ended, pairs.difference(&after).copied().collect::<Vec<_>>(), "ended");
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
