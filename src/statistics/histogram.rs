//! The reference implementation of `shaders/statistics/histogram.wgsl`, and histograms on the host.

use std::fmt;

use super::AnalysisError;
use super::error::Result;

/// The bin of `value` among `bins`. Bin 0 holds values below `low`, the last bin values from
/// `low + (bins - 2) * width` on; the bins between them have a width of `width` each. The result is
/// below `bins`, and 0 if `bins` is 0.
///
/// With a width of 0 the inner bins are empty, and all values not below `low` are in the last bin.
/// WGSL: `histogram_bin`.
///
/// ```
/// use eventhorizon::statistics::histogram_bin;
///
/// // Below 100, 100 to 149, 150 to 199, and from 200 on.
/// assert_eq!([99, 100, 149, 150, 200, 1000].map(|value| histogram_bin(value, 100, 50, 4)), [0, 1, 1, 2, 3, 3]);
/// ```
pub fn histogram_bin(value: u64, low: u64, width: u64, bins: u32) -> u32 {
    let Some(above) = value.checked_sub(low) else { return 0 };
    let inner = bins.saturating_sub(2);
    let fits = above.checked_div(width).map_or(inner, |fits| u32::try_from(fits).unwrap_or(u32::MAX));
    (fits.min(inner) + 1).min(bins.saturating_sub(1))
}

/// A histogram of 64-bit values with the bins of [`histogram_bin`]: counts from arrays of models,
/// or values added on the host.
///
/// ```
/// use eventhorizon::statistics::Histogram;
///
/// let mut waits = Histogram::new(0, 10, 5)?;
/// waits.add_counts(&[0, 6, 3, 1, 0])?; // of one LP
/// waits.add_counts(&[0, 2, 4, 0, 0])?; // of another one
/// assert_eq!(waits.total(), 16);
/// assert_eq!(waits.quantile(0.5)?, Some(10.0));
/// println!("{waits}");
/// # Ok::<(), eventhorizon::statistics::AnalysisError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Histogram {
    low: u64,
    width: u64,
    /// At least two.
    counts: Vec<u64>,
}

impl Histogram {
    /// An empty histogram of `bins` bins: one below `low`, one above, and between them `bins - 2`
    /// of `width` each, from `low` on, in the unit of the values.
    ///
    /// # Errors
    /// [`AnalysisError::Setting`] for fewer than 2 bins, or more than 2^32 - 1.
    pub fn new(low: u64, width: u64, bins: usize) -> Result<Self> {
        let refuse =
            |remedy| AnalysisError::Setting { what: "number of bins", value: bins.to_string(), remedy };
        match u32::try_from(bins) {
            Err(_) => Err(refuse("use fewer and wider bins; models number them by a word")),
            Ok(0 | 1) => {
                Err(refuse("use at least 2, below and above, and one more for each range between them"))
            }
            Ok(_) => Ok(Self { low, width, counts: vec![0; bins] }),
        }
    }

    /// Counts a value.
    pub fn add(&mut self, value: u64) {
        let bins = u32::try_from(self.counts.len()).expect("checked when it was made");
        let bin = histogram_bin(value, self.low, self.width, bins);
        self.counts[bin as usize] += 1;
    }

    /// Adds the counts of a model's array.
    ///
    /// # Errors
    /// [`AnalysisError::Mismatch`] if the numbers of bins differ.
    pub fn add_counts(&mut self, counts: &[u32]) -> Result<()> {
        same("number of bins", self.counts.len(), counts.len())?;
        for (sum, &count) in self.counts.iter_mut().zip(counts) {
            *sum += u64::from(count);
        }
        Ok(())
    }

