//! Region matching: every algorithm against the CPU, on every shape of input.

mod exact;
mod hla;
mod host;
mod moving;

use std::ops::ControlFlow;
use std::sync::OnceLock;

use crate::common;
use common::{few, gpu, is_long};
use eventhorizon::gpu::Buffer;
use eventhorizon::matching::{Algorithm, Coordinate, Matcher, MatchingError, Region, reference};
use proptest::prelude::*;

const ALGORITHMS: [Algorithm; 6] = [
    Algorithm::Brute,
    Algorithm::Sort,
    Algorithm::IntervalTree,
    Algorithm::Grid { cells: None },
    Algorithm::Grid { cells: Some(3) },
    Algorithm::Auto,
];

/// One matcher for all tests of the file, so that kernels are built once.
fn matcher() -> &'static Matcher {
    static MATCHER: OnceLock<Matcher> = OnceLock::new();
    MATCHER.get_or_init(|| Matcher::new(&gpu()))
}

/// Checks count and pairs of every algorithm against the CPU's brute force.
fn check<T: Coordinate, const D: usize>(subscriptions: &[Region<T, D>], updates: &[Region<T, D>]) {
    check_on(matcher(), subscriptions, updates);
}

fn check_on<T: Coordinate, const D: usize>(
    matcher: &Matcher,
    subscriptions: &[Region<T, D>],
    updates: &[Region<T, D>],
) {
    let expected = reference::find(subscriptions, updates);
    let subscriptions = matcher.upload("subscriptions", subscriptions).unwrap();
    let updates = matcher.upload("updates", updates).unwrap();
    for algorithm in ALGORITHMS {
        let count = matcher.count(&subscriptions, &updates, algorithm).unwrap();
        assert_eq!(count, expected.len() as u64, "count of {algorithm:?}");
        let mut matches = matcher.find(&subscriptions, &updates, algorithm).unwrap();
        assert_eq!(matches.total(), count, "total of {algorithm:?}");
        let mut pairs = matches.read().unwrap();
        pairs.sort_unstable();
        assert_eq!(pairs, expected, "pairs of {algorithm:?}");
    }
}

/// `count` regions at random positions; `shape` determines their distribution.
fn regions<const D: usize>(seed: u64, count: usize, shape: Shape) -> Vec<Region<i32, D>> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut below = move |limit: u32| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        i32::try_from((state >> 33) % u64::from(limit)).unwrap()
    };
    let mut side = |i: usize| match shape {
        Shape::Random => {
            let lo = below(100_000) - 50_000;
            (lo, lo + 1 + below(5_000))
        }
        Shape::Clustered => {
            let lo = below(3) * 1_000_000 + below(300);
            (lo, lo + 1 + below(40))
        }
        Shape::Nested => {
            let inset = i32::try_from(i).unwrap();
            (inset, 1_000_000 - inset)
        }
        Shape::Touching => {
            let lo = below(50) * 10;
            (lo, lo + 10)
        }
        Shape::Identical => (7, 9),
        Shape::ManyEmpty => {
            let lo = below(200);
            (lo, lo + below(2) * below(50))
        }
        Shape::Extremes => (
            if below(2) == 0 { i32::MIN } else { below(9) },
            if below(2) == 0 { i32::MAX } else { 9 + below(9) },
        ),
    };
    (0..count)
        .map(|i| {
            let bounds: [(i32, i32); D] = std::array::from_fn(|_| side(i));
            Region::new(bounds.map(|b| b.0), bounds.map(|b| b.1))
        })
        .collect()
}

#[derive(Debug, Clone, Copy)]
enum Shape {
    Random,
    Clustered,
    Nested,
    Touching,
    Identical,
    ManyEmpty,
    Extremes,
}

const SHAPES: [Shape; 7] = [
    Shape::Random,
    Shape::Clustered,
    Shape::Nested,
    Shape::Touching,
    Shape::Identical,
    Shape::ManyEmpty,
    Shape::Extremes,
];

