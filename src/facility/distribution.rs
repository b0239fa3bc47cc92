//! Distributions of times as a description names them.

use serde::{Deserialize, Serialize};

use super::error::no_time;
use super::scale::Scale;
use crate::random::{lognormal_spread, probability, weibull_power};
use crate::text::number;
use crate::time::{Resolution, Ticks};

/// A distribution of times, in the network's unit of time.
///
/// In a file, one of its names with its numbers: `{ exponential = 1.5 }`, `{ uniform = [1.0, 2.0] }`, `{ erlang = { stages = 3, mean = 2.0 } }`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
#[non_exhaustive]
pub enum Distribution {
    /// Always the same time.
    Constant(f64),
    /// Exponential, of this mean.
    Exponential(f64),
    /// Uniform between two times.
    Uniform([f64; 2]),
    /// The sum of `stages` exponential times of one mean; `mean` is that of the sum.
    Erlang {
        /// Stages, 1 to 100.
        stages: u32,
        /// Mean of their sum.
        mean: f64,
    },
    /// Exponential, with either of two means.
    Hyperexponential {
        /// Of the first mean.
        probability: f64,
        /// One mean.
        first: f64,
        /// The other.
        second: f64,
    },
    /// Triangular: the least, the most frequent and the greatest time.
    Triangular([f64; 3]),
    /// Normal, cut at zero: what would be negative is zero.
    Normal {
        /// Mean, before the cut.
        mean: f64,
        /// Standard deviation, before the cut.
        deviation: f64,
    },
    /// Lognormal, by the mean and the standard deviation of the time itself.
    Lognormal {
        /// Mean.
        mean: f64,
        /// Standard deviation.
        deviation: f64,
    },
    /// Weibull.
    Weibull {
        /// Scale, a time.
        scale: f64,
        /// Shape, 0.3 to 1000.
        shape: f64,
    },
}

/// The most stages of an Erlang distribution: each is a draw.
const MOST_STAGES: u32 = 100;

/// Mean and variance of a normal variate, zero where it would be negative.
fn cut_normal(mean: f64, deviation: f64) -> [f64; 2] {
    if deviation <= 0.0 {
        return [mean.max(0.0), 0.0];
    }
    let at = mean / deviation;
    let above = 0.5 * statrs::function::erf::erfc(-at / std::f64::consts::SQRT_2);
    let density = (-0.5 * at * at).exp() / std::f64::consts::TAU.sqrt();
    let first = mean * above + deviation * density;
    let second = (mean * mean + deviation * deviation) * above + mean * deviation * density;
    [first, second - first * first]
}

/// Ticks that times that are drawn last on average at the least, as they are rounded down to whole ones: half a tick in a thousandth.
const LEAST_MEAN: u64 = 500;

/// A time that is not zero, in whole ticks, if they say what was meant; or why not.
pub(super) fn whole(units: f64, scale: Scale) -> Result<Ticks, String> {
    scale.never(units).map_or_else(|| reached(units, scale.resolution), Ok)
}

/// The same of a time that runs reach.
fn reached(units: f64, resolution: Resolution) -> Result<Ticks, String> {
    match resolution.ticks(units).map_err(|error| no_time(&error))? {
        Ticks::ZERO => {
            let units = number(units);
            Err(format!("{units} is less than a tick; choose a longer time, or more ticks per unit"))
        }
        ticks if (resolution.units(ticks) / units - 1.0).abs() > 1e-3 => Err(format!(
            "{units} would be {ticks} in whole ticks, which is more than a thousandth off; choose more ticks per unit"
        )),
        ticks => Ok(ticks),
    }
}

impl Distribution {
    /// The mean, in the network's unit.
    pub fn mean(&self) -> f64 {
        match *self {
            Self::Constant(mean)
            | Self::Exponential(mean)
            | Self::Erlang { mean, .. }
            | Self::Lognormal { mean, .. } => mean,
            Self::Normal { mean, deviation } => cut_normal(mean, deviation)[0],
            Self::Uniform([low, high]) => f64::midpoint(low, high),
            Self::Hyperexponential { probability, first, second } => {
                probability * first + (1.0 - probability) * second
            }
            Self::Triangular([low, mode, high]) => (low + mode + high) / 3.0,
            Self::Weibull { scale, shape } => scale * statrs::function::gamma::gamma(1.0 + 1.0 / shape),
        }
    }

