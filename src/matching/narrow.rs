//! Converts regions with wide bounds to 32-bit regions with the same overlaps.

use rayon::prelude::*;

use super::MatchingError;
use super::region::{Bound, Key, Region};
use super::set::check_all;

/// Two sets of regions for the device: the result of [`narrow`].
#[derive(Debug, Clone, PartialEq)]
pub struct Narrowed<const D: usize> {
    /// The subscriptions, with the indices of the input.
    pub subscriptions: Vec<Region<u32, D>>,
    /// The updates, with the indices of the input.
    pub updates: Vec<Region<u32, D>>,
}

/// Replaces bounds of any type by 32-bit ones such that exactly the same regions overlap.
///
/// In a dimension whose bounds span less than 2^32 units, they become offsets from the smallest
/// one. In others a bound becomes its rank among all bounds of both sets, because only the order of
/// bounds decides overlaps.
///
/// ```
/// use eventhorizon::matching::{MatchingError, Region, narrow, reference};
///
/// // Two towns in centimetres, 10,000 km apart, and a position that was never set.
/// let around = |x: i64| Region::new([x - 50], [x + 50]);
/// let all = [around(0), around(35_600_000), around(35_600_099), around(1_000_035_600_000)];
/// let near = narrow(&all, &all)?;
/// assert_eq!(reference::find(&near.subscriptions, &near.updates), reference::find(&all, &all));
/// # Ok::<(), MatchingError>(())
/// ```
///
/// # Errors
/// [`MatchingError::Inverted`], [`MatchingError::NotANumber`] and [`MatchingError::TooManyRegions`]
/// as for [`Matcher::upload`](super::Matcher::upload).
pub fn narrow<T: Bound, const D: usize>(
    subscriptions: &[Region<T, D>],
    updates: &[Region<T, D>],
) -> Result<Narrowed<D>, MatchingError> {
    check_all("subscriptions", subscriptions)?;
    check_all("updates", updates)?;
    let scales: [BoundScale<T::Key>; D] = std::array::from_fn(|d| BoundScale::new(subscriptions, updates, d));
    let near = |regions: &[Region<T, D>]| {
        let near = |bounds: &[T; D]| std::array::from_fn(|d| scales[d].place(bounds[d].to_key()));
        regions.par_iter().map(|region| Region::new(near(&region.lo), near(&region.hi))).collect()
    };
    Ok(Narrowed { subscriptions: near(subscriptions), updates: near(updates) })
}

/// How the bounds of a dimension become 32-bit numbers.
enum BoundScale<K> {
    /// As the distance from this smallest bound.
    From(K),
    /// As the rank among these, which ascend.
    Ranks(Vec<K>),
}

impl<K: Key> BoundScale<K> {
    fn new<T: Bound<Key = K>, const D: usize>(
        subscriptions: &[Region<T, D>],
        updates: &[Region<T, D>],
        d: usize,
    ) -> Self {
        let bounds = || {
            let regions = subscriptions.par_iter().chain(updates);
            regions.flat_map_iter(move |region| [region.lo[d].to_key(), region.hi[d].to_key()])
        };
        let (Some(least), Some(most)) = (bounds().min(), bounds().max()) else { return Self::Ranks(vec![]) };
        if most.above(least).is_some() {
            return Self::From(least);
        }
        let mut all: Vec<K> = bounds().collect();
        all.par_sort_unstable();
        all.dedup();
        Self::Ranks(all)
    }

    fn place(&self, key: K) -> u32 {
        let place = match self {
            Self::From(least) => key.above(*least),
            Self::Ranks(all) => u32::try_from(all.partition_point(|bound| *bound < key)).ok(),
        };
        // The lengths of the sets were checked: four bounds of 2^30 regions.
        place.expect("fewer than 2^32 places")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matching::reference;
    use proptest::prelude::*;

    /// Bounds that often touch, near each other or at the ends of the 64-bit range.
    fn regions() -> impl Strategy<Value = Vec<Region<i64, 2>>> {
        let far = prop_oneof![
            4 => Just(0),
            2 => Just(564_500_000),
            1 => Just(1 << 32),
            1 => Just(i64::MIN),
            1 => Just(i64::MAX - 60)
        ];
        let place = move || (far.clone(), 0i64..40).prop_map(|(far, near)| far + near);
        let region = (place(), place(), 0i64..20, 0i64..20);
        let region = region.prop_map(|(x, y, w, h)| Region::new([x, y], [x + w, y + h]));
        proptest::collection::vec(region, 0..24)
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 1000, ..ProptestConfig::default() })]

        #[test]
        fn overlaps_are_the_same(s in regions(), u in regions()) {
            let near = narrow(&s, &u).unwrap();
            prop_assert_eq!(reference::find(&near.subscriptions, &near.updates), reference::find(&s, &u));
            let wide = |regions: &[Region<i64, 2>]| -> Vec<_> {
                let wide = |bounds: [i64; 2]| bounds.map(|bound| i128::from(bound) << 60);
                regions.iter().map(|region| Region::new(wide(region.lo), wide(region.hi))).collect()
            };
            let near = narrow(&wide(&s), &wide(&u)).unwrap();
            prop_assert_eq!(reference::find(&near.subscriptions, &near.updates), reference::find(&s, &u));
        }
    }

    #[test]
    fn distances_are_kept_where_they_fit() {
        let (least, most) = (-7_000_000_000_i64, -7_000_000_000 + i64::from(u32::MAX));
        let all = [Region::new([least], [least + 9]), Region::new([least + 5], [most])];
        let near = narrow(&all, &[]).unwrap();
        assert_eq!(near.subscriptions, [Region::new([0], [9]), Region::new([5], [u32::MAX])]);
        assert!(near.updates.is_empty());
        // One more unit, and they become ranks.
        let all = [Region::new([least], [least + 9]), Region::new([least + 5], [most + 1])];
        assert_eq!(narrow(&all, &[]).unwrap().subscriptions, [Region::new([0], [2]), Region::new([1], [3])]);
    }

    #[test]
    fn doubles_keep_every_pair_and_bad_bounds_are_errors() {
        // 32-bit floats have steps of 0.5 here, 64-bit floats of 9e-10.
        let around = |x: f64| Region::new([x - 0.1], [x + 0.1]);
        let all = [around(5_645_000.0), around(5_645_000.15), Region::new([f64::NEG_INFINITY], [-0.0])];
        let near = narrow(&all, &[Region::new([0.0], [f64::INFINITY])]).unwrap();
        assert_eq!(reference::find(&near.subscriptions, &near.updates), [[0, 0], [1, 0]]);
        assert_eq!(reference::find(&near.subscriptions, &near.subscriptions).len(), 5);
        let nan = narrow(&[Region::new([f64::NAN], [1.0])], &[]);
        assert!(matches!(nan, Err(MatchingError::NotANumber { .. })));
        let inverted = narrow(&[], &[around(1.0), Region::new([2.0], [1.0])]);
        let error = inverted.unwrap_err();
        assert!(
            matches!(&error, MatchingError::Inverted { set, region: 1, .. } if set == "updates"),
            "{error}"
        );
    }
}
