//! Families of distributions and their most likely parameters.

use statrs::function::beta::ln_beta;
use statrs::function::gamma::{digamma, ln_gamma};

use crate::facility::Distribution;

/// Times in increasing order, and sums of them.
pub(super) struct Sample {
    pub(super) values: Vec<f64>,
    /// Mean, mean of squares and mean of logarithms.
    means: [f64; 3],
}

impl Sample {
    pub(super) fn of(mut values: Vec<f64>) -> Self {
        values.sort_unstable_by(f64::total_cmp);
        let count = values.len() as f64;
        let mean = |of: fn(f64) -> f64| values.iter().map(|&value| of(value)).sum::<f64>() / count;
        let means = [mean(|x| x), mean(|x| x * x), mean(f64::ln)];
        Self { values, means }
    }

    pub(super) fn scaled(&self, by: f64) -> Self {
        Self::of(self.values.iter().map(|value| value * by).collect())
    }

    pub(super) fn count(&self) -> f64 {
        self.values.len() as f64
    }

    pub(super) fn mean(&self) -> f64 {
        self.means[0]
    }

    pub(super) fn least(&self) -> f64 {
        self.values[0]
    }

    pub(super) fn most(&self) -> f64 {
        self.values[self.values.len() - 1]
    }

    fn variance(&self) -> f64 {
        self.mean_of(|x| (x - self.mean()).powi(2))
    }

    fn mean_of(&self, of: impl Fn(f64) -> f64) -> f64 {
        self.values.iter().map(|&value| of(value)).sum::<f64>() / self.count()
    }
}

/// A family.
pub(super) struct Family {
    pub(super) name: &'static str,
    pub(super) parameters: u32,
    /// Whether a multiple of a time of it is one, too.
    pub(super) scales: bool,
    /// The most likely distribution, if the family can have these times.
    pub(super) fit: fn(&Sample) -> Option<Distribution>,
    pub(super) log_likelihood: fn(&Distribution, &Sample) -> f64,
    /// The distribution of a multiple of a time.
    pub(super) scaled: fn(&Distribution, f64) -> Distribution,
}

/// Rows: a name, the number of parameters, whether it scales, the fit, then a pattern of the
/// distribution with its logarithm of the density at `x`, and the distribution of a multiple.
macro_rules! families {
    ($($name:literal $parameters:literal $scales:literal: $fit:expr,
        $pattern:pat => |$x:ident| $density:expr, |$by:ident| $scaled:expr;)*) => {
        pub(super) const FAMILIES: &[Family] = &[$(Family {
            name: $name,
            parameters: $parameters,
            scales: $scales,
            fit: $fit,
            log_likelihood: |law, sample| match *law {
                $pattern => sample.values.iter().map(|&$x| $density).sum(),
                _ => f64::NAN,
            },
            #[allow(unused_variables, reason = "a row takes the parameters that it needs")]
            scaled: |law, $by| match *law {
                $pattern => $scaled,
                other => other,
            },
        }),*];
    };
}

/// ln(2 π) / 2.
const HALF_LN_TAU: f64 = 0.918_938_533_204_672_7;
/// Bounds of shapes.
const SHAPES: [f64; 2] = [0.1, 1000.0];
const MEANS: [f64; 2] = [1.01, 1000.0];

