//! Regions of 64-bit floats: moved to a common origin, rounded, and refused where that would change what overlaps.

use std::collections::HashMap;

use super::MatchingError;
use super::region::Region;
use super::set::check;

/// Two sets of regions near a common origin, as the device takes them: [`round`].
#[derive(Debug, Clone, PartialEq)]
pub struct Rounded<const D: usize> {
    /// What was taken away from every bound: add it to get the places back.
    pub origin: [f64; D],
    /// The subscriptions; indices are those of the given ones.
    pub subscriptions: Vec<Region<f32, D>>,
    /// The updates likewise.
    pub updates: Vec<Region<f32, D>>,
}

/// Measures the bounds of both sets from the middle of them all and rounds them to 32-bit floats. What comes out has the same
/// overlaps as what went in, or it is an error.
///
/// Rounding keeps the order of two numbers or makes them equal. So it can only lose an overlap, where a lower bound and the
/// higher upper bound of another region become the same number; only such bounds are looked at. The time goes
/// with the number of regions, and with that of pairs of bounds so close.
///
/// ```
/// use eventhorizon::matching::{MatchingError, Region, reference, round};
///
/// // Metres in a map's projection: 32-bit floats are 0.5 m apart here.
/// let around = |x: f64, y: f64| Region::new([x - 0.1, y - 0.1], [x + 0.1, y + 0.1]);
/// let subscriptions = [around(356_000.0, 5_645_000.0), around(356_000.3, 5_645_000.1)];
/// let updates = [around(356_000.15, 5_645_000.05)];
/// let near = round(&subscriptions, &updates)?;
/// assert_eq!(reference::find(&near.subscriptions, &near.updates), [[0, 0], [1, 0]]);
///
/// // Across a continent they are not good enough for half a centimetre.
/// let far = [Region::new([0.0, 0.0], [1.0, 1.0]), Region::new([4e6, 0.0], [4e6 + 0.005, 1.0])];
/// assert!(matches!(round(&far, &far), Err(MatchingError::RoundedAway { region: 1, dimension: 0, .. })));
/// # Ok::<(), MatchingError>(())
/// ```
///
/// # Errors
/// [`MatchingError::Rounded`] for a pair that would no longer overlap, [`MatchingError::RoundedAway`] for a region that would be
/// empty; [`MatchingError::Inverted`], [`MatchingError::NotANumber`] and [`MatchingError::TooManyRegions`] as for
/// [`Matcher::upload`](super::Matcher::upload).
pub fn round<const D: usize>(
    subscriptions: &[Region<f64, D>],
    updates: &[Region<f64, D>],
) -> Result<Rounded<D>, MatchingError> {
    for (set, regions) in [("subscriptions", subscriptions), ("updates", updates)] {
        if u32::try_from(regions.len()).is_err() {
            let (set, regions) = (set.to_owned(), regions.len() as u64);
            return Err(MatchingError::TooManyRegions { set, regions, limit: u32::MAX.into() });
        }
        (0..).zip(regions).try_for_each(|(number, region)| check(set, number, region))?;
    }
    let origin = std::array::from_fn(|d| middle(subscriptions.iter().chain(updates), d));
    for (set, regions) in [("subscriptions", subscriptions), ("updates", updates)] {
        for (number, region) in (0..).zip(regions).filter(|(_, region)| !region.is_empty()) {
            not_emptied(set, number, region, &origin)?;
        }
    }
    for (d, origin) in origin.iter().enumerate() {
        no_overlap_lost(subscriptions, updates, d, *origin, false)?;
        no_overlap_lost(updates, subscriptions, d, *origin, true)?;
    }
    let near = |regions: &[Region<f64, D>]| -> Vec<Region<f32, D>> {
        let near = |bounds: [f64; D]| std::array::from_fn(|d| single(bounds[d], origin[d]));
        regions.iter().map(|region| Region::new(near(region.lo), near(region.hi))).collect()
    };
    Ok(Rounded { origin, subscriptions: near(subscriptions), updates: near(updates) })
}

/// A bound as the device gets it.
#[expect(clippy::cast_possible_truncation, reason = "that is what is checked here")]
fn single(bound: f64, origin: f64) -> f32 {
    // Both zeroes are the same number, and shall be the same bits.
    (bound - origin) as f32 + 0.0
}

/// The middle of all finite bounds in a dimension.
fn middle<'a, const D: usize>(regions: impl Iterator<Item = &'a Region<f64, D>>, d: usize) -> f64 {
    let bounds = regions.flat_map(|region| [region.lo[d], region.hi[d]]).filter(|bound| bound.is_finite());
    let (least, most) = bounds.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| (a.min(x), b.max(x)));
    if least <= most { least / 2.0 + most / 2.0 } else { 0.0 }
}

fn not_emptied<const D: usize>(
    set: &'static str,
    region: u32,
    bounds: &Region<f64, D>,
    origin: &[f64; D],
) -> Result<(), MatchingError> {
    for (dimension, ((lower, upper), origin)) in (0..).zip(bounds.lo.into_iter().zip(bounds.hi).zip(*origin))
    {
        if single(lower, origin) == single(upper, origin) {
            return Err(MatchingError::RoundedAway { set, region, dimension, lower, upper, origin });
        }
    }
    Ok(())
}

