//! Means, ratios and deviations over independent parts of an experiment: replications, or batches
//! of one run.
//!
//! A mean of times is a sum over a count, and both are random. The average of the parts' own means
//! is biased if parts are short: a part with few observations weighs as much as one with many. So
//! sums are pooled over the parts, and the interval comes from the jackknife (Miller, The
//! jackknife: a review, Biometrika 61, 1974).

use super::error::Result;
use super::series::lag1;
use super::student::student_t;
use super::summary::{Moments, check_level, compensated, neumaier};
use super::{Interval, Pairing, Summary};

/// The kind of estimate from the pooled parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Estimator {
    /// The average of one value per part.
    Mean,
    /// A sum over a count: a mean of times, a share.
    Ratio,
    /// The standard deviation of all observations of all parts. Its interval is symmetric on the
    /// logarithmic scale.
    Deviation,
}

impl Estimator {
    /// Numbers per part.
    pub(crate) fn width(self) -> usize {
        match self {
            Self::Mean => 1,
            Self::Ratio => 2,
            Self::Deviation => 3,
        }
    }
}

/// The contribution of a replication or a batch to an estimate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Part {
    /// Observations, or the denominator of a ratio; 0 if nothing was observed.
    pub(crate) count: f64,
    /// Their sum, or the numerator.
    pub(crate) sum: f64,
    /// The sum of their squared distances from their own mean.
    pub(crate) squares: f64,
}

impl Part {
    /// A single value; NaN if it is missing.
    pub(crate) fn value(value: f64) -> Self {
        Self { count: f64::from(u8::from(!value.is_nan())), sum: value, squares: 0.0 }
    }

    /// A numerator and a denominator.
    pub(crate) fn ratio(sum: f64, count: f64) -> Self {
        Self { count, sum, squares: 0.0 }
    }

    /// The estimate from this part alone.
    pub(crate) fn own(&self, estimator: Estimator) -> f64 {
        match estimator {
            Estimator::Mean | Estimator::Ratio => self.sum / self.count,
            Estimator::Deviation if self.count <= 1.0 => f64::NAN,
            Estimator::Deviation => (self.squares / (self.count - 1.0)).sqrt(),
        }
    }

    /// Its contribution to the sum. A numerator counts even if its denominator is 0; NaN means that
    /// there is no numerator. Values and deviations without observations have no sum.
    fn numerator(&self, estimator: Estimator) -> f64 {
        let nothing = match estimator {
            Estimator::Ratio => self.sum.is_nan(),
            Estimator::Mean | Estimator::Deviation => true,
        };
        if self.count <= 0.0 && nothing { 0.0 } else { self.sum }
    }
}

/// The parts of an experiment, from which one measure is estimated.
#[derive(Debug, Clone)]
pub(crate) struct Pooled {
    estimator: Estimator,
    /// By part, `Estimator::width` numbers each.
    numbers: Vec<f64>,
    unit: f64,
}

/// Equal to the bit: missing values, which are NaN, equal each other.
impl PartialEq for Pooled {
    fn eq(&self, other: &Self) -> bool {
        let bits = |pooled: &Self| {
            let numbers = pooled.numbers.iter().chain([&pooled.unit]);
            numbers.map(|number| number.to_bits()).collect::<Vec<_>>()
        };
        self.estimator == other.estimator && bits(self) == bits(other)
    }
}

impl Pooled {
    /// Without parts.
    pub(crate) fn new(estimator: Estimator) -> Self {
        Self { estimator, numbers: Vec::new(), unit: 1.0 }
    }

    /// The same, with sums in ticks and an estimate in units of `ticks` ticks.
    #[must_use]
    pub(crate) fn in_units(self, ticks: f64) -> Self {
        Self { unit: ticks, ..self }
    }

