//! Mean, variance, Student-t interval and quantiles of a column.
//!
//! Columns of integers are summed exactly, so the result depends on neither the order of the
//! replications nor the device. Columns of floating-point numbers are summed in f64 in the order of
//! the replications, with Neumaier's compensation (Z. Angew. Math. Mech. 54, 1974).

use super::error::Result;
use super::observations::{Observations, Pairing, Pool, Values, same_pairing};
use super::student::student_t;
use super::{AnalysisError, Column};

/// A two-sided confidence interval for a mean.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Interval {
    /// The confidence level, such as 0.95.
    pub level: f64,
    /// Half its width: the interval is the mean plus and minus this.
    pub half_width: f64,
    /// Lower end.
    pub lower: f64,
    /// Upper end.
    pub upper: f64,
}

impl Interval {
    /// Whether `value` lies in the interval, ends included.
    pub fn contains(&self, value: f64) -> bool {
        self.lower <= value && value <= self.upper
    }
}

/// Statistics of one column over the replications of one point.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// The column.
    pub name: String,
    /// Replications run, the failed ones included.
    pub replications: u64,
    /// Replications that failed. They are excluded from all numbers below.
    pub failed: u64,
    /// How the replications were drawn.
    pub pairing: Pairing,
    /// Independent observations n: replications that did not fail, or antithetic pairs without
    /// failures.
    pub observations: u64,
    /// Their mean; `None` without observations.
    pub mean: Option<f64>,
    /// Sample variance of one independent observation (divisor n - 1); `None` for n below 2. With
    /// antithetic pairs this is the variance of a pair's mean.
    pub variance: Option<f64>,
    /// Student-t interval with n - 1 degrees of freedom; `None` for n below 2, because the variance
    /// is unknown.
    pub interval: Option<Interval>,
    /// Smallest value of a single replication.
    pub min: Option<f64>,
    /// Largest value of a single replication.
    pub max: Option<f64>,
}

impl Summary {
    /// Half width over the magnitude of the mean. `None` without an interval, and for a mean of 0
    /// unless the half width is 0 as well.
    pub fn relative_half_width(&self) -> Option<f64> {
        let (mean, half) = (self.mean?, self.interval?.half_width);
        if half == 0.0 { Some(0.0) } else { (mean != 0.0).then(|| half / mean.abs()) }
    }
}

impl Observations {
    /// Mean, variance and interval of the column `name` at a confidence level such as 0.95.
    pub fn summary(&self, name: &str, level: f64) -> Result<Summary> {
        let column = self.column(name)?;
        check_level(level)?;
        if let Some(pool) = self.pooled(name) {
            let mut summary = self.of_pool(name, level, &self.pseudo_values(pool)?)?;
            (summary.min, summary.max) = self.range(column);
            return Ok(summary);
        }
        let moments = match &column.values {
            Values::U128(_) | Values::F32(_) | Values::F64(_) => compensated(&self.floats(column)),
            _ => exact(&self.integers(column)),
        };
        // The sums were taken over pairs.
        let members = self.members();
        let mut summary = self.summarise(name, level, moments, members)?;
        (summary.min, summary.max) = self.range(column);
        // Rounding must not move the mean of equal values away from them.
        if let (Some(mean), Some(min), Some(max)) = (summary.mean, summary.min, summary.max) {
            summary.mean = Some(mean.clamp(min, max));
        }
        Ok(summary)
    }

    /// The smallest and the largest value of single replications.
    fn range(&self, column: &Column) -> (Option<f64>, Option<f64>) {
        let values = self.used().map(|replication| column.values.get(replication));
        let finite = values.filter(|value| value.is_finite());
        let range = finite.fold(None, |range: Option<(f64, f64)>, value| {
            Some(range.map_or((value, value), |(min, max)| (min.min(value), max.max(value))))
        });
        range.unzip()
    }