    /// Adds the counts of another histogram.
    ///
    /// # Errors
    /// [`AnalysisError::Mismatch`] if the bins differ.
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        same("number of bins", self.counts.len(), other.counts.len())?;
        same("lowest value of the inner bins", self.low, other.low)?;
        same("width of bins", self.width, other.width)?;
        for (sum, count) in self.counts.iter_mut().zip(&other.counts) {
            *sum += count;
        }
        Ok(())
    }

    /// The bins' counts: below `low`, the inner ones, and above.
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// The number of counted values.
    pub fn total(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// The value below which the share `probability` of all values lies, with values evenly spread
    /// within each bin. `None` if it lies in the first or the last bin, which are unbounded, or if
    /// nothing was counted.
    ///
    /// # Errors
    /// [`AnalysisError::Probability`] outside of 0 ..= 1.
    #[expect(clippy::cast_precision_loss, reason = "interpolated")]
    pub fn quantile(&self, probability: f64) -> Result<Option<f64>> {
        if !(0.0..=1.0).contains(&probability) {
            return Err(AnalysisError::Probability { probability });
        }
        let rank = probability * self.total() as f64;
        let (mut below, last) = (0_u64, self.counts.len() - 1);
        for (bin, &count) in self.counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            // Sums of all counts are exact; `rank` is rounded, but not above the total.
            if rank <= (below + count) as f64 {
                let share = (rank - below as f64).max(0.0) / count as f64;
                let inner = bin != 0 && bin != last;
                return Ok(inner.then(|| self.edge(bin) as f64 + share * self.width as f64));
            }
            below += count;
        }
        Ok(None)
    }

    /// The lower edge of a bin other than the first.
    fn edge(&self, bin: usize) -> u128 {
        u128::from(self.low) + u128::from(self.width) * (bin as u128 - 1)
    }
}

fn same<T: PartialEq + fmt::Display>(what: &'static str, left: T, right: T) -> Result<()> {
    let differ = || AnalysisError::Mismatch { what, left: left.to_string(), right: right.to_string() };
    if left == right { Ok(()) } else { Err(differ()) }
}

impl fmt::Display for Histogram {
    /// Prints a line per bin: its lower edge, its count, and a bar of at most 40 characters. A
    /// nonempty bin has a bar of at least one.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const BAR: u128 = 40;
        let most = self.counts.iter().copied().max().unwrap_or(0);
        let starts = (0..self.counts.len()).map(|bin| match bin {
            0 => format!("< {}", self.low),
            bin => format!(">= {}", self.edge(bin)),
        });
        let starts: Vec<_> = starts.collect();
        let start_width = starts.iter().map(String::len).max().unwrap_or(0);
        let count_width = most.to_string().len();
        for (start, &count) in starts.iter().zip(&self.counts) {
            let length = (u128::from(count) * BAR).div_ceil(u128::from(most.max(1)));
            let bar = "#".repeat(usize::try_from(length).expect("at most 40"));
            let line = format!("{start:>start_width$}  {count:>count_width$}  {bar}");
            writeln!(f, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Bin by bin, in 128 bits.
    fn brute(value: u64, low: u64, width: u64, bins: u32) -> u32 {
        let start = |bin: u32| u128::from(low) + u128::from(width) * u128::from(bin - 1);
        (1..bins).take_while(|&bin| start(bin) <= u128::from(value)).last().unwrap_or(0)
    }

    fn word() -> impl Strategy<Value = u64> {
        prop_oneof![
            0..20_u64,
            any::<u64>().prop_flat_map(|bits| (0..64_u32).prop_map(move |shift| bits >> shift)),
            (0..3_u64).prop_map(|distance| u64::MAX - distance),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 4000, ..ProptestConfig::default() })]
        #[test]
        fn bins_are_those_of_the_definition(low in word(), width in word(), bins in 0..70_u32, value in word(), near in 0..80_u64, off in 0..3_u64) {
            // Also a value near an edge.
            let edge = low.wrapping_add(width.wrapping_mul(near)).wrapping_add(off).wrapping_sub(1);
            for value in [value, edge] {
                prop_assert_eq!(histogram_bin(value, low, width, bins), brute(value, low, width, bins));
            }
        }

        #[test]
        fn adding_counting_and_merging_are_one(values in proptest::collection::vec(0..100_u64, 0..60), low in 0..40_u64, width in 0..9_u64, bins in 2..12_u32) {
            let mut all = Histogram::new(low, width, bins as usize).unwrap();
            values.iter().for_each(|&value| all.add(value));
            prop_assert_eq!(all.total(), values.len() as u64);
            let mut counts = vec![0_u32; bins as usize];
            let mut halves = [(); 2].map(|()| Histogram::new(low, width, bins as usize).unwrap());
            for (number, &value) in values.iter().enumerate() {
                counts[histogram_bin(value, low, width, bins) as usize] += 1;
                halves[number % 2].add(value);
            }
            let mut counted = Histogram::new(low, width, bins as usize).unwrap();
            counted.add_counts(&counts).unwrap();
            let [mut left, right] = halves;
            left.merge(&right).unwrap();
            prop_assert_eq!(&counted, &all);
            prop_assert_eq!(&left, &all);
        }
    }