/// Looks for a region of `a` and one of `b` that overlap, where the lower bound of the first and the upper bound of the second
/// become the same in dimension `d`. `swapped` says that `a` are the updates.
fn no_overlap_lost<const D: usize>(
    a: &[Region<f64, D>],
    b: &[Region<f64, D>],
    d: usize,
    origin: f64,
    swapped: bool,
) -> Result<(), MatchingError> {
    // Upper bounds by what they become.
    let mut uppers: HashMap<u32, Vec<u32>> = HashMap::with_capacity(b.len());
    for (number, region) in (0..).zip(b) {
        uppers.entry(single(region.hi[d], origin).to_bits()).or_default().push(number);
    }
    for (number, region) in (0u32..).zip(a) {
        for &other in uppers.get(&single(region.lo[d], origin).to_bits()).into_iter().flatten() {
            if region.overlaps(&b[other as usize]) {
                let (subscription, update) = if swapped { (other, number) } else { (number, other) };
                return Err(MatchingError::Rounded {
                    subscription,
                    update,
                    dimension: u32::try_from(d).unwrap_or(u32::MAX),
                    lower: region.lo[d],
                    upper: b[other as usize].hi[d],
                    origin,
                });
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matching::reference;
    use proptest::prelude::*;

    /// Bounds that lie so close, in places so far apart, that rounding sometimes matters and sometimes does not.
    fn regions() -> impl Strategy<Value = Vec<Region<f64, 2>>> {
        let place =
            || (0u32..3, 0u32..40).prop_map(|(far, near)| f64::from(far) * 20.0 + f64::from(near) * 1e-6);
        let width = || (0u32..30).prop_map(|width| f64::from(width) * 1e-6);
        let region = (place(), place(), width(), width())
            .prop_map(|(x, y, w, h)| Region::new([x + 5e6, y - 5e6], [x + w + 5e6, y + h - 5e6]));
        proptest::collection::vec(region, 1..12)
    }

    /// All bounds rounded, without the check.
    fn blindly(regions: &[Region<f64, 2>], origin: [f64; 2]) -> Vec<Region<f32, 2>> {
        let near = |bounds: [f64; 2]| std::array::from_fn(|d| single(bounds[d], origin[d]));
        regions.iter().map(|region| Region::new(near(region.lo), near(region.hi))).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

        #[test]
        fn overlaps_stay_or_it_is_an_error(s in regions(), u in regions()) {
            let exact = reference::find(&s, &u);
            let origin = std::array::from_fn(|d| middle(s.iter().chain(&u), d));
            let rounded = [blindly(&s, origin), blindly(&u, origin)];
            let kept = reference::find(&rounded[0], &rounded[1]);
            let emptied = s.iter().zip(&rounded[0]).chain(u.iter().zip(&rounded[1])).any(|(a, b)| a.is_empty() != b.is_empty());
            match round(&s, &u) {
                Ok(near) => {
                    prop_assert_eq!(near.origin, origin);
                    prop_assert_eq!(kept, exact);
                    prop_assert!(!emptied);
                    prop_assert_eq!([near.subscriptions, near.updates], rounded);
                }
                Err(MatchingError::Rounded { subscription, update, .. }) => {
                    prop_assert!(exact.contains(&[subscription, update]));
                    prop_assert!(!kept.contains(&[subscription, update]));
                }
                Err(MatchingError::RoundedAway { .. }) => prop_assert!(emptied),
                Err(error) => prop_assert!(false, "{}", error),
            }
        }
    }

    #[test]
    fn far_from_the_origin_every_pair_is_found() {
        let mut state = 1u64;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            f64::from(u32::try_from(state >> 32).unwrap()) / 2f64.powi(32)
        };
        let around = |x: f64, y: f64| Region::new([x - 0.5, y - 0.5], [x + 0.5, y + 0.5]);
        let cars: Vec<_> =
            (0..1000).map(|_| around(356_000.0 + 30.0 * random(), 5_645_000.0 + 30.0 * random())).collect();
        let exact = reference::find(&cars, &cars);
        let far = blindly(&cars, [0.0; 2]);
        assert_ne!(reference::find(&far, &far), exact, "the case must be one that naive rounding gets wrong");
        let near = round(&cars, &cars).unwrap();
        assert_eq!(reference::find(&near.subscriptions, &near.updates), exact);
    }

    #[test]
    fn unbounded_regions_keep_their_bounds_and_bad_ones_are_errors() {
        let all = [Region::new([f64::NEG_INFINITY], [f64::INFINITY]), Region::new([7.0], [7.0])];
        let near = round(&all, &all).unwrap();
        assert_eq!(near.origin, [7.0]);
        assert_eq!(
            near.subscriptions,
            [Region::new([f32::NEG_INFINITY], [f32::INFINITY]), Region::new([0.0], [0.0])]
        );
        assert!(matches!(
            round(&[Region::new([f64::NAN], [1.0])], &all),
            Err(MatchingError::NotANumber { .. })
        ));
        assert!(matches!(round(&all, &[Region::new([2.0], [1.0])]), Err(MatchingError::Inverted { .. })));
        // Beyond the largest 32-bit float: not told apart from what has no bound.
        let huge = [Region::new([-1e300], [1e300])];
        let above = [Region::new([1e299], [f64::INFINITY])];
        assert!(matches!(round(&huge, &above), Err(MatchingError::RoundedAway { set: "updates", .. })));
    }
}