    /// The estimate of a function of means, and the pseudo-values of the jackknife, by independent
    /// observation; no pseudo-values if leaving one out gives no number.
    fn pseudo_values(&self, pool: &Pool) -> Result<(f64, Option<Vec<f64>>)> {
        let from = pool.from.iter().map(|name| Ok(self.floats(self.column(name)?)));
        let from = from.collect::<Result<Vec<_>>>()?;
        let (members, sums) =
            (f64::from(self.members()), from.iter().map(|values| neumaier(values.iter().copied())));
        let sums: Vec<f64> = sums.collect();
        let count = from.first().map_or(0, Vec::len);
        #[allow(clippy::cast_precision_loss, reason = "a count")]
        let of = |sums: &[f64], count: usize| {
            let means: Vec<f64> = sums.iter().map(|sum| sum / (count as f64 * members)).collect();
            (pool.of_means)(&means)
        };
        let estimate = of(&sums, count);
        if count < 2 {
            return Ok((estimate, None));
        }
        let mut rest = vec![0.0; from.len()];
        #[allow(clippy::cast_precision_loss, reason = "a count")]
        let others = (count - 1) as f64;
        let pseudo = (0..count).map(|out| {
            for ((rest, sum), values) in rest.iter_mut().zip(&sums).zip(&from) {
                *rest = sum - values[out];
            }
            let value = estimate + others * (estimate - of(&rest, count - 1));
            value.is_finite().then_some(value)
        });
        Ok((estimate, pseudo.collect()))
    }

    /// The summary of an estimate and its pseudo-values.
    fn of_pool(&self, name: &str, level: f64, pseudo: &(f64, Option<Vec<f64>>)) -> Result<Summary> {
        let (estimate, pseudo) = pseudo;
        let observations = self.observed(|_| 0.0, |_, _| 0.0).len() as u64;
        let variance = pseudo.as_deref().and_then(|pseudo| compensated(pseudo).variance);
        let mean = Some(*estimate).filter(|estimate| estimate.is_finite());
        self.summarise(name, level, Moments { count: observations, mean, variance }, 1)
    }

    /// [`summary`](Self::summary) of every column, in order.
    pub fn summaries(&self, level: f64) -> Result<Vec<Summary>> {
        self.columns().iter().map(|column| self.summary(&column.name, level)).collect()
    }

    /// Quantiles of the column `name` over the single replications, for probabilities from 0
    /// (smallest value) to 1 (largest). `None` without observations.
    ///
    /// The estimator is type 7 of Hyndman and Fan (The American Statistician 50, 1996): linear
    /// between order statistics, the default of R, NumPy and spreadsheets.
    pub fn quantiles(&self, name: &str, probabilities: &[f64]) -> Result<Option<Vec<f64>>> {
        if let Some(&probability) = probabilities.iter().find(|p| !(0.0..=1.0).contains(*p)) {
            return Err(AnalysisError::Probability { probability });
        }
        let column = self.column(name)?;
        let values = self.used().map(|replication| column.values.get(replication));
        // A function of means may not be a number in a replication.
        let mut values: Vec<f64> = values.filter(|value| value.is_finite()).collect();
        values.sort_unstable_by(f64::total_cmp);
        Ok((!values.is_empty()).then(|| probabilities.iter().map(|&p| type7(&values, p)).collect()))
    }

    /// Replications per independent observation.
    fn members(&self) -> u32 {
        match self.pairing() {
            Pairing::Independent => 1,
            Pairing::Antithetic => 2,
        }
    }

    /// One exact integer per independent observation: the replication's value, or the sum of the
    /// pair.
    fn integers(&self, column: &Column) -> Vec<i128> {
        let value = |replication| column.values.integer(replication).expect("a column of integers");
        self.observed(value, |a, b| a + b)
    }

    fn floats(&self, column: &Column) -> Vec<f64> {
        self.observed(|replication| column.values.get(replication), |a, b| a + b)
    }

    /// The independent observations of a column, in their order: replications, or the means of
    /// antithetic pairs. For a function of means, its pseudo-values, which are nearly independent.
    pub(super) fn independent(&self, name: &str) -> Result<Vec<f64>> {
        if let Some(pool) = self.pooled(name) {
            return Ok(self.pseudo_values(pool)?.1.unwrap_or_default());
        }
        let members = f64::from(self.members());
        Ok(self.floats(self.column(name)?).into_iter().map(|sum| sum / members).collect())
    }

    fn observed<T>(&self, value: impl Fn(usize) -> T, join: impl Fn(T, T) -> T) -> Vec<T> {
        match self.pairing() {
            Pairing::Independent => self.used().map(value).collect(),
            Pairing::Antithetic => {
                let even = self.used().filter(|replication| replication % 2 == 0);
                even.map(|replication| join(value(replication), value(replication + 1))).collect()
            }
        }
    }

