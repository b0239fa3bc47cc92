//! The reference implementation of `shaders/statistics/tally.wgsl`.

use super::wide::{join, split};
use crate::time::Ticks;

shared! {
    "statistics/tally.wgsl":
    /// Count, sum, sum of squares, smallest and largest of 64-bit observations, exactly; for
    /// example waiting times in ticks.
    ///
    /// A model stores it in its state, in the same 64 bytes on both sides: `struct Tally` of
    /// `statistics/tally.wgsl`, which is aligned to 16 bytes there. The default (and a zeroed one)
    /// is empty and counts every observation; [`Tally::since`] ignores those of a warm-up.
    ///
    /// ```
    /// use eventhorizon::statistics::Tally;
    /// use eventhorizon::time::Ticks;
    ///
    /// let mut wait = Tally::since(Ticks::new(100));
    /// wait.add(Ticks::new(99), 1000); // the warm-up
    /// wait.add(Ticks::new(100), 3);
    /// wait.add(Ticks::new(250), 5);
    /// assert_eq!((wait.count(), wait.mean(), wait.variance()), (2, Some(4.0), Some(2.0)));
    /// assert_eq!((wait.minimum(), wait.maximum()), (Some(3), Some(5)));
    /// ```
    #[derive(Default, PartialEq, Eq, Hash)]
    pub struct Tally {
        // Of 128 bits, low half first.
        sum: [u64; 2],
        // All ones if it does not fit.
        squares: [u64; 2],
        // 0 while `count` is 0.
        minimum: u64,
        maximum: u64,
        count: u64,
        since: Ticks,
    }
}

impl Tally {
    /// An empty tally that begins at `time`: earlier observations do not count. WGSL:
    /// `tally_since`.
    pub fn since(time: Ticks) -> Self {
        Self { since: time, ..Self::default() }
    }

    /// Adds the observation `value`, made at `time`. WGSL: `tally_add`.
    pub fn add(&mut self, time: Ticks, value: u64) {
        if time < self.since {
            return;
        }
        let square = u128::from(value) * u128::from(value);
        self.sum = split(join(self.sum).saturating_add(value.into()));
        self.squares = split(join(self.squares).saturating_add(square));
        self.minimum = if self.count == 0 { value } else { self.minimum.min(value) };
        self.maximum = self.maximum.max(value);
        self.count = self.count.wrapping_add(1);
    }

    /// Adds all observations of another tally, as if they had been made here: pools logical
    /// processes, or replications with observations of equal weight. Its own beginning does not
    /// change.
    pub fn merge(&mut self, other: &Self) {
        if other.count == 0 {
            return;
        }
        self.sum = split(join(self.sum).saturating_add(join(other.sum)));
        self.squares = split(join(self.squares).saturating_add(join(other.squares)));
        self.minimum = if self.count == 0 { other.minimum } else { self.minimum.min(other.minimum) };
        self.maximum = self.maximum.max(other.maximum);
        self.count = self.count.saturating_add(other.count);
    }

    /// A tally from sums; `squares` is all ones if they do not fit, `minimum` 0 without
    /// observations.
    pub(crate) fn of([sum, squares]: [u128; 2], [minimum, maximum, count]: [u64; 3], since: Ticks) -> Self {
        Self { sum: split(sum), squares: split(squares), minimum, maximum, count, since }
    }

    /// Number of observations.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Their sum.
    pub fn sum(&self) -> u128 {
        join(self.sum)
    }

    /// The sum of their squares; `None` if it reached 2^128 - 1, which takes observations of 2^32
    /// and more, or very many.
    pub fn squares(&self) -> Option<u128> {
        Some(join(self.squares)).filter(|&squares| squares != u128::MAX)
    }

    /// The smallest; `None` without observations.
    pub fn minimum(&self) -> Option<u64> {
        (self.count > 0).then_some(self.minimum)
    }

    /// The largest; `None` without observations.
    pub fn maximum(&self) -> Option<u64> {
        (self.count > 0).then_some(self.maximum)
    }

    /// Their mean; `None` without observations.
    #[expect(clippy::cast_precision_loss, reason = "rounded at the very end")]
    pub fn mean(&self) -> Option<f64> {
        let (centre, rest) = self.centre()?;
        Some(centre as f64 + rest as f64 / self.count as f64)
    }

    /// Their sample variance (divisor n - 1), from exact sums: no digits are lost even if the
    /// observations are large and their variance is small. `None` for fewer than two, and if
    /// [`squares`](Self::squares) is `None`.
    ///
    /// Observations of one run depend on each other: use the variance to describe them, but not for
    /// an interval of their mean. For that use replications, or
    /// [`batch_means`](super::batch_means).
    #[expect(clippy::cast_precision_loss, reason = "rounded at the very end")]
    pub fn variance(&self) -> Option<f64> {
        let n = u128::from(self.count);
        if n < 2 {
            return None;
        }
        // With the integer part c of the mean and the remainder r = sum - n c, D = squares - n c^2
        // - 2 c r, and n (n - 1) times the variance is n D - r^2. Nothing overflows in a valid
        // tally, since n c^2 and 2 c r are parts of the squares; other bytes have no variance.
        let (c, r) = self.centre()?;
        let whole = c.checked_mul(c)?.checked_mul(n)?;
        let squares = self.squares()?.checked_sub(whole)?.checked_sub(c.checked_mul(r)?.checked_mul(2)?)?;
        let (count, rest) = (self.count as f64, r as f64);
        match squares.checked_mul(n) {
            Some(scaled) => Some(scaled.checked_sub(r * r)? as f64 / (count * (count - 1.0))),
            // The sum is so large that r^2 / n, which is below n, does not change its digits.
            None => Some((squares as f64 - rest * (rest / count)) / (count - 1.0)),
        }
    }