    /// Adds a part.
    pub(crate) fn push(&mut self, part: Part) {
        let Part { count, sum, squares } = part;
        match self.estimator {
            Estimator::Mean => self.numbers.push(if count > 0.0 { sum / count } else { f64::NAN }),
            Estimator::Ratio => self.numbers.extend([count, sum]),
            Estimator::Deviation => self.numbers.extend([count, sum, squares]),
        }
    }

    /// The number of parts.
    pub(crate) fn len(&self) -> usize {
        self.numbers.len() / self.estimator.width()
    }

    /// The kind of estimate.
    pub(crate) fn estimator(&self) -> Estimator {
        self.estimator
    }

    /// Ticks of a unit of the estimate.
    pub(crate) fn unit(&self) -> f64 {
        self.unit
    }

    /// The parts, as numbers to store in a file.
    pub(crate) fn numbers(&self) -> &[f64] {
        &self.numbers
    }

    /// Adds parts from a file: `Estimator::width` numbers each.
    pub(crate) fn restore(&mut self, numbers: impl Iterator<Item = f64>) {
        self.numbers.extend(numbers);
    }

    /// The parts.
    pub(crate) fn parts(&self) -> impl ExactSizeIterator<Item = Part> + '_ {
        self.numbers.chunks_exact(self.estimator.width()).map(|numbers| match *numbers {
            [value] => Part::value(value),
            [count, sum] => Part::ratio(sum, count),
            [count, sum, squares] => Part { count, sum, squares },
            _ => unreachable!("a part has no other width"),
        })
    }

    /// The estimate from each part alone; not finite without observations.
    pub(crate) fn each(&self) -> impl ExactSizeIterator<Item = f64> + '_ {
        self.parts().map(|part| part.own(self.estimator) / self.unit)
    }

    /// The number of parts with observations, or with a numerator.
    pub(crate) fn observed(&self) -> usize {
        let has = |part: &Part| part.count > 0.0 || part.numerator(self.estimator) != 0.0;
        self.parts().filter(|part| has(part) && self.counts(part)).count()
    }

    /// Discards all observations, but not the number of parts.
    pub(crate) fn forget(&mut self) {
        let nothing = Part { sum: f64::NAN, ..Part::ratio(0.0, 0.0) };
        let parts = self.len();
        self.numbers.clear();
        (0..parts).for_each(|_| self.push(nothing));
    }

    /// The estimate with its Student interval, from independent parts. `observations` counts the
    /// parts with observations: the interval has one degree of freedom less. `variance` is the
    /// variance of a part's pseudo-value.
    ///
    /// The interval of a deviation corrects for the skewness of its pseudo-values (Hall, On the
    /// removal of skewness by transformation, J. R. Statist. Soc. B 54, 1992).
    ///
    /// # Errors
    /// [`AnalysisError::Level`](super::AnalysisError::Level).
    pub(crate) fn summary(&self, name: &str, level: f64) -> Result<Summary> {
        Ok(self.reported(name, level, false)?.0)
    }

    /// The estimate with its interval, from consecutive parts of one run, such as batches; and
    /// whether they are correlated, more than independent parts are 19 times in 20.
    ///
    /// The interval is wider if neighbours are correlated, as for an autoregressive process of the
    /// first order with their correlation, and corrects for the skewness.
    ///
    /// # Errors
    /// [`AnalysisError::Level`](super::AnalysisError::Level).
    pub(crate) fn serial_summary(&self, name: &str, level: f64) -> Result<(Summary, bool)> {
        self.reported(name, level, true)
    }

    fn reported(&self, name: &str, level: f64, serial: bool) -> Result<(Summary, bool)> {
        check_level(level)?;
        let mut summary = Summary {
            name: name.to_owned(),
            replications: self.len() as u64,
            failed: 0,
            pairing: Pairing::Independent,
            observations: self.observed() as u64,
            mean: None,
            variance: None,
            interval: None,
            min: None,
            max: None,
        };
        for value in self.each().filter(|value| value.is_finite()) {
            summary.min = Some(summary.min.map_or(value, |min| min.min(value)));
            summary.max = Some(summary.max.map_or(value, |max| max.max(value)));
        }
        let Some(Jackknife { estimate, pseudo, log }) = self.jackknife() else { return Ok((summary, false)) };
        let scale = |value: f64| if log { value.exp() } else { value } / self.unit;
        let mut centre = scale(estimate);
        if self.estimator == Estimator::Mean {
            // Rounding must not move the mean of equal values away from them.
            centre = summary.min.zip(summary.max).map_or(centre, |(min, max)| centre.clamp(min, max));
        }
        summary.mean = Some(centre);
        let Some(pseudo) = pseudo.filter(|_| summary.observations > 1) else { return Ok((summary, false)) };
        let spread = PseudoMoments::of(&pseudo);
        // On the scale of a deviation, to the first order.
        let slope = if log { centre } else { 1.0 / self.unit };
        summary.variance = Some(spread.variance * slope * slope);
        let (mut freedom, mut error) = (summary.observations - 1, spread.error());
        let mut correlated = false;
        if serial {
            let (lag, alike) = lag1(&pseudo);
            correlated = alike;
            // The estimate of a correlation is too low by one over the number of parts.
            let lag = (lag + 1.0 / spread.count).clamp(0.0, MOST_ALIKE);
            error *= ((1.0 + lag) / (1.0 - lag)).sqrt();
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "fewer than before")]
            #[expect(clippy::cast_precision_loss, reason = "a count")]
            let fewer = (freedom as f64 * (1.0 - lag) / (1.0 + lag)) as u64;
            freedom = fewer.max(freedom.min(LEAST_FREEDOM));
        }
        let quantile = student_t(freedom, level);
        let skewness = if serial || log { spread.skewness / spread.count.sqrt() } else { 0.0 };
        let [up, down] = [quantile, -quantile].map(|quantile| error * unskewed(skewness, quantile));
        summary.interval = Some(if skewness == 0.0 && !log {
            let half_width = up / self.unit;
            Interval { level, half_width, lower: centre - half_width, upper: centre + half_width }
        } else {
            let (lower, upper) = (scale(estimate - up), scale(estimate - down));
            Interval { level, half_width: (upper - lower) / 2.0, lower, upper }
        });
        Ok((summary, correlated))
    }

    fn jackknife(&self) -> Option<Jackknife> {
        let parts: Vec<Part> = self.parts().filter(|part| self.counts(part)).collect();
        let count = neumaier(parts.iter().map(|part| part.count));
        let sum = neumaier(parts.iter().map(|part| part.numerator(self.estimator)));
        if count <= 0.0 || !sum.is_finite() {
            return None;
        }
        match self.estimator {
            Estimator::Mean => {
                let pseudo = parts.iter().map(|part| part.sum).collect();
                Some(Jackknife { estimate: sum / count, pseudo: Some(pseudo), log: false })
            }
            Estimator::Ratio => Some(ratio(&parts, count, sum / count)),
            Estimator::Deviation => deviation(&parts, count, sum / count),
        }
    }

    /// Whether a part counts: for ratios and deviations, also a part without observations.
    fn counts(&self, part: &Part) -> bool {
        self.estimator != Estimator::Mean || part.sum.is_finite()
    }
}