families! {
    "exponential" 1 true: |sample| Some(Distribution::Exponential(sample.mean())),
        Distribution::Exponential(mean) => |x| -mean.ln() - x / mean,
        |by| Distribution::Exponential(by * mean);
    "uniform" 2 true: uniform,
        Distribution::Uniform([low, high]) => |x| -(high - low).ln() + 0.0 * x,
        |by| Distribution::Uniform([by * low, by * high]);
    "gamma" 2 true: |sample| {
            let shape = gamma_shape(sample)?;
            Some(Distribution::Gamma { shape, scale: sample.mean() / shape })
        },
        Distribution::Gamma { shape, scale } => |x| gamma_density(x, shape, scale),
        |by| Distribution::Gamma { shape, scale: by * scale };
    "erlang" 2 true: erlang,
        Distribution::Erlang { stages, mean } => |x| {
            gamma_density(x, f64::from(stages), mean / f64::from(stages))
        },
        |by| Distribution::Erlang { stages, mean: by * mean };
    "hyperexponential" 3 true: hyperexponential,
        Distribution::Hyperexponential { probability, first, second } => |x| {
            let [a, b] = phases(x, probability, first, second);
            (a + b).ln()
        },
        |by| Distribution::Hyperexponential { probability, first: by * first, second: by * second };
    "normal" 2 true: |sample| Some(Distribution::Normal {
            mean: sample.mean(),
            deviation: sample.variance().sqrt(),
        }),
        Distribution::Normal { mean, deviation } => |x| {
            -0.5 * ((x - mean) / deviation).powi(2) - deviation.ln() - HALF_LN_TAU
        },
        |by| Distribution::Normal { mean: by * mean, deviation: by * deviation };
    "lognormal" 2 true: |sample| {
            let mean = sample.means[2];
            let variance = sample.mean_of(|x| (x.ln() - mean).powi(2));
            let of_times = (mean + 0.5 * variance).exp();
            Some(Distribution::Lognormal { mean: of_times, deviation: of_times * variance.exp_m1().sqrt() })
        },
        Distribution::Lognormal { mean, deviation } => |x| {
            let variance = (deviation / mean).powi(2).ln_1p();
            let z = (x.ln() - mean.ln() + 0.5 * variance).powi(2) / variance;
            -0.5 * z - x.ln() - 0.5 * variance.ln() - HALF_LN_TAU
        },
        |by| Distribution::Lognormal { mean: by * mean, deviation: by * deviation };
    "weibull" 2 true: weibull,
        Distribution::Weibull { scale, shape } => |x| {
            let z = (x / scale).ln();
            (shape / scale).ln() + (shape - 1.0) * z - (shape * z).exp()
        },
        |by| Distribution::Weibull { scale: by * scale, shape };
    "loglogistic" 2 true: loglogistic,
        Distribution::LogLogistic { shape, scale } => |x| loglogistic_density(x.ln(), scale.ln(), shape),
        |by| Distribution::LogLogistic { shape, scale: by * scale };
    "pareto" 2 true: |sample| {
            let shape = 1.0 / (sample.means[2] - sample.least().ln());
            within(shape, MEANS).then_some(Distribution::Pareto { shape, scale: sample.least() })
        },
        Distribution::Pareto { shape, scale } => |x| {
            shape.ln() + shape * scale.ln() - (shape + 1.0) * x.ln()
        },
        |by| Distribution::Pareto { shape, scale: by * scale };
    "beta" 2 false: beta,
        Distribution::Beta { alpha, beta, .. } => |x| {
            (alpha - 1.0) * x.ln() + (beta - 1.0) * (-x).ln_1p() - ln_beta(alpha, beta)
        },
        |by| Distribution::Beta { alpha, beta, low: 0.0, high: by };
}

fn within(value: f64, [low, high]: [f64; 2]) -> bool {
    (low..=high).contains(&value)
}

/// Where a falling function is 0, between bounds of one sign; `None` outside.
fn root([mut low, mut high]: [f64; 2], of: impl Fn(f64) -> f64) -> Option<f64> {
    if !(of(low) > 0.0 && of(high) < 0.0) {
        return None;
    }
    for _ in 0..100 {
        // Shapes differ by factors.
        let middle = (low * high).sqrt();
        if of(middle) > 0.0 {
            low = middle
        } else {
            high = middle
        }
        if high / low < 1.0 + 1e-13 {
            break;
        }
    }
    Some((low * high).sqrt())
}

/// Beyond the extremes by their mean distance, which makes the ends unbiased.
fn uniform(sample: &Sample) -> Option<Distribution> {
    let beyond = (sample.most() - sample.least()) / (sample.count() - 1.0);
    Some(Distribution::Uniform([(sample.least() - beyond).max(0.0), sample.most() + beyond]))
}

fn gamma_density(x: f64, shape: f64, scale: f64) -> f64 {
    (shape - 1.0) * x.ln() - x / scale - shape * scale.ln() - ln_gamma(shape)
}

fn gamma_shape(sample: &Sample) -> Option<f64> {
    let distance = sample.mean().ln() - sample.means[2];
    root(SHAPES, |shape| shape.ln() - digamma(shape) - distance)
}

/// The better of the two whole shapes beside that of a gamma distribution.
fn erlang(sample: &Sample) -> Option<Distribution> {
    let shape = gamma_shape(sample)?;
    let likelihood = |shape: f64| {
        let scale = sample.mean() / shape;
        (shape - 1.0) * sample.means[2] - shape - shape * scale.ln() - ln_gamma(shape)
    };
    let [low, high] = [shape.floor().max(1.0), shape.ceil()];
    let best = if likelihood(low) >= likelihood(high) { low } else { high };
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a shape of 1 to 100")]
    (best <= 100.0).then(|| Distribution::Erlang { stages: best as u32, mean: sample.mean() })
}

/// The densities of the two phases at a time.
fn phases(x: f64, probability: f64, first: f64, second: f64) -> [f64; 2] {
    [probability / first * (-x / first).exp(), (1.0 - probability) / second * (-x / second).exp()]
}