    /// Integer part of the mean, and the rest of the sum.
    fn centre(&self) -> Option<(u128, u128)> {
        let (sum, count) = (self.sum(), u128::from(self.count));
        (count > 0).then(|| (sum / count, sum % count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn tally(values: &[u64]) -> Tally {
        let mut tally = Tally::default();
        values.iter().for_each(|&value| tally.add(Ticks::ZERO, value));
        tally
    }

    /// Observations of all magnitudes, including those at the edges of words.
    fn values() -> impl Strategy<Value = Vec<u64>> {
        let value = prop_oneof![
            0..10_u64,
            any::<u64>().prop_flat_map(|bits| (0..64_u32).prop_map(move |shift| bits >> shift)),
            (0..3_u64).prop_map(|distance| u64::MAX - distance),
            ((1 << 32) - 2..(1_u64 << 32) + 2),
        ];
        proptest::collection::vec(value, 0..40)
    }

    /// `None` if the sum does not fit.
    fn squares(values: &[u64]) -> Option<u128> {
        values.iter().try_fold(0_u128, |sum, &value| sum.checked_add(u128::from(value).pow(2)))
    }

    proptest! {
        #[test]
        fn sums_are_exact(values in values()) {
            let tally = tally(&values);
            prop_assert_eq!(tally.count(), values.len() as u64);
            prop_assert_eq!(tally.sum(), values.iter().map(|&value| u128::from(value)).sum::<u128>());
            prop_assert_eq!(tally.squares(), squares(&values));
            prop_assert_eq!(tally.minimum(), values.iter().min().copied());
            prop_assert_eq!(tally.maximum(), values.iter().max().copied());
        }

        #[test]
        fn merging_is_adding(all in values(), cut in 0..40_usize) {
            let (left, right) = all.split_at(cut.min(all.len()));
            let mut merged = tally(left);
            merged.merge(&tally(right));
            prop_assert_eq!(merged, tally(&all));
        }

        #[test]
        fn moments_are_those_of_the_definition(values in proptest::collection::vec(0..1_u64 << 40, 2..40), shift in 0..1_u64 << 60) {
            let plain = tally(&values);
            let n = values.len() as i128;
            let sum: i128 = values.iter().map(|&value| i128::from(value)).sum();
            // n (n - 1) times the variance, as an integer.
            let scaled: i128 = values.iter().map(|&value| n * i128::from(value).pow(2)).sum::<i128>() - sum * sum;
            let expected = scaled as f64 / (n * (n - 1)) as f64;
            let variance = plain.variance().unwrap();
            prop_assert!((variance - expected).abs() <= 1e-15 * expected, "{variance} {expected}");
            let mean = sum as f64 / n as f64;
            prop_assert!((plain.mean().unwrap() - mean).abs() <= 1e-15 * mean);
            // A mean of 2^60 costs no digit of the variance.
            let shifted: Vec<u64> = values.iter().map(|value| value + shift).collect();
            prop_assert_eq!(tally(&shifted).variance(), Some(variance));
        }
    }

    #[test]
    fn nothing_and_one_observation_have_no_moments() {
        let empty = Tally::default();
        assert_eq!(
            (empty.mean(), empty.variance(), empty.minimum(), empty.maximum()),
            (None, None, None, None)
        );
        let one = tally(&[7]);
        assert_eq!(
            (one.mean(), one.variance(), one.minimum(), one.maximum()),
            (Some(7.0), None, Some(7), Some(7))
        );
        let mut merged = one;
        merged.merge(&empty);
        assert_eq!(merged, one);
    }

    #[test]
    fn squares_that_do_not_fit_are_none_and_the_rest_is_exact() {
        let mut large = tally(&[u64::MAX]);
        assert_eq!(large.squares(), Some(u128::from(u64::MAX).pow(2)));
        large.add(Ticks::ZERO, u64::MAX);
        assert_eq!((large.squares(), large.variance()), (None, None));
        assert_eq!((large.sum(), large.mean()), (2 * u128::from(u64::MAX), Some(u64::MAX as f64)));
        large.add(Ticks::ZERO, 0);
        let mut merged = tally(&[1]);
        merged.merge(&large);
        assert_eq!((merged.squares(), merged.count(), merged.minimum()), (None, 4, Some(0)));
    }

    #[test]
    fn a_variance_whose_scaled_squares_do_not_fit_is_right() {
        // 3 D is beyond 2^128: (2^64 - 1)^2 * 2 / 3.
        let spread = tally(&[0, 0, u64::MAX]).variance().unwrap();
        let expected = 2_f64.powi(128) / 3.0;
        assert!((spread - expected).abs() < 1e-15 * expected, "{spread}");
    }

    #[test]
    fn a_warm_up_does_not_count() {
        let begin = Ticks::new(1 << 40);
        let mut tally = Tally::since(begin);
        tally.add(Ticks::new((1 << 40) - 1), 1);
        assert_eq!(tally, Tally::since(begin));
        tally.add(begin, 2);
        tally.add(Ticks::NEVER, 3);
        assert_eq!((tally.count(), tally.sum(), tally.minimum()), (2, 5, Some(2)));
    }

    #[test]
    fn bytes_that_are_no_tally_do_no_harm() {
        for words in
            [[u64::MAX; 8], [1, 1, 0, 0, 0, 0, 1, 0], [0, 1, 5, 0, 0, 0, 2, 0], [9, 0, 1, 0, 0, 0, 2, 0]]
        {
            let mut tally: Tally = bytemuck::cast(words);
            assert_eq!(tally.variance(), None, "{words:?}");
            tally.mean();
            tally.add(Ticks::NEVER, u64::MAX);
            let same = tally;
            tally.merge(&same);
        }
    }
}