    /// `moments` are those of `members` times an observation.
    fn summarise(&self, name: &str, level: f64, moments: Moments, members: u32) -> Result<Summary> {
        let members = f64::from(members);
        let mean = moments.mean.map(|mean| mean / members);
        let variance = moments.variance.map(|variance| variance / (members * members));
        Ok(Summary {
            name: name.into(),
            replications: self.replications() as u64,
            failed: self.failures().len() as u64,
            pairing: self.pairing(),
            observations: moments.count,
            mean,
            variance,
            interval: mean
                .zip(variance)
                .map(|(mean, variance)| interval(mean, variance, moments.count, level)),
            min: None,
            max: None,
        })
    }
}

/// Compares two points replication by replication: the summary of `right` minus `left` in the
/// column `name`, with its interval. An interval that excludes 0 means that the points differ, at
/// its level.
///
/// With common random numbers, equal replications of the two points use the same draws, so common
/// effects cancel and the interval of the difference is narrower than those of the points (Law,
/// Simulation Modeling and Analysis, 5th ed., sections 10.2.1 and 11.2). With independent streams
/// the interval is valid too, but not narrower. Each interval holds at its level alone: for k
/// simultaneous comparisons, use the level 1 - (1 - level) / k (Bonferroni).
///
/// A replication that failed at either point is excluded at both.
pub fn compare(left: &Observations, right: &Observations, name: &str, level: f64) -> Result<Summary> {
    check_level(level)?;
    same_pairing(left, right)?;
    let (a, b) = (left.column(name)?, right.column(name)?);
    if left.replications() != right.replications() {
        return Err(AnalysisError::Mismatch {
            what: "number of replications",
            left: left.replications().to_string(),
            right: right.replications().to_string(),
        });
    }
    // Failures of both sides; the columns are differences, which exist if both values exist.
    let both = left.failures().chain(right.failures());
    let joint = Observations::new(left.replications(), Vec::new(), both, left.pairing())?;
    if left.pooled(name).or(right.pooled(name)).is_some() {
        return compare_pools(left, right, &joint, name, level);
    }
    let members = joint.members();
    let mut range: Option<(f64, f64)> = None;
    let mut widen = |difference: f64| {
        range = Some(range.map_or((difference, difference), |(l, h)| (l.min(difference), h.max(difference))));
    };
    #[allow(clippy::cast_precision_loss, reason = "the ends of the range are rounded like all other results")]
    let moments = if a.values.is_integer() && b.values.is_integer() {
        let value = |r: usize| b.values.integer(r).zip(a.values.integer(r)).map_or(0, |(b, a)| b - a);
        joint.used().for_each(|replication| widen(value(replication) as f64));
        exact(&joint.observed(value, |a, b| a + b))
    } else {
        let value = |replication: usize| b.values.get(replication) - a.values.get(replication);
        joint.used().for_each(|replication| widen(value(replication)));
        compensated(&joint.observed(value, |a, b| a + b))
    };
    let mut summary = joint.summarise(name, level, moments, members)?;
    (summary.min, summary.max) = range.unzip();
    Ok(summary)
}

/// Compares two estimates that are functions of means, by the differences of their pseudo-values.
fn compare_pools(
    left: &Observations,
    right: &Observations,
    joint: &Observations,
    name: &str,
    level: f64,
) -> Result<Summary> {
    // A failure on one side is excluded on both.
    let of = |side: &Observations| -> Result<_> {
        let column = side.column(name)?;
        let pool = side.pooled(name).cloned();
        let pool = pool.unwrap_or_else(|| Pool {
            from: vec![name.to_owned()],
            of_means: std::sync::Arc::new(|means: &[f64]| means[0]),
        });
        let mut both = side.clone();
        both.fail(joint.failures());
        Ok((both.pseudo_values(&pool)?, column.clone()))
    };
    let (((a, left), a_column), ((b, right), b_column)) = (of(left)?, of(right)?);
    let pseudo = left.zip(right).map(|(a, b)| a.iter().zip(&b).map(|(a, b)| b - a).collect());
    let mut summary = joint.of_pool(name, level, &(b - a, pseudo))?;
    let differences =
        joint.used().map(|replication| b_column.values.get(replication) - a_column.values.get(replication));
    let finite: Vec<f64> = differences.filter(|value| value.is_finite()).collect();
    summary.min = finite.iter().copied().reduce(f64::min);
    summary.max = finite.iter().copied().reduce(f64::max);
    Ok(summary)
}