/// By expectation and maximisation, for times that vary more than exponential ones.
fn hyperexponential(sample: &Sample) -> Option<Distribution> {
    let squared = sample.variance() / sample.mean().powi(2);
    if squared <= 1.0 {
        return None;
    }
    // Two phases with these two moments and balanced means.
    let share = 0.5 * (1.0 + ((squared - 1.0) / (squared + 1.0)).sqrt());
    let (mut probability, mut first, mut second) =
        (share, sample.mean() / (2.0 * share), sample.mean() / (2.0 * (1.0 - share)));
    for _ in 0..2000 {
        let (mut weight, mut time) = (0.0, 0.0);
        for &x in &sample.values {
            let [a, b] = phases(x, probability, first, second);
            weight += a / (a + b);
            time += x * a / (a + b);
        }
        let all = sample.count();
        let next = (weight / all, time / weight, (sample.mean() * all - time) / (all - weight));
        let change = (next.0 / probability - 1.0).abs() + (next.1 / first - 1.0).abs();
        (probability, first, second) = next;
        if !(first > 0.0 && second > 0.0) {
            return None;
        }
        if change < 1e-7 {
            break;
        }
    }
    Some(Distribution::Hyperexponential { probability, first, second })
}

fn weibull(sample: &Sample) -> Option<Distribution> {
    let power = |shape: f64| sample.mean_of(|x| x.powf(shape));
    let mean = sample.means[2];
    let slope = |shape: f64| {
        let weighted = sample.mean_of(|x| x.powf(shape) * x.ln());
        1.0 / shape + mean - weighted / power(shape)
    };
    // Powers of large shapes do not fit a number.
    let shape = root([0.3, 60.0], slope)?;
    Some(Distribution::Weibull { scale: power(shape).powf(1.0 / shape), shape })
}

fn loglogistic_density(log: f64, place: f64, shape: f64) -> f64 {
    // The density of a logistic variate is the same on both sides.
    let z = (shape * (log - place)).abs();
    shape.ln() - log - z - 2.0 * (-z).exp().ln_1p()
}

fn loglogistic(sample: &Sample) -> Option<Distribution> {
    let logs: Vec<f64> = sample.values.iter().map(|value| value.ln()).collect();
    let mean = sample.means[2];
    let variance = logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>() / sample.count();
    let start = [mean, (std::f64::consts::PI / (3.0 * variance).sqrt()).ln()];
    let [place, shape] = climb(start, |[place, shape]| {
        let shape = shape.exp();
        logs.iter().map(|&log| loglogistic_density(log, place, shape)).sum::<f64>() / sample.count()
    });
    let shape = shape.exp();
    within(shape, MEANS).then(|| Distribution::LogLogistic { shape, scale: place.exp() })
}

/// For times between 0 and 1.
fn beta(sample: &Sample) -> Option<Distribution> {
    if sample.most() >= 1.0 {
        return None;
    }
    let (mean, variance) = (sample.mean(), sample.variance());
    let sum = (mean * (1.0 - mean) / variance - 1.0).max(0.1);
    let logs = [sample.means[2], sample.mean_of(|x| (-x).ln_1p())];
    let start = [(mean * sum).ln(), ((1.0 - mean) * sum).ln()];
    let [alpha, beta] = climb(start, |shapes| {
        let [alpha, beta] = shapes.map(f64::exp);
        (alpha - 1.0) * logs[0] + (beta - 1.0) * logs[1] - ln_beta(alpha, beta)
    })
    .map(f64::exp);
    let fits = within(alpha, SHAPES) & within(beta, SHAPES);
    fits.then_some(Distribution::Beta { alpha, beta, low: 0.0, high: 1.0 })
}

/// The highest point of a smooth function of two numbers near a start, by Newton's method with
/// numerical derivatives and steps that never lead down.
fn climb(mut at: [f64; 2], of: impl Fn([f64; 2]) -> f64) -> [f64; 2] {
    const STEP: f64 = 1e-4;
    let mut height = of(at);
    for _ in 0..50 {
        let near = |dx: f64, dy: f64| of([at[0] + dx * STEP, at[1] + dy * STEP]);
        let [east, west, north, south] = [near(1.0, 0.0), near(-1.0, 0.0), near(0.0, 1.0), near(0.0, -1.0)];
        let slope = [(east - west) / (2.0 * STEP), (north - south) / (2.0 * STEP)];
        let bend =
            [east - 2.0 * height + west, north - 2.0 * height + south].map(|bend| bend / (STEP * STEP));
        let mixed =
            (near(1.0, 1.0) - near(1.0, -1.0) - near(-1.0, 1.0) + near(-1.0, -1.0)) / (4.0 * STEP * STEP);
        let determinant = bend[0] * bend[1] - mixed * mixed;
        let mut step = match determinant > 0.0 && bend[0] < 0.0 {
            true => [
                (mixed * slope[1] - bend[1] * slope[0]) / determinant,
                (mixed * slope[0] - bend[0] * slope[1]) / determinant,
            ],
            false => slope,
        };
        let mut moved = false;
        for _ in 0..40 {
            let next = [at[0] + step[0], at[1] + step[1]];
            let found = of(next);
            if found > height {
                (at, height, moved) = (next, found, true);
                break;
            }
            step = step.map(|step| step / 2.0);
        }
        if !moved || step.iter().all(|step| step.abs() < 1e-9) {
            break;
        }
    }
    at
}
