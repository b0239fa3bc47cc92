//! Chooses a resolution for the times of a model.

use super::Resolution;

/// Candidate ticks per unit: decimals, then sixtieths and their decimals, then binary fractions.
/// There are few, so that a small change of a model seldom changes its ticks.
const LADDERS: [&[u32]; 3] = [
    &[1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000],
    &[3_600, 36_000, 360_000, 3_600_000, 36_000_000, 360_000_000, 3_600_000_000],
    &[1 << 20, 1 << 30],
];

/// Minimum ticks of a mean time: variates are rounded down, by half a tick on average.
const FINE: f64 = 65_536.0;

/// Maximum ticks of a run: 2^62.
const MOST: f64 = 4_611_686_018_427_387_904.0;

impl Resolution {
    /// The smallest of some 20 resolutions at which `constants` are whole ticks, the `shortest`
    /// mean time has at least 2^16 ticks, and a run has at most 2^62. All arguments are in units; a
    /// `run` of 0 means a run of unknown length.
    ///
    /// If no resolution satisfies all, the run's bound has priority, then the bound of the mean.
    /// Then the fewest constants are rounded, by as little as possible.
    /// [`is_exact`](Self::is_exact) and [`is_fine`](Self::is_fine) report which conditions hold.
    /// Choose once for all points of an experiment.
    ///
    /// ```
    /// # use eventhorizon::time::Resolution;
    /// let seconds = Resolution::for_times(&[0.1, 2.5], 0.1, 100_000.05);
    /// assert_eq!(seconds.ticks_per_unit(), 1_000_000);
    /// assert!(seconds.is_exact(0.1) && !Resolution::default().is_exact(0.1));
    /// ```
    pub fn for_times(constants: &[f64], shortest: f64, run: f64) -> Self {
        let fits = |&rung: &u32| rung == 1 || run.max(0.0) * f64::from(rung) <= MOST;
        let rungs = LADDERS.iter().flat_map(|rungs| rungs.iter().copied()).filter(fits);
        let tried = rungs.map(|ticks_per_unit| {
            let rung = Self { ticks_per_unit };
            let rounded = constants.iter().filter(|&&units| !rung.is_exact(units)).count();
            (rung, rung.is_fine(shortest), rounded)
        });
        let tried: Vec<_> = tried.collect();
        let best = tried.iter().find(|&&(_, fine, rounded)| fine && rounded == 0).or_else(|| {
            let worth = |&&(rung, fine, rounded): &&(Self, bool, usize)| {
                (fine, std::cmp::Reverse(rounded), rung.ticks_per_unit)
            };
            tried.iter().max_by_key(worth)
        });
        best.expect("one tick per unit is always tried").0
    }

    /// Whether `units` are a whole number of ticks, to the precision of `f64`: 0.1 is, at ten ticks
    /// per unit.
    pub fn is_exact(self, units: f64) -> bool {
        let per_unit = f64::from(self.ticks_per_unit);
        // The nearest number of ticks converts back to the same f64, and no other number does.
        (units * per_unit).round() / per_unit == units
    }

    /// Whether times with this mean can be drawn without a noticeable bias: the mean has at least
    /// 2^16 ticks.
    pub fn is_fine(self, mean: f64) -> bool {
        mean * f64::from(self.ticks_per_unit) >= FINE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(constants: &[f64], shortest: f64, run: f64) -> u32 {
        Resolution::for_times(constants, shortest, run).ticks_per_unit()
    }

    #[test]
    fn decimals_sixtieths_and_binary_fractions_are_exact() {
        assert_eq!(chosen(&[], 1.0, 1e6), 100_000);
        assert_eq!(chosen(&[0.1, 0.05], 0.05, 100_000.05), 10_000_000);
        assert_eq!(chosen(&[0.123_456_789], 1.0, 1e6), 1_000_000_000);
        assert_eq!(chosen(&[100.0, 0.5], 1e6, 1e9), 10);
        // 1.72 and 1.81 seconds in hours.
        assert_eq!(chosen(&[], 1.72 / 3600.0, 1e5), 1_000_000_000);
        assert_eq!(chosen(&[1.72 / 3600.0], 1.72 / 3600.0, 1e5), 360_000_000);
        assert_eq!(chosen(&[1.0 / 3.0, 0.1], 0.1, 1e6), 3_600_000);
        assert_eq!(chosen(&[2.0_f64.powi(-17)], 1.0, 1e6), 1 << 20);
    }

    #[test]
    fn what_cannot_be_is_as_near_as_it_may() {
        // Thirds and binary fractions together: one of the two is rounded by a small amount.
        let both = Resolution::for_times(&[1.0 / 3.0, 2.0_f64.powi(-20)], 1.0, 1e6);
        assert_eq!(both.ticks_per_unit(), 3_600_000_000);
        assert!(both.is_exact(1.0 / 3.0) && !both.is_exact(2.0_f64.powi(-20)));
        // A run so long that the mean has few ticks.
        assert_eq!(chosen(&[0.1], 0.001, 1e13), 360_000);
        assert!(!Resolution::for_times(&[0.1], 0.001, 1e13).is_fine(0.001));
        // A run too long for 64 bits, and numbers that are not times.
        assert_eq!(chosen(&[0.1], 1.0, 1e30), 1);
        assert_eq!(chosen(&[], f64::INFINITY, f64::NAN), 1);
        assert_eq!(chosen(&[f64::NAN], f64::NAN, 0.0), 3_600_000_000);
    }

    #[test]
    fn exact_is_exact_in_whole_numbers() {
        for ticks in [1_u32, 7, 10, 3_600, 1 << 20, 1_000_000_000, u32::MAX] {
            let resolution = Resolution::new(ticks).unwrap();
            for number in [1_u64, 2, 3, 7, 1_000, 999_999_937, 1 << 40] {
                #[expect(clippy::cast_precision_loss, reason = "below 2^53")]
                let units = number as f64 / f64::from(ticks);
                assert!(resolution.is_exact(units), "{number}/{ticks}");
                assert_eq!(resolution.ticks(units).unwrap().get(), number);
            }
        }
        assert!(!Resolution::new(1 << 20).unwrap().is_exact(0.1));
        assert!(!Resolution::new(10).unwrap().is_exact(0.05));
    }
}