fn check_shapes<const D: usize>() {
    for (seed, &shape) in (1..).zip(few(if D > 2 { 3 } else { 7 }, &SHAPES)) {
        check(&regions::<D>(seed, 300, shape), &regions::<D>(seed + 100, 270, shape));
    }
}

#[test]
fn every_shape_in_one_dimension() {
    check_shapes::<1>();
}

#[test]
fn every_shape_in_two_dimensions() {
    check_shapes::<2>();
}

#[test]
fn every_shape_in_three_dimensions() {
    check_shapes::<3>();
}

#[test]
fn every_shape_in_four_dimensions() {
    check_shapes::<4>();
}

#[test]
fn every_count_around_the_workgroup_sizes() {
    for (turn, count) in
        [0, 1, 7, 8, 9, 63, 65, 255, 256, 257, 1025, 2047, 2049, 4097].into_iter().enumerate()
    {
        let other = 300 - count.min(299);
        check(&regions::<1>(3, count, Shape::Random), &regions::<1>(4, other, Shape::Random));
        if turn % 3 == 0 || is_long() {
            check(&regions::<2>(5, other, Shape::Random), &regions::<2>(6, count, Shape::Random));
        }
    }
}

/// Intervals at few positions, so that they often touch, coincide or are empty.
fn intervals<const D: usize>() -> impl Strategy<Value = Vec<([u32; D], [u32; D])>> {
    let side = || prop_oneof![0u32..20, Just(u32::MAX - 20)];
    let width = prop_oneof![4 => 0u32..6, 1 => Just(20u32)];
    let region = (proptest::array::uniform::<_, D>(side()), proptest::array::uniform::<_, D>(width));
    let region = region.prop_map(|(lo, width)| (lo, std::array::from_fn::<_, D, _>(|d| lo[d] + width[d])));
    proptest::collection::vec(region, 0..80)
}

fn check_types<const D: usize>(a: &[([u32; D], [u32; D])], b: &[([u32; D], [u32; D])]) {
    let words = |list: &[([u32; D], [u32; D])]| -> Vec<_> {
        list.iter().map(|&(lo, hi)| Region::new(lo, hi)).collect()
    };
    check(&words(a), &words(b));
    // The same positions around zero, for signs and both zeros.
    let signed = |list: &[([u32; D], [u32; D])]| -> Vec<_> {
        let place = |x: u32| x.cast_signed().wrapping_sub(10);
        list.iter()
            .map(|(lo, hi)| (lo.map(place), hi.map(place)))
            .map(|(lo, hi)| Region::<i32, D> {
                lo: std::array::from_fn(|d| lo[d].min(hi[d])),
                hi: std::array::from_fn(|d| lo[d].max(hi[d])),
            })
            .collect()
    };
    check(&signed(a), &signed(b));
    let floats = |list: &[([u32; D], [u32; D])]| -> Vec<_> {
        #[expect(clippy::cast_precision_loss, reason = "small numbers")]
        let place = |x: u32| match x {
            0 => f32::NEG_INFINITY,
            10 => -0.0,
            11 => 0.0,
            x if x > 1000 => f32::INFINITY,
            x => (x as f32 - 10.0) * 1e-40,
        };
        list.iter().map(|(lo, hi)| Region::new(lo.map(place), hi.map(place))).collect()
    };
    check(&floats(a), &floats(b));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: if is_long() { 60 } else { 2 }, ..ProptestConfig::default() })]

    #[test]
    fn any_intervals_of_any_type(a in intervals::<1>(), b in intervals::<1>()) {
        check_types(&a, &b);
    }

    #[test]
    fn any_rectangles_of_any_type(a in intervals::<2>(), b in intervals::<2>()) {
        check_types(&a, &b);
    }

    #[test]
    fn any_boxes_in_four_dimensions(a in intervals::<4>(), b in intervals::<4>()) {
        check_types(&a, &b);
    }

    #[test]
    fn any_boxes_of_any_type(a in intervals::<3>(), b in intervals::<3>()) {
        check_types(&a, &b);
    }
}