/// Upper bound of the correlation of neighbours, and lower bound of the degrees of freedom.
const MOST_ALIKE: f64 = 0.8;
const LEAST_FREEDOM: u64 = 3;

/// An estimate, and the pseudo-values of its parts: their mean is the estimate without its
/// first-order bias, and their variance gives its error. For a deviation, estimate and
/// pseudo-values are logarithms, which have no such bias.
struct Jackknife {
    estimate: f64,
    pseudo: Option<Vec<f64>>,
    log: bool,
}

/// Of a ratio: leaving out a part changes it by its residual over the rest of the count.
fn ratio(parts: &[Part], count: f64, estimate: f64) -> Jackknife {
    #[expect(clippy::cast_precision_loss, reason = "a count")]
    let others = parts.len() as f64 - 1.0;
    let pseudo = parts.iter().map(|part| {
        let (sum, rest) = (part.numerator(Estimator::Ratio), count - part.count);
        (rest > 0.0).then(|| estimate + others * (sum - estimate * part.count) / rest)
    });
    Jackknife { estimate, pseudo: pseudo.collect(), log: false }
}

/// Of the logarithm of a deviation. Moments are about the pooled mean, so that no digits cancel.
fn deviation(parts: &[Part], count: f64, mean: f64) -> Option<Jackknife> {
    // By part: count, first and second moment.
    let about = |part: &Part| {
        if part.count <= 0.0 {
            return [0.0; 3];
        }
        let distance = part.sum / part.count - mean;
        [part.count, part.count * distance, part.squares + part.count * distance * distance]
    };
    let moments: Vec<_> = parts.iter().map(about).collect();
    let squares = neumaier(moments.iter().map(|moments| moments[2]));
    if count < 2.0 || !squares.is_finite() {
        return None;
    }
    let variance = squares / (count - 1.0);
    if variance <= 0.0 {
        return Some(Jackknife { estimate: 0.0, pseudo: Some(vec![0.0; parts.len()]), log: false });
    }
    #[expect(clippy::cast_precision_loss, reason = "a count")]
    let number = parts.len() as f64;
    let log = variance.ln() / 2.0;
    let without = |[some, first, second]: [f64; 3]| {
        let rest = count - some;
        let left = (squares - second - first * first / rest) / (rest - 1.0);
        (rest > 1.0 && left > 0.0).then(|| number * log - (number - 1.0) * left.ln() / 2.0)
    };
    let pseudo: Option<Vec<f64>> = moments.iter().map(|&moments| without(moments)).collect();
    let estimate = pseudo.as_ref().map(|pseudo| neumaier(pseudo.iter().copied()) / number);
    if let Some(estimate) = estimate.filter(|estimate| (estimate - log).abs() <= MOST_BIAS) {
        return Some(Jackknife { estimate, pseudo, log: true });
    }
    // One part almost determines the deviation: use the first order, which leaves out no part.
    let delta = |&[some, _, second]: &[f64; 3]| log + (second / variance - some) * number / (2.0 * count);
    Some(Jackknife { estimate: log, pseudo: Some(moments.iter().map(delta).collect()), log: true })
}