/// Checks a confidence level: for programs that read one from their users, before they run
/// anything.
///
/// # Errors
/// [`AnalysisError::Level`].
pub fn check_level(level: f64) -> Result<()> {
    if level > 0.0 && level < 1.0 { Ok(()) } else { Err(AnalysisError::Level { level }) }
}

/// The interval of a mean of `count` (at least 2) independent observations.
#[allow(clippy::cast_precision_loss, reason = "a count")]
pub(super) fn interval(mean: f64, variance: f64, count: u64, level: f64) -> Interval {
    let half_width = student_t(count - 1, level) * (variance / count as f64).sqrt();
    Interval { level, half_width, lower: mean - half_width, upper: mean + half_width }
}

/// Count, mean and sample variance of a sample.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Moments {
    pub(super) count: u64,
    pub(super) mean: Option<f64>,
    pub(super) variance: Option<f64>,
}

/// Moments of integers below 2^65 in magnitude, from exact sums: independent of the order.
///
/// The squares are taken about the integer part c of the mean, so they stay small even for large
/// values: with the remainder r = sum - n c, n (n - 1) times the variance is n times the sum of (x
/// - c)^2, minus r^2.
#[allow(clippy::cast_precision_loss, reason = "each result is rounded once or twice, at the very end")]
fn exact(values: &[i128]) -> Moments {
    let count = values.len() as u64;
    if count == 0 {
        return Moments { count, mean: None, variance: None };
    }
    let n = i128::from(count);
    let sum: i128 = values.iter().sum();
    let (centre, rest) = (sum.div_euclid(n), sum.rem_euclid(n));
    let mean = centre as f64 + rest as f64 / count as f64;
    // Up to 2^132 each: the sum has two parts, the upper one in units of 2^64.
    let (mut high, mut low) = (0_u128, 0_u128);
    for value in values {
        let distance = (value - centre).unsigned_abs();
        let (a, b) = (distance >> 64, distance & u128::from(u64::MAX));
        let square = b * b;
        low += square & u128::from(u64::MAX);
        high += (square >> 64) + 2 * a * b + ((a * a) << 64);
    }
    high += low >> 64;
    low &= u128::from(u64::MAX);
    let variance = (count > 1).then(|| {
        let scaled = if high >> 64 == 0 { ((high << 64) | low).checked_mul(count.into()) } else { None };
        match scaled {
            Some(scaled) => {
                let rest = rest.unsigned_abs();
                (scaled - rest * rest) as f64 / (count as f64 * (count - 1) as f64)
            }
            // The sum is so large that r^2 / n, which is below n, does not cancel its digits.
            None => {
                let squares = high as f64 * 2_f64.powi(64) + low as f64;
                (squares - rest as f64 * (rest as f64 / count as f64)) / (count - 1) as f64
            }
        }
    });
    Moments { count, mean: Some(mean), variance }
}

/// Moments of floating-point numbers in their order, with compensated sums.
#[allow(clippy::cast_precision_loss, reason = "a count")]
pub(super) fn compensated(values: &[f64]) -> Moments {
    let count = values.len() as u64;
    if count == 0 {
        return Moments { count, mean: None, variance: None };
    }
    let n = count as f64;
    let mean = neumaier(values.iter().copied()) / n;
    let variance = (count > 1).then(|| {
        // The second sum corrects for the rounding of the mean (Chan, Golub and LeVeque, The
        // American Statistician 37, 1983).
        let drift = neumaier(values.iter().map(|x| x - mean));
        let squares = neumaier(values.iter().map(|x| (x - mean) * (x - mean)));
        ((squares - drift * drift / n) / (n - 1.0)).max(0.0)
    });
    Moments { count, mean: Some(mean), variance }
}

pub(super) fn neumaier(values: impl Iterator<Item = f64>) -> f64 {
    let (mut sum, mut lost) = (0.0_f64, 0.0);
    for value in values {
        let next = sum + value;
        lost += if sum.abs() >= value.abs() { (sum - next) + value } else { (value - next) + sum };
        sum = next;
    }
    sum + lost
}

/// Type-7 quantile of a nonempty list of sorted values.
#[allow(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "an index"
)]
fn type7(sorted: &[f64], probability: f64) -> f64 {
    let place = (sorted.len() - 1) as f64 * probability;
    let below = place.floor() as usize;
    let above = (below + 1).min(sorted.len() - 1);
    // The minimum: rounding may move the last step past the upper neighbour.
    (sorted[below] + (place - place.floor()) * (sorted[above] - sorted[below])).min(sorted[above])
}