    /// The variance, in the network's unit squared.
    pub fn variance(&self) -> f64 {
        let mean = self.mean();
        match *self {
            Self::Constant(_) => 0.0,
            Self::Exponential(mean) => mean * mean,
            Self::Uniform([low, high]) => (high - low).powi(2) / 12.0,
            Self::Erlang { stages, mean } => mean * mean / f64::from(stages),
            Self::Hyperexponential { probability, first, second } => {
                2.0 * (probability * first * first + (1.0 - probability) * second * second) - mean * mean
            }
            Self::Triangular([a, b, c]) => (a * a + b * b + c * c - a * b - a * c - b * c) / 18.0,
            Self::Normal { mean, deviation } => cut_normal(mean, deviation)[1],
            Self::Lognormal { deviation, .. } => deviation * deviation,
            Self::Weibull { scale, shape } => {
                scale * scale * statrs::function::gamma::gamma(1.0 + 2.0 / shape) - mean * mean
            }
        }
    }

    /// The times that have to be many ticks long, so that what is drawn is right.
    pub(super) fn scales(&self) -> [Option<f64>; 2] {
        match *self {
            Self::Constant(time) | Self::Exponential(time) | Self::Weibull { scale: time, .. } => {
                [Some(time), None]
            }
            Self::Normal { mean, deviation } => [Some(mean), Some(deviation)],
            Self::Uniform([low, high]) | Self::Triangular([low, _, high]) => [Some(high - low), None],
            Self::Erlang { stages, mean } => [Some(mean / f64::from(stages.max(1))), None],
            Self::Hyperexponential { first, second, .. } => [Some(first), Some(second)],
            Self::Lognormal { mean, deviation } => {
                [Some(mean / (1.0 + (deviation / mean).powi(2)).sqrt()), None]
            }
        }
    }

    /// No time that is drawn by a law's words is shorter. Zero for laws that begin there, or nearly.
    pub(super) fn least(words: &[u32; 8]) -> Ticks {
        match words[0] {
            0 | 2 | 5 => Ticks::from_words([words[2], words[3]]),
            _ => Ticks::ZERO,
        }
    }

    /// Whether it is a time that runs do not reach.
    pub(super) fn is_never(&self, scale: Scale) -> bool {
        matches!(*self, Self::Constant(units) if scale.never(units).is_some())
    }

