//! Decimals and wide numbers: the pairs are those of exact integers.

use eventhorizon::matching::decimal::{self, Decimal};
use eventhorizon::matching::{Region, host, narrow, reference};

use super::{ALGORITHMS, matcher};

/// Pseudo-random numbers below a limit.
fn random(seed: u64) -> impl FnMut(i64) -> i64 {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    move |limit| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        i64::try_from(state >> 33).unwrap() % limit
    }
}

/// Positions in centimetres, as a file has them.
fn text(centimetres: i64) -> String {
    let sign = if centimetres < 0 { "-" } else { "" };
    format!("{sign}{}.{:02}", centimetres.abs() / 100, centimetres.abs() % 100)
}

/// The pairs of squares of this width in centimetres around positions, by testing each pair in
/// whole centimetres.
fn by_brute_force(positions: &[[i64; 2]], width: i64) -> Vec<[u32; 2]> {
    let mut pairs = Vec::new();
    for (s, a) in (0..).zip(positions) {
        for (u, b) in (0..).zip(positions) {
            // Half-open squares of one width overlap if their centres are closer than the width in
            // both dimensions.
            if (0..2).all(|d| (i128::from(a[d]) - i128::from(b[d])).abs() < width.into()) {
                pairs.push([s, u]);
            }
        }
    }
    pairs
}

/// Checks the pairs of positions that are written as decimals of metres.
fn check(positions: &[[i64; 2]], width: i64, what: &str) {
    let expected = by_brute_force(positions, width);
    let decimals: Vec<[Decimal; 2]> =
        positions.iter().map(|position| position.map(|place| text(place).parse().unwrap())).collect();
    let regions = decimal::around(&decimals, text(width).parse().unwrap()).unwrap();
    let near = narrow(&regions, &regions).unwrap();
    assert_eq!(reference::find(&near.subscriptions, &near.updates), expected, "{what}");
    for (what_of, pairs) in [
        ("the decimals", host::find(&regions, &regions)),
        ("32-bit bounds", host::find(&near.subscriptions, &near.updates)),
    ] {
        let mut pairs = pairs.unwrap();
        pairs.sort_unstable();
        assert_eq!(pairs, expected, "{what}, {what_of} on the host");
    }
    assert_eq!(host::count(&regions, &regions).unwrap(), expected.len() as u64, "{what}");
    let s = matcher().upload("subscriptions", &near.subscriptions).unwrap();
    let u = matcher().upload("updates", &near.updates).unwrap();
    for algorithm in ALGORITHMS {
        assert_eq!(
            matcher().count(&s, &u, algorithm).unwrap(),
            expected.len() as u64,
            "{what}, {algorithm:?}"
        );
        let mut pairs = matcher().find(&s, &u, algorithm).unwrap().read().unwrap();
        pairs.sort_unstable();
        assert_eq!(pairs, expected, "{what}, {algorithm:?}");
    }
}

#[test]
fn positions_of_a_city_are_matched_to_the_centimetre() {
    let mut below = random(3);
    // Streets 10 m apart, with things every 50 cm: very many of them touch.
    let mut street = || 1_000 * below(30);
    let city: Vec<[i64; 2]> = (0..900)
        .map(|i| {
            let (across, along) = (street(), 50 * (street() / 1_000 * 20 + street() / 1_000));
            if i % 2 == 0 { [across, along] } else { [along, across] }
        })
        .collect();
    check(&city, 500, "a map in centimetres");
    // UTM: 356,000 m east and 5,645,000 m north.
    let utm: Vec<[i64; 2]> = city.iter().map(|[x, y]| [x + 35_600_000, y + 564_500_000]).collect();
    check(&utm, 500, "UTM");
    let mut glitch = utm.clone();
    glitch.insert(450, [0, 0]);
    check(&glitch, 500, "UTM with a position at (0, 0)");
    check(&glitch, 51, "UTM with a position at (0, 0), narrow");
    // More than 2^32 cm, the circumference of the Earth, apart, and at the ends of 17 digits.
    let far = [[0, 0], [1 << 33, 0], [-(1 << 40), 77], [99_999_999_999_999_999, -99_999_999_999_999_999]];
    let towns = city.iter().enumerate().map(|(i, at)| [far[i % 4][0] + at[0], far[i % 4][1] - at[1]]);
    check(&towns.collect::<Vec<_>>(), 500, "towns far apart");
}

#[test]
fn cases_of_touching_decimals() {
    check(&[[230, 0], [120, 0]], 110, "2.3 and 1.2 with a width of 1.1");
    check(&[[51_691, 85_239], [51_191, 85_301]], 500, "516.91 and 511.91 with a width of 5");
    assert_eq!(by_brute_force(&[[230, 0], [120, 0]], 110), [[0, 0], [1, 1]]);
    // Bounds of 64-bit floats are exact, however close they are.
    let next = 1.0_f64.next_up();
    let regions = [Region::new([0.0], [1.0]), Region::new([1.0], [next]), Region::new([1e300], [2e300])];
    let near = narrow(&regions, &regions).unwrap();
    assert_eq!(reference::find(&near.subscriptions, &near.updates), [[0, 0], [1, 1], [2, 2]]);
}