/// The largest bias of a logarithm for which the jackknife is used.
const MOST_BIAS: f64 = 0.25;

/// Moments of pseudo-values.
struct PseudoMoments {
    count: f64,
    variance: f64,
    skewness: f64,
}

impl PseudoMoments {
    /// Of at least two values.
    fn of(values: &[f64]) -> Self {
        let Moments { mean: Some(mean), variance: Some(variance), .. } = compensated(values) else {
            unreachable!("there are two")
        };
        #[expect(clippy::cast_precision_loss, reason = "a count")]
        let count = values.len() as f64;
        let third = neumaier(values.iter().map(|value| (value - mean).powi(3))) / count;
        let skewness = third / (variance * (count - 1.0) / count).powf(1.5);
        Self { count, variance, skewness: if skewness.is_finite() { skewness } else { 0.0 } }
    }

    /// The standard error of their mean.
    fn error(&self) -> f64 {
        (self.variance / self.count).sqrt()
    }
}

/// The inverse of Hall's transformation: the quantile of a skewed mean, from that of a symmetric
/// one. `skewness` is the skewness of the mean.
fn unskewed(skewness: f64, quantile: f64) -> f64 {
    match skewness.abs() < 1e-6 {
        true => quantile,
        false => 3.0 / skewness * ((1.0 + skewness * (quantile - skewness / 6.0)).cbrt() - 1.0),
    }
}