/// A matcher assumes the sizes of the last call. If the next sets need more, far less, or another
/// method, neither the pairs nor their order change.
#[test]
fn what_was_matched_before_shows_in_nothing() {
    let sized = |seed: u64, size: [i32; 2]| {
        let mut set = regions::<2>(seed, 3_000, Shape::Random);
        for region in &mut set {
            region.hi = std::array::from_fn(|d| region.lo[d] + size[d]);
        }
        set
    };
    // A few regions as large as the space, which a sample misses.
    let mut few_large = sized(5, [20, 20]);
    for i in 0..9 {
        few_large[257 * i + 3] = Region::new([-50_000; 2], [50_000; 2]);
    }
    let sets = [
        sized(1, [1_000, 1_000]),
        sized(2, [9_000, 9_000]),
        sized(3, [9_000, 10]),
        few_large,
        sized(1, [1_000, 1_000]),
    ];
    let expected = sets.each_ref().map(|set| reference::find(set, &set[..2_500]));
    let used = Matcher::new(&gpu());
    for algorithm in [Algorithm::Auto, Algorithm::Sort, Algorithm::Grid { cells: None }] {
        // Matches that are alive keep their memory.
        let mut held = Vec::new();
        for (set, expected) in sets.iter().zip(&expected) {
            let fresh = Matcher::new(&gpu());
            let pairs = |matcher: &Matcher| {
                let [s, u] = [&set[..], &set[..2_500]].map(|side| matcher.upload("set", side).unwrap());
                let mut matches = matcher.find(&s, &u, algorithm).unwrap();
                (matches.read().unwrap(), matches)
            };
            let ((mut found, matches), (alone, _)) = (pairs(&used), pairs(&fresh));
            assert!(found == alone, "{algorithm:?}: another order");
            found.sort_unstable();
            assert!(found == *expected, "{algorithm:?}");
            held.push((found, matches));
        }
        for (found, mut matches) in held {
            let mut again = matches.read().unwrap();
            again.sort_unstable();
            assert!(again == found, "{algorithm:?}: held while others were made");
        }
    }
}

#[test]
fn pages_hold_every_pair_once_whatever_their_size() {
    let matcher = matcher();
    let (a, b) = (regions::<1>(1, 500, Shape::Touching), regions::<1>(2, 400, Shape::Touching));
    let expected = reference::find(&a, &b);
    let all = u32::try_from(expected.len()).unwrap();
    let (a, b) = (matcher.upload("a", &a).unwrap(), matcher.upload("b", &b).unwrap());
    for algorithm in ALGORITHMS {
        let mut matches = matcher.find(&a, &b, algorithm).unwrap();
        for page_len in [all + 1, 1 + all / 2, 777] {
            matches.set_page_len(page_len);
            let (mut pairs, mut next) = (Vec::new(), 0);
            while let Some(page) = matches.next_page().unwrap() {
                assert_eq!(page.first(), next);
                assert!(page.len() <= page_len);
                next += u64::from(page.len());
                pairs.append(&mut page.read().unwrap());
            }
            pairs.sort_unstable();
            assert_eq!(pairs, expected, "{algorithm:?}, pages of {page_len}");
        }
    }
}

#[test]
fn more_pairs_than_32_bits_are_counted_right() {
    let matcher = matcher();
    let side = vec![Region::new([3u32], [5]); 70_000];
    let regions = matcher.upload("identical", &side).unwrap();
    // Brute force takes minutes for this number on a CPU; it counts with the same prefix sums.
    for algorithm in [Algorithm::Sort, Algorithm::Auto] {
        let mut matches = matcher.find(&regions, &regions, algorithm).unwrap();
        assert_eq!(matches.total(), 4_900_000_000, "{algorithm:?}");
        matches.set_page_len(1000);
        let page = matches.next_page().unwrap().unwrap();
        assert_eq!(page.len(), 1000);
        assert!(page.read().unwrap().iter().all(|[s, u]| *s < 70_000 && *u < 70_000));
    }
}