    #[test]
    fn bins_at_the_ends_of_the_range() {
        assert_eq!(histogram_bin(u64::MAX, 0, 1, u32::MAX), u32::MAX - 1);
        assert_eq!(histogram_bin(u64::MAX, 0, 1 << 32, u32::MAX), u32::MAX - 1);
        assert_eq!(histogram_bin(u64::MAX, 0, 1 << 33, u32::MAX), 1 << 31);
        assert_eq!(histogram_bin(u64::from(u32::MAX) - 3, 0, 1, u32::MAX), u32::MAX - 2);
        assert_eq!(histogram_bin(u64::MAX, u64::MAX, u64::MAX, 3), 1);
        assert_eq!([0, 1, 2].map(|bins| histogram_bin(5, 0, 1, bins)), [0, 0, 1]);
        assert_eq!(histogram_bin(5, 5, 0, 9), 8);
    }

    #[test]
    fn quantiles_are_interpolated_within_a_bin() {
        let mut histogram = Histogram::new(100, 10, 6).unwrap();
        histogram.add_counts(&[1, 4, 0, 2, 0, 1]).unwrap();
        let quantile = |p| histogram.quantile(p).unwrap();
        assert_eq!(quantile(0.0), None);
        assert_eq!(quantile(1.0 / 8.0), None);
        assert_eq!(quantile(2.0 / 8.0), Some(102.5));
        assert_eq!(quantile(5.0 / 8.0), Some(110.0));
        assert_eq!(quantile(6.0 / 8.0), Some(125.0));
        assert_eq!(quantile(7.0 / 8.0), Some(130.0));
        assert_eq!(quantile(1.0), None);
        for p in [-0.1, 1.1, f64::NAN] {
            assert!(matches!(histogram.quantile(p), Err(AnalysisError::Probability { .. })), "{p}");
        }
        assert_eq!(Histogram::new(100, 10, 6).unwrap().quantile(0.5).unwrap(), None);
        let mut inner = Histogram::new(100, 10, 4).unwrap();
        inner.add_counts(&[0, 3, 3, 0]).unwrap();
        assert_eq!([0.0, 1.0].map(|p| inner.quantile(p).unwrap()), [Some(100.0), Some(120.0)]);
    }

    #[test]
    fn other_bins_are_refused() {
        for bins in [0, 1, 1 << 32] {
            assert!(matches!(Histogram::new(0, 1, bins), Err(AnalysisError::Setting { .. })), "{bins}");
        }
        let mut histogram = Histogram::new(0, 1, 4).unwrap();
        assert!(histogram.add_counts(&[1; 5]).is_err());
        for (low, width, bins) in [(1, 1, 4), (0, 2, 4), (0, 1, 5)] {
            let error = histogram.merge(&Histogram::new(low, width, bins).unwrap()).unwrap_err();
            assert!(matches!(error, AnalysisError::Mismatch { .. }), "{error}");
        }
        assert_eq!(histogram.total(), 0);
    }

    #[test]
    fn it_prints_bars() {
        let mut histogram = Histogram::new(5, 10, 5).unwrap();
        histogram.add_counts(&[0, 80, 41, 1, 2]).unwrap();
        let expected = format!(
            "  < 5   0\n >= 5  80  {}\n>= 15  41  {}\n>= 25   1  #\n>= 35   2  #\n",
            "#".repeat(40),
            "#".repeat(21)
        );
        assert_eq!(histogram.to_string(), expected);
    }
}