/// The interval of the mean of two or more independent, skewed values, from a quantile of Student's
/// distribution.
pub(crate) fn unskewed_interval(values: &[f64], student: f64) -> [f64; 2] {
    let spread = PseudoMoments::of(values);
    let mean = neumaier(values.iter().copied()) / spread.count;
    let skewness = spread.skewness / spread.count.sqrt();
    [student, -student].map(|quantile| mean - spread.error() * unskewed(skewness, quantile))
}

#[cfg(test)]
#[expect(clippy::cast_precision_loss, reason = "small counts")]
mod tests {
    use super::*;
    use crate::random::Stream;

    /// Samples of random sizes, a few of them empty.
    fn samples(number: u64) -> Vec<Vec<f64>> {
        let mut stream = Stream::new(5, 7, number);
        (0..12)
            .map(|_| {
                let size = stream.below(9);
                let shift = f64::from(stream.below(100));
                (0..size).map(|_| shift + f64::from(stream.below(1000)) / 8.0).collect()
            })
            .collect()
    }

    fn part(sample: &[f64]) -> Part {
        let (count, sum) = (sample.len() as f64, sample.iter().sum::<f64>());
        let squares = sample.iter().map(|value| (value - sum / count).powi(2)).sum();
        Part { count, sum, squares }
    }

    fn pooled(estimator: Estimator, samples: &[Vec<f64>]) -> Pooled {
        let mut pooled = Pooled::new(estimator);
        samples.iter().for_each(|sample| pooled.push(part(sample)));
        pooled
    }

    /// By the definition, from all observations at once.
    fn direct(estimator: Estimator, samples: &[Vec<f64>]) -> f64 {
        let all: Vec<f64> = samples.iter().flatten().copied().collect();
        let mean = all.iter().sum::<f64>() / all.len() as f64;
        match estimator {
            Estimator::Deviation => {
                let squares: f64 = all.iter().map(|value| (value - mean).powi(2)).sum();
                (squares / (all.len() - 1) as f64).ln() / 2.0
            }
            _ => mean,
        }
    }

    fn near(found: f64, expected: f64) {
        assert!((found - expected).abs() <= 1e-10 * expected.abs().max(1.0), "{found} {expected}");
    }

    #[test]
    fn the_jackknife_is_that_of_leaving_each_part_out() {
        for number in 0..20 {
            let samples = samples(number);
            for estimator in [Estimator::Ratio, Estimator::Deviation] {
                let all = direct(estimator, &samples);
                let parts = samples.len() as f64;
                let pseudo = (0..samples.len()).map(|out| {
                    let mut rest = samples.clone();
                    rest[out].clear();
                    parts * all - (parts - 1.0) * direct(estimator, &rest)
                });
                let expected: Vec<f64> = pseudo.collect();
                let found = pooled(estimator, &samples).jackknife().unwrap();
                let pseudo = found.pseudo.unwrap();
                pseudo.iter().zip(&expected).for_each(|(&found, &expected)| near(found, expected));
                // The results computed from them.
                let mean = expected.iter().sum::<f64>() / parts;
                let spread: f64 = expected.iter().map(|value| (value - mean).powi(2)).sum();
                let error = (spread / (parts - 1.0) / parts).sqrt();
                let summary = pooled(estimator, &samples).summary("x", 0.9).unwrap();
                let observed = samples.iter().filter(|sample| !sample.is_empty()).count() as u64;
                assert_eq!((summary.replications, summary.observations), (12, observed));
                let interval = summary.interval.unwrap();
                if estimator == Estimator::Ratio {
                    near(summary.mean.unwrap(), all);
                    near(interval.half_width, student_t(observed - 1, 0.9) * error);
                } else {
                    near(summary.mean.unwrap(), mean.exp());
                    near(summary.variance.unwrap().sqrt(), mean.exp() * error * parts.sqrt());
                    assert!(interval.lower > 0.0 && interval.contains(mean.exp()));
                }
            }
        }
    }