#[test]
fn bad_bounds_are_errors_that_name_the_region() {
    let matcher = matcher();
    let good = Region::new([1i32, 2], [3, 4]);
    let error = matcher.upload("moving cars", &[good, good, Region::new([0, 9], [5, -9])]).unwrap_err();
    assert!(matches!(error, MatchingError::Inverted { region: 2, dimension: 1, .. }), "{error}");
    let text = error.to_string();
    assert!(text.contains("moving cars") && text.contains('9') && text.contains("-9"), "{text}");
    let bad = [Region::new([0.0], [1.0]), Region::new([f32::NAN], [2.0]), Region::new([2.0], [1.0])];
    let error = matcher.upload("a", &bad).unwrap_err();
    assert!(matches!(error, MatchingError::NotANumber { region: 1, dimension: 0, .. }), "{error}");
    let error = matcher.upload("a", &[Region::new([0.0], [-f32::NAN])]).unwrap_err();
    assert!(matches!(error, MatchingError::NotANumber { region: 0, .. }), "{error}");
}

#[test]
fn checked_and_baseline_kernels_find_the_same() {
    let gpu = gpu();
    let [checked, baseline] =
        [gpu.checked(), gpu.without(wgpu::Features::all())].map(|gpu| Matcher::new(&gpu));
    let lines = [regions::<1>(8, 400, Shape::Random), regions::<1>(9, 300, Shape::ManyEmpty)];
    let boxes = [regions::<3>(8, 300, Shape::Clustered), regions::<3>(9, 200, Shape::Clustered)];
    check_on(&checked, &lines[0], &lines[1]);
    check_on(&baseline, &boxes[0], &boxes[1]);
    if is_long() {
        check_on(&baseline, &lines[0], &lines[1]);
        check_on(&checked, &boxes[0], &boxes[1]);
    }
}

#[test]
fn regions_that_are_on_the_device_are_taken_from_there() {
    let matcher = matcher();
    let rows = regions::<2>(1, 100, Shape::Random);
    let buffer = Buffer::storage_from(matcher.gpu(), "rows", &rows).unwrap();
    let imported = matcher.import("rows", &buffer).unwrap();
    let pairs = matcher.find(&imported, &imported, Algorithm::Sort).unwrap().read().unwrap();
    assert_eq!(pairs.len(), reference::find(&rows, &rows).len());
    assert_eq!(buffer.read(matcher.gpu()).unwrap(), rows);
    buffer.write(matcher.gpu(), 60, &[Region::new([0, 3], [1, 2])]).unwrap();
    let error = matcher.import("rows", &buffer).unwrap_err();
    assert!(matches!(error, MatchingError::Inverted { region: 60, dimension: 1, .. }), "{error}");
}

#[test]
fn a_count_can_be_recorded_again_and_stays_on_the_device() {
    let matcher = matcher();
    let (a, b) = (regions::<1>(1, 3000, Shape::Random), regions::<1>(2, 2500, Shape::ManyEmpty));
    let expected = reference::count(&a, &b);
    let counter =
        matcher.counter(&matcher.upload("a", &a).unwrap(), &matcher.upload("b", &b).unwrap()).unwrap();
    let mut encoder = matcher.gpu().encoder("test");
    counter.record(&mut encoder);
    counter.record(&mut encoder);
    matcher.gpu().submit(encoder).unwrap();
    assert_eq!(counter.total().read(matcher.gpu()).unwrap(), [expected]);
    assert_eq!(counter.count(matcher.gpu()).unwrap(), expected);
}

/// More bounds than all workgroups take at a time, and sides of very different sizes, which are
/// sorted together.
#[test]
fn a_count_of_many_regions_on_one_side() {
    let matcher = matcher();
    let (a, b) = (regions::<1>(1, 4096 * 256 + 300, Shape::Random), regions::<1>(2, 700, Shape::ManyEmpty));
    let sets = [matcher.upload("a", &a).unwrap(), matcher.upload("b", &b).unwrap()];
    let expected = reference::count(&a, &b);
    for [s, u] in [[0, 1], [1, 0]] {
        let counter = matcher.counter_tuned(&sets[s], &sets[u], 1).unwrap();
        assert_eq!(counter.count(matcher.gpu()).unwrap(), expected);
    }
}