    /// The law as kernels read it, 8 words: kind, a number, three times. Or why there is none.
    pub(super) fn words(&self, scale: Scale) -> Result<[u32; 8], String> {
        let resolution = scale.resolution;
        let time = |units: f64| resolution.ticks(units).map_err(|error| no_time(&error));
        let positive = |units: f64| reached(units, resolution);
        let drawn = |units: f64| match positive(units)? {
            ticks if ticks.get() < LEAST_MEAN => Err(format!(
                "{units} is a mean of {} ticks, and what is drawn is rounded down to whole ones; choose more ticks per unit, so that it is {LEAST_MEAN} or more",
                ticks.get()
            )),
            ticks => Ok(ticks),
        };
        let zero = Ticks::ZERO;
        let (kind, number, times) = match *self {
            Self::Constant(value) => (0, 0, [whole(value, scale)?, zero, zero]),
            Self::Exponential(mean) => (1, 0, [drawn(mean)?, zero, zero]),
            Self::Uniform([low, high]) => {
                let times = [time(low)?, positive(high)?, zero];
                if times[0] >= times[1] {
                    return Err(format!(
                        "it is uniform between {low} and {high}; the second has to be the later"
                    ));
                }
                drawn(high - low)?;
                (2, 0, times)
            }
            Self::Erlang { stages, mean } => {
                if !(1..=MOST_STAGES).contains(&stages) {
                    return Err(format!("it has {stages} stages; 1 to {MOST_STAGES} can be drawn"));
                }
                (3, stages, [drawn(mean / f64::from(stages))?, zero, zero])
            }
            Self::Hyperexponential { probability: share, first, second } => {
                let share = probability(share).map_err(|error| error.to_string())?;
                (4, share, [drawn(first)?, drawn(second)?, zero])
            }
            Self::Triangular([low, mode, high]) => {
                let times = [time(low)?, time(mode)?, positive(high)?];
                if !times.is_sorted() {
                    return Err(format!(
                        "it is triangular over {low}, {mode} and {high}; they have to be in order"
                    ));
                }
                drawn(high - low)?;
                (5, 0, times)
            }
            Self::Normal { mean, deviation } => (6, 0, [drawn(mean)?, time(deviation)?, zero]),
            Self::Lognormal { mean, deviation } => {
                positive(mean)?;
                time(deviation)?;
                let squared = 1.0 + (deviation / mean).powi(2);
                let spread = lognormal_spread(squared.ln().sqrt()).map_err(|error| error.to_string())?;
                (7, spread, [drawn(mean / squared.sqrt())?, zero, zero])
            }
            Self::Weibull { scale, shape } => {
                let power = weibull_power(shape).map_err(|error| error.to_string())?;
                (8, power, [drawn(scale)?, zero, zero])
            }
        };
        let [a, b, c] = times.map(Ticks::to_words);
        Ok([kind, number, a[0], a[1], b[0], b[1], c[0], c[1]])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Stream;

    /// Moments against variates: those of `facility::model::variate`.
    #[test]
    fn means_and_variances_are_those_of_the_variates() {
        let resolution = Resolution::default();
        for law in [
            Distribution::Constant(2.0),
            Distribution::Exponential(2.0),
            Distribution::Uniform([1.0, 4.0]),
            Distribution::Erlang { stages: 3, mean: 2.0 },
            Distribution::Hyperexponential { probability: 0.25, first: 4.0, second: 1.0 },
            Distribution::Triangular([1.0, 2.0, 5.0]),
            Distribution::Normal { mean: 7.0, deviation: 1.0 },
            Distribution::Normal { mean: 1.0, deviation: 1.0 },
            Distribution::Normal { mean: 1.0, deviation: 3.0 },
            Distribution::Lognormal { mean: 2.0, deviation: 1.0 },
            Distribution::Weibull { scale: 2.0, shape: 1.5 },
        ] {
            let words = law.words(Scale::new(resolution, None)).unwrap();
            let n = 200_000_u32;
            let (mut sum, mut squares) = (0.0, 0.0);
            for index in 0..n {
                let time = super::super::model::variate(&mut Stream::new(5, 1, index.into()), &words);
                let value = resolution.units(time);
                sum += value;
                squares += value * value;
            }
            let mean = sum / f64::from(n);
            let variance = squares / f64::from(n) - mean * mean;
            assert!((mean / law.mean() - 1.0).abs() < 0.01, "{law:?}: {mean} {}", law.mean());
            let expected = law.variance();
            assert!((variance - expected).abs() <= 0.03 * expected + 1e-9, "{law:?}: {variance} {expected}");
        }
    }

    #[test]
    fn laws_that_cannot_be_drawn_are_refused() {
        for law in [
            Distribution::Constant(0.0),
            Distribution::Exponential(-1.0),
            Distribution::Exponential(f64::NAN),
            Distribution::Uniform([2.0, 1.0]),
            Distribution::Erlang { stages: 0, mean: 1.0 },
            Distribution::Hyperexponential { probability: 1.5, first: 1.0, second: 1.0 },
            Distribution::Triangular([3.0, 2.0, 5.0]),
            Distribution::Normal { mean: 1.0, deviation: -1.0 },
            Distribution::Lognormal { mean: 0.0, deviation: 1.0 },
            Distribution::Weibull { scale: 1.0, shape: 0.1 },
            Distribution::Constant(1e300),
            Distribution::Exponential(1e-5),
            Distribution::Constant(1.4e-6),
            Distribution::Erlang { stages: 100, mean: 0.01 },
            Distribution::Uniform([1.0, 1.0001]),
        ] {
            assert!(law.words(Scale::new(Resolution::default(), None)).is_err(), "{law:?}");
        }
    }
}