    #[test]
    fn the_quantile_of_a_skewed_mean_is_the_inverse_of_halls_transformation() {
        for skewness in [-1.5, -0.2, 0.0, 1e-7, 0.4, 1.0] {
            for quantile in [-4.0, -1.0, 0.0, 0.3, 2.0] {
                let x = unskewed(skewness, quantile);
                let back = x + skewness * x * x / 3.0 + skewness.powi(2) * x.powi(3) / 27.0 + skewness / 6.0;
                assert!((back - quantile).abs() < 1e-6, "{skewness} {quantile} {back}");
            }
        }
    }

    #[test]
    fn parts_that_are_alike_widen_the_interval() {
        let parts = |values: &[f64]| {
            let mut pooled = Pooled::new(Estimator::Mean);
            values.iter().for_each(|&value| pooled.push(Part::value(value)));
            let (serial, correlated) = pooled.serial_summary("x", 0.95).unwrap();
            let wider = serial.interval.unwrap().half_width
                / pooled.summary("x", 0.95).unwrap().interval.unwrap().half_width;
            (wider, correlated)
        };
        let (slow, correlated) = parts(&[1.0, 2.0, 3.0, 4.0, 5.0, 5.0, 4.0, 3.0, 2.0, 1.0]);
        assert!(slow > 2.0 && correlated, "{slow}");
        // A negative correlation does not narrow the interval.
        let (quick, correlated) = parts(&[1.0, 5.0, 2.0, 4.0, 3.0, 3.0, 4.0, 2.0, 5.0, 1.0]);
        assert!((0.99..1.05).contains(&quick) && !correlated, "{quick}");
    }

    #[test]
    fn parts_weigh_as_much_as_they_observe() {
        let samples = [vec![1.0], vec![], vec![4.0, 5.0, 6.0]];
        let ratio = pooled(Estimator::Ratio, &samples).summary("x", 0.95).unwrap();
        assert_eq!(
            (ratio.mean, ratio.observations, ratio.min, ratio.max),
            (Some(4.0), 2, Some(1.0), Some(5.0))
        );
        let mean = pooled(Estimator::Mean, &samples).summary("x", 0.95).unwrap();
        assert_eq!((mean.mean, mean.observations, mean.replications), (Some(3.0), 2, 3));
        // Sums in ticks.
        let ticks = pooled(Estimator::Ratio, &samples).in_units(8.0).summary("x", 0.95).unwrap();
        assert_eq!((ticks.mean, ticks.max), (Some(0.5), Some(0.625)));
        assert_eq!(ticks.interval.unwrap().half_width, ratio.interval.unwrap().half_width / 8.0);
    }

    #[test]
    fn a_numerator_without_a_denominator_counts() {
        let ratio = |parts: &[(f64, f64)]| {
            let mut pooled = Pooled::new(Estimator::Ratio);
            parts.iter().for_each(|&(sum, count)| pooled.push(Part::ratio(sum, count)));
            pooled
        };
        let parts = [(10.0, 2.0), (3.0, 0.0), (20.0, 5.0), (0.0, 0.0), (7.0, 3.0)];
        let found = ratio(&parts).jackknife().unwrap();
        assert_eq!(found.estimate, 4.0);
        // By leaving out each part.
        let rest = |out: usize| {
            let left = parts.iter().enumerate().filter(|(place, _)| *place != out);
            let [sum, count] = left.fold([0.0; 2], |sum, (_, part)| [sum[0] + part.0, sum[1] + part.1]);
            5.0 * 4.0 - 4.0 * sum / count
        };
        let pseudo = found.pseudo.unwrap();
        pseudo.iter().enumerate().for_each(|(out, &found)| near(found, rest(out)));
        let summary = ratio(&parts).summary("x", 0.95).unwrap();
        assert_eq!((summary.mean, summary.observations, summary.replications), (Some(4.0), 4, 5));
        assert_eq!((summary.min, summary.max), (Some(7.0 / 3.0), Some(5.0)));
        // Discarded parts add nothing.
        let mut taken = ratio(&parts[..3]);
        taken.forget();
        taken.push(Part::ratio(8.0, 4.0));
        let summary = taken.summary("x", 0.95).unwrap();
        assert_eq!((summary.mean, summary.observations, summary.replications), (Some(2.0), 1, 4));
    }