#[test]
fn auto_says_what_it_takes() {
    fn choice<const D: usize>(count: usize, size: [i32; D]) -> Algorithm {
        let matcher = matcher();
        let mut set = regions::<D>(1, count, Shape::Random);
        for region in &mut set {
            region.hi = std::array::from_fn(|d| region.lo[d] + size[d]);
        }
        let set = matcher.upload("set", &set).unwrap();
        matcher.choose(&set, &set).unwrap()
    }
    assert_eq!(choice(300, [5_000]), Algorithm::Brute);
    assert_eq!(choice(30_000, [5_000]), Algorithm::Sort);
    assert_eq!(
        choice(30_000, [10, 5_000]),
        Algorithm::Sort,
        "a sweep along the first dimension tests few pairs"
    );
    assert_eq!(choice(30_000, [3_000, 3_000]), Algorithm::Grid { cells: None });
}

#[test]
fn a_count_of_nothing_is_zero() {
    let matcher = matcher();
    let some = matcher.upload("some", &regions::<1>(1, 300, Shape::Random)).unwrap();
    for none in [vec![], vec![Region::new([3], [3]); 300]] {
        let none = matcher.upload("none", &none).unwrap();
        for (a, b) in [(&some, &none), (&none, &some), (&none, &none)] {
            assert_eq!(matcher.counter(a, b).unwrap().count(matcher.gpu()).unwrap(), 0);
        }
    }
}

#[test]
fn a_grid_that_cannot_be_is_an_error() {
    let matcher = matcher();
    let a = matcher.upload("a", &regions::<2>(1, 100, Shape::Random)).unwrap();
    for cells in [0, 1 << 12] {
        let error = matcher.count(&a, &a, Algorithm::Grid { cells: Some(cells) }).unwrap_err();
        assert!(matches!(error, MatchingError::GridCells { dimensions: 2, limit: 2048, .. }), "{error}");
    }
}

#[test]
fn reading_pages_tells_how_far_it_is_and_can_be_stopped() {
    let (s, u) = (regions::<1>(3, 400, Shape::Random), regions::<1>(4, 400, Shape::Random));
    let (s, u) = (matcher().upload("s", &s).unwrap(), matcher().upload("u", &u).unwrap());
    let mut matches = matcher().find(&s, &u, Algorithm::Sort).unwrap();
    let all = matches.read().unwrap();
    matches.set_page_len(100);
    let mut reported = Vec::new();
    assert_eq!(matches.pairs().watch(|pairs| reported.push(pairs)).run().unwrap(), all);
    let expected: Vec<u64> =
        (1..=all.len().div_ceil(100)).map(|page| (100 * page).min(all.len()) as u64).collect();
    assert!(reported == expected && reported.len() > 3, "{reported:?}");
    let stop = |pairs| if pairs >= 200 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
    assert_eq!(matches.pairs().watch(stop).run().unwrap(), all[..200]);
    // The next page continues from there.
    assert_eq!(matches.next_page().unwrap().unwrap().read().unwrap(), all[200..300]);
}

#[test]
fn too_many_regions_are_refused_before_they_are_made() {
    for regions in [u64::from(u32::MAX), u64::MAX] {
        let refused = matcher().check_len::<2>("ships", regions);
        assert!(
            matches!(&refused, Err(MatchingError::TooManyRegions { set, regions: found, .. }) if set == "ships" && *found == regions),
            "{refused:?}"
        );
    }
    matcher().check_len::<4>("ships", 1000).unwrap();
    let small = Matcher::new(&gpu().binding_at_most(1 << 12));
    assert!(matches!(small.check_len::<1>("s", 513), Err(MatchingError::TooManyRegions { limit: 512, .. })));
}
