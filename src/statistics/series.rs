//! Series of observations within one replication: the end of its warm-up, and intervals from batch
//! means.
//!
//! Observations within a replication depend on each other and start from an arbitrary state.
//! Independent replications avoid the first problem; these methods address the second, and single
//! long runs.

use super::AnalysisError;
use super::error::Result;
use super::summary::{Interval, Moments, check_level, compensated, interval};

/// The end of the warm-up of a series by the rule MSER-5: the number of observations to remove from
/// its start.
///
/// The series is averaged in groups of 5. The cut d minimises the squared standard error of the
/// remaining groups, as if they were independent: the sum of (y - mean)^2 over them, divided by
/// their number squared (White, Cobb and Spratt, A comparison of five steady-state truncation
/// heuristics for simulation, Winter Simulation Conference 2000).
///
/// A cut in the second half means that the series is too short, and is an error. The earliest of
/// equal minima counts. Up to 4 observations at the end, which fill no group, are ignored.
pub fn mser5(series: &[f64]) -> Result<usize> {
    check_series(series)?;
    let groups: Vec<f64> = series.chunks_exact(5).map(|group| group.iter().sum::<f64>() / 5.0).collect();
    if groups.len() < 10 {
        return Err(AnalysisError::ShortSeries { method: "MSER-5", needed: 50, got: series.len() });
    }
    // From the end, with Welford's update. The last 5 groups are excluded: the variance of so few
    // groups is erratic.
    let (mut count, mut mean, mut squares) = (0.0, 0.0, 0.0);
    let mut best = (f64::INFINITY, 0);
    for (cut, &group) in groups.iter().enumerate().rev() {
        count += 1.0;
        let distance = group - mean;
        mean += distance / count;
        squares += distance * (group - mean);
        let statistic = squares / (count * count);
        if count >= 5.0 && statistic <= best.0 {
            best = (statistic, cut);
        }
    }
    let cut = best.1 * 5;
    if best.1 * 2 > groups.len() {
        return Err(AnalysisError::NotSettled { observations: series.len(), cut });
    }
    Ok(cut)
}

/// The mean of one series with its interval, from the means of batches.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct BatchMeans {
    /// Number of batches.
    pub batches: usize,
    /// Observations per batch.
    pub batch_size: usize,
    /// Observations removed at the start because they fill no batch.
    pub left_out: usize,
    /// Mean of the batches.
    pub mean: f64,
    /// Student-t interval with batches - 1 degrees of freedom. It is valid only if the batches are
    /// not correlated.
    pub interval: Interval,
    /// Lag-1 autocorrelation of the batch means, by von Neumann's ratio: 1 minus the sum of squared
    /// successive differences over twice the sum of squared deviations. 0 for equal batch means.
    pub lag1: f64,
    /// Whether `lag1` exceeds the 95 % quantile for independent batches. Then the interval is too
    /// narrow: use a longer series, or fewer batches.
    pub correlated: bool,
}

/// Divides a series, its warm-up removed, into `batches` of equal size and treats their means as
/// independent.
///
/// 10 to 30 batches suffice for any length (Schmeiser, Batch size effects in the analysis of
/// simulation output, Operations Research 30, 1982). Whether the batches are long enough is checked
/// as Fishman proposed (Grouping observations in digital simulation, Management Science 24, 1978):
/// for b independent normal batches [`lag1`](BatchMeans::lag1) is about normal with mean 0 and
/// variance (b - 2) / (b^2 - 1).
pub fn batch_means(series: &[f64], batches: usize, level: f64) -> Result<BatchMeans> {
    check_level(level)?;
    check_series(series)?;
    if batches < 8 {
        return Err(AnalysisError::Setting {
            what: "the number of batches",
            value: batches.to_string(),
            remedy: "choose 10 to 30; below 8 their correlation cannot be judged",
        });
    }
    if series.len() < batches {
        return Err(AnalysisError::ShortSeries { method: "batch means", needed: batches, got: series.len() });
    }
    let batch_size = series.len() / batches;
    let left_out = series.len() % batches;
    let means: Vec<f64> = series[left_out..].chunks_exact(batch_size).map(mean).collect();
    let Moments { count, mean: Some(mean), variance: Some(variance) } = compensated(&means) else {
        unreachable!("there are batches")
    };
    let (lag1, correlated) = lag1(&means);
    Ok(BatchMeans {
        batches,
        batch_size,
        left_out,
        mean,
        interval: interval(mean, variance, count, level),
        lag1,
        correlated,
    })
}

/// The correlation of neighbours, by von Neumann's ratio, and whether it exceeds the 95 % quantile
/// for independent values. 0 for equal values.
pub(super) fn lag1(values: &[f64]) -> (f64, bool) {
    const NORMAL_95: f64 = 1.644_853_626_951_472_7;
    let Moments { count, mean: Some(mean), .. } = compensated(values) else { return (0.0, false) };
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let steps: f64 = values.windows(2).map(|pair| (pair[1] - pair[0]).powi(2)).sum();
    let lag1 = if squares > 0.0 { 1.0 - steps / (2.0 * squares) } else { 0.0 };
    #[allow(clippy::cast_precision_loss, reason = "a count")]
    let b = count as f64;
    (lag1, lag1 > NORMAL_95 * ((b - 2.0) / (b * b - 1.0)).sqrt())
}

fn mean(batch: &[f64]) -> f64 {
    compensated(batch).mean.expect("a batch is not empty")
}

fn check_series(series: &[f64]) -> Result<()> {
    match series.iter().position(|value| !value.is_finite()) {
        Some(index) => Err(AnalysisError::SeriesValue { index, value: series[index] }),
        None => Ok(()),
    }
}