    #[test]
    fn a_deviation_of_nothing_or_of_one_value_is_no_value() {
        let samples = [vec![], vec![3.0], vec![1.0, 3.0], vec![2.0, 8.0]];
        let summary = pooled(Estimator::Deviation, &samples).summary("x", 0.95).unwrap();
        assert_eq!((summary.min, summary.max), (Some(2_f64.sqrt()), Some(18_f64.sqrt())));
        let summary = pooled(Estimator::Deviation, &samples[..2]).summary("x", 0.95).unwrap();
        assert_eq!((summary.min, summary.max, summary.mean), (None, None, None));
    }

    #[test]
    fn what_does_not_vary_has_no_width() {
        let samples = vec![vec![0.7; 3], vec![0.7; 5], vec![0.7]];
        for (estimator, value) in [(Estimator::Ratio, 0.7), (Estimator::Deviation, 0.0)] {
            let summary = pooled(estimator, &samples).summary("x", 0.95).unwrap();
            near(summary.mean.unwrap(), value);
            assert!(summary.interval.unwrap().half_width < 1e-12);
        }
        // Without the second part nothing varies: the interval is that of the first order.
        let samples = vec![vec![2.0, 2.0], vec![1.0, 5.0], vec![2.0, 2.0]];
        let summary = pooled(Estimator::Deviation, &samples).summary("x", 0.95).unwrap();
        assert!(summary.interval.is_some_and(|interval| interval.lower > 0.0 && interval.upper.is_finite()));
    }

    #[test]
    fn too_few_observations_have_no_interval() {
        let nothing = pooled(Estimator::Ratio, &[vec![], vec![]]).summary("x", 0.95).unwrap();
        assert_eq!((nothing.mean, nothing.interval), (None, None));
        let one = pooled(Estimator::Ratio, &[vec![], vec![3.0, 5.0]]).summary("x", 0.95).unwrap();
        assert_eq!((one.mean, one.interval, one.observations), (Some(4.0), None, 1));
        let one = pooled(Estimator::Deviation, &[vec![3.0]]).summary("x", 0.95).unwrap();
        assert_eq!((one.mean, one.interval), (None, None));
        // Squares that did not fit.
        let mut lost = pooled(Estimator::Deviation, &[vec![1.0, 2.0], vec![1.0, 4.0]]);
        lost.push(Part { count: 2.0, sum: 3.0, squares: f64::NAN });
        assert_eq!(lost.summary("x", 0.95).unwrap().mean, None);
        assert!(lost.summary("x", 1.0).is_err());
    }

    #[test]
    fn a_large_mean_takes_no_digit_of_a_deviation() {
        let mut large = Pooled::new(Estimator::Deviation);
        let mut small = large.clone();
        for (count, mean, squares) in [(10.0, 2.0, 40.0), (20.0, 4.0, 90.0), (30.0, 1.0, 130.0)] {
            large.push(Part { count, sum: count * (mean + 2_f64.powi(20)), squares });
            small.push(Part { count, sum: count * mean, squares });
        }
        let [large, small] = [large, small].map(|pooled| pooled.summary("x", 0.95).unwrap());
        let near = |found: f64, expected: f64| assert!((found / expected - 1.0).abs() < 1e-8);
        near(large.mean.unwrap(), small.mean.unwrap());
        near(large.interval.unwrap().upper, small.interval.unwrap().upper);
    }
}
